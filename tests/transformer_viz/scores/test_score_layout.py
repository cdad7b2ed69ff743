from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from transformer_viz.scores.score_layout import (
    NUMBERS,
    Column,
    ScoreLayout,
    full_height,
    lay_out_scores,
    line_height,
)

TITLES = {
    Column.SUM: ("sum", "q · k"),
    Column.SCORE: ("÷ √64", "score s"),
    Column.EXPONENTIAL: ("mask, exp", "e^(s − max)"),
    Column.WEIGHT: ("softmax", "w = e / Σ e"),
}
RECT = QRectF(0, 0, 690, 400)


def laid_out(
    lines: int = 16,
    *,
    rect: QRectF = RECT,
    widths: tuple[int, int] = (64, 64),
    scroll: float = 0.0,
) -> ScoreLayout:
    return lay_out_scores(
        rect, lines=lines, widths=widths, labels=90, titles=TITLES, font=QFont(), scroll=scroll
    )


@pytest.fixture(autouse=True)
def _application(qapp: QApplication) -> None:
    """Fonts need one."""


@pytest.mark.parametrize("widths", [(8, 8), (64, 64), (128, 128), (512, 512), (64, 3)])
def test_columns_stand_side_by_side_in_the_order_of_the_steps(widths: tuple[int, int]) -> None:
    layout = laid_out(widths=widths)
    spans = list(layout.spans.values())
    assert list(layout.spans) == list(Column)
    assert all(a[1] < b[0] for a, b in pairwise(spans))
    assert spans[0][0] >= RECT.left()
    assert spans[-1][1] <= RECT.right()


def test_64_dimensions_have_whole_pixels_in_a_window_of_1280() -> None:
    layout = laid_out(rect=QRectF(0, 0, 690, 370))
    for column in (Column.PRODUCTS, Column.VALUES):
        left, right = layout.spans[column]
        assert (right - left) % 64 == 0
        assert right - left >= 128


def test_the_bands_follow_each_other_and_end_inside() -> None:
    for lines in (1, 5, 4000):
        layout = laid_out(lines)
        bands = [layout.entropies, layout.header, layout.query, layout.body, layout.total]
        for above, below in zip(bands, [*bands[1:], layout.pair], strict=True):
            assert above.bottom() <= below.top()
        assert layout.pair.bottom() <= RECT.bottom()
        for strip in layout.strips.values():
            assert layout.pair.contains(strip)


def test_a_short_text_leaves_no_hole_above_its_sum() -> None:
    assert laid_out(3).body.height() == 3 * line_height(QFont())


def test_full_height_hides_no_line() -> None:
    layout = laid_out(30, rect=QRectF(0, 0, 690, full_height(30, QFont())))
    assert layout.visible() == range(30)
    assert layout.pair.bottom() == full_height(30, QFont())


@given(st.integers(1, 5000), st.floats(0, 1e6))
def test_only_lines_in_view_are_visible_whatever_the_scrolling(lines: int, scroll: float) -> None:
    layout = laid_out(lines, scroll=scroll)
    visible = layout.visible()
    assert 0 < len(visible) <= layout.body.height() / line_height(QFont()) + 2
    assert all(layout.line(position).intersects(layout.body) for position in visible)
    assert layout.line(visible[-1]).bottom() >= layout.body.bottom() - 1e-6


@given(st.integers(0, 39), st.floats(0, 600))
def test_a_line_is_found_where_it_is_drawn(position: int, scroll: float) -> None:
    layout = laid_out(40, scroll=scroll)
    point = layout.line(position).center()
    found = layout.position_at(point)
    assert found == (position if layout.body.contains(point) else None)


def test_a_dimension_is_found_in_every_strip_of_its_side() -> None:
    layout = laid_out(widths=(64, 32))
    keys = [rect for strip, rect in layout.strips.items() if strip in ("q", "k", "q ∘ k")]
    values = [rect for strip, rect in layout.strips.items() if strip in ("v", "w · v", "z")]
    keys += [layout.strip(Column.PRODUCTS, band) for band in (layout.query, layout.line(2))]
    values += [layout.strip(Column.VALUES, band) for band in (layout.line(2), layout.total)]
    for rect in keys:
        x = rect.left() + 10.5 / 64 * rect.width()
        assert layout.dimensions_at(QPointF(x, rect.center().y())) == (10, None)
    for rect in values:
        x = rect.left() + 10.5 / 32 * rect.width()
        assert layout.dimensions_at(QPointF(x, rect.center().y())) == (None, 10)
    number = layout.cell(NUMBERS[0], layout.line(2)).center()
    assert layout.dimensions_at(number) == (None, None)


def test_a_column_is_found_by_its_place() -> None:
    layout = laid_out()
    for column in Column:
        assert layout.column_at(layout.cell(column, layout.header).center().x()) is column
    assert layout.column_at(-5) is None
