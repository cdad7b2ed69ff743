from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QSizeF
from PySide6.QtGui import QFont, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from core.text.tokens import Token, TokenKind
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.marks import Marks, draw_marks
from transformer_viz.drawing.matrix import (
    LARGEST_CELL,
    MatrixPicture,
    Style,
    cell_at,
    fit_matrix,
    matrix_image,
    paint_matrix,
    picture_axes,
)
from transformer_viz.drawing.pooling import Pyramid
from transformer_viz.drawing.scales import legend
from transformer_viz.drawing.share_bars import bar_rect
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.state.options import ColorMap, Scale

TABLE = lookup_table(ColorMap.PAPER, LIGHT)
SIZE = QSizeF(600, 500)


def picture(rows: int, columns: int) -> MatrixPicture:
    """All cells weight 0 but the one in row 1, column 2."""
    codes = np.ones((rows, columns), np.uint8)
    codes[1 % rows, 2 % columns] = 255
    return MatrixPicture(
        pyramid=Pyramid(codes),
        rows=tuple(Token(f"▁row{i}") for i in range(rows)),
        columns=tuple(Token(f"▁key{i}") for i in range(columns)),
        row_numbers=tuple(range(1, rows + 1)),
        column_numbers=tuple(range(1, columns + 1)),
        predicted=(),
        masked=False,
        legend=legend(Scale.ABSOLUTE, 1.0),
    )


@pytest.fixture
def style(qapp) -> Style:
    return Style(LIGHT, TABLE, QFont())


@pytest.mark.parametrize(("rows", "columns"), [(12, 300), (300, 12)])
def test_a_long_strip_opens_at_its_beginning_with_labels_that_can_be_read(
    style: Style, rows: int, columns: int
) -> None:
    whole = fit_matrix(picture(rows, columns), SIZE, style.font, 1.0)
    assert whole.cell < 2
    opened = whole.opened(17)
    assert opened.cell == pytest.approx(17)
    assert (opened.left, opened.top) == (whole.left, whole.top)
    last = opened.revealing(rows - 1, columns - 1)
    assert last.area.adjusted(-1, -1, 1, 1).contains(last.cell_rect(rows - 1, columns - 1))
    assert whole.revealing(rows - 1, columns - 1) == whole


@pytest.mark.parametrize(("rows", "columns"), [(12, 15), (300, 300), (200, 300), (20, 36)])
def test_other_maps_open_as_a_whole(style: Style, rows: int, columns: int) -> None:
    whole = fit_matrix(picture(rows, columns), SIZE, style.font, 1.0)
    assert whole.opened(17) == whole


def test_the_short_side_of_a_strip_fits(style: Style) -> None:
    whole = fit_matrix(picture(60, 600), SIZE, style.font, 1.0)
    opened = whole.opened(17)
    assert 60 * opened.cell == pytest.approx(whole.area.height())


def paint(shown: MatrixPicture, style: Style, marks: Marks | None = None) -> np.ndarray:
    image = QImage(SIZE.toSize(), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(LIGHT.color("paper"))
    layout = fit_matrix(shown, SIZE, style.font, 1.0)
    with QPainter(image) as painter:
        cells = matrix_image(shown, layout, style, 1.0)
        paint_matrix(painter, layout, shown, style, cells, SIZE.height())
        if marks is not None:
            draw_marks(painter, layout, marks, LIGHT)
    return to_array(image)


def different(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a != b).any(axis=2)


counts = st.integers(1, 300)
points = st.builds(QPointF, st.floats(60, 500), st.floats(60, 480))


@given(counts, counts)
def test_the_whole_map_fits_with_square_cells(qapp, rows: int, columns: int) -> None:
    layout = fit_matrix(picture(rows, columns), SIZE, QFont(), 1.0)
    matrix = layout.matrix
    assert layout.fitted
    assert matrix.width() == pytest.approx(columns * layout.cell)
    assert matrix.height() == pytest.approx(rows * layout.cell)
    assert matrix.right() <= layout.area.right() + 1e-6
    assert matrix.bottom() <= layout.area.bottom() + 1e-6


@given(counts, counts, st.floats(0.01, 50), points, st.floats(-900, 900), st.floats(-900, 900))
def test_zoom_and_pan_leave_no_gap(
    qapp, rows: int, columns: int, factor: float, at: QPointF, dx: float, dy: float
) -> None:
    fitted = fit_matrix(picture(rows, columns), SIZE, QFont(), 1.0)
    layout = fitted.zoomed(factor, at).panned(dx, dy)
    assert fitted.cell <= layout.cell <= max(LARGEST_CELL, fitted.cell)
    for start, first, end, count in (
        (layout.area.left(), layout.left, layout.area.right(), columns),
        (layout.area.top(), layout.top, layout.area.bottom(), rows),
    ):
        assert first <= start + 1e-6
        covers = first + count * layout.cell >= end - 1e-6
        assert covers or first == pytest.approx(start)


@given(st.floats(1.0, 20), st.floats(0, 1), st.floats(0, 1))
def test_zoom_keeps_the_row_under_the_pointer(
    qapp, factor: float, across: float, down: float
) -> None:
    fitted = fit_matrix(picture(200, 50), SIZE, QFont(), 1.0)  # as high as its area
    within = fitted.matrix
    at = QPointF(within.left() + across * within.width(), within.top() + down * within.height())
    zoomed = fitted.zoomed(factor, at)
    row, before = ((at.y() - layout.top) / layout.cell for layout in (zoomed, fitted))
    assert row == pytest.approx(before, abs=1e-6)


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_the_cell_at_the_middle_of_a_cell_is_that_cell(
    qapp, rows: int, columns: int, data: st.DataObject
) -> None:
    shown = picture(rows, columns)
    layout = fit_matrix(shown, SIZE, QFont(), 1.0)
    cell = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    assert cell_at(shown, layout, layout.cell_rect(*cell).center(), QFont()) == cell


def test_cells_are_painted_where_the_layout_says(style: Style) -> None:
    shown = picture(4, 5)
    layout = fit_matrix(shown, SIZE, style.font, 1.0)
    pixels = paint(shown, style)
    for row in range(4):
        for column in range(5):
            middle = layout.cell_rect(row, column).center().toPoint()
            expected = TABLE[255 if (row, column) == (1, 2) else 1]
            assert (pixels[middle.y(), middle.x()] == expected).all()


def test_a_pooled_map_is_drawn_over_the_same_cells(style: Style) -> None:
    codes = np.ones((8, 8), np.uint8)
    codes[5, 2] = 255
    pooled = codes.reshape(4, 2, 4, 2).max(axis=(1, 3))
    shown = replace(picture(8, 8), pyramid=Pyramid(pooled))
    layout = fit_matrix(shown, SIZE, style.font, 1.0)
    middle = layout.cell_rect(5, 2).center().toPoint()
    assert (paint(shown, style)[middle.y(), middle.x()] == TABLE[255]).all()


def test_hidden_weights_stand_at_the_ends_of_their_rows(style: Style) -> None:
    few, many = (
        replace(picture(4, 4), hidden=np.array([0.25, value, 0.5, 0.75])) for value in (0.11, 0.88)
    )
    layout = fit_matrix(few, SIZE, style.font, 1.0)
    y, x = np.nonzero(different(paint(few, style), paint(many, style)))
    row = layout.cell_rect(1, 0)
    assert len(y) > 0
    assert (y >= row.top()).all()
    assert (y <= row.bottom()).all()
    assert (x > layout.matrix.right()).all()


def test_the_share_of_the_source_fills_a_bar_at_the_end_of_its_row(style: Style) -> None:
    shown = replace(picture(4, 4), source=np.array([0.0, 0.25, 0.75, 1.0]))
    layout = fit_matrix(shown, SIZE, style.font, 1.0)
    pixels, rows = paint(shown, style), picture_axes(shown, layout)[0]
    accent, chip = (np.array(LIGHT.color(name).getRgb()) for name in ("accent", "chip"))
    for row, share in enumerate(shown.source):
        bar = bar_rect(rows, layout.matrix.right(), row).toAlignedRect().adjusted(1, 1, -1, -1)
        line = pixels[bar.center().y(), bar.left() : bar.right()]
        filled = (line == accent).all(axis=-1)
        assert abs(filled.mean() - share) < 0.05
        assert (filled[:-1] >= filled[1:]).all(), "from the left end on"
        edge = (line[~filled] == chip).all(axis=-1)
        assert (~edge).sum() <= 1
        assert cell_at(shown, layout, QPointF(bar.center()), style.font) == (row, None)


def test_entries_keep_the_numbers_of_their_tokens(style: Style) -> None:
    plain, numbered = picture(3, 3), replace(picture(3, 3), column_numbers=(1, 2, 7))
    x = np.nonzero(different(paint(plain, style), paint(numbered, style)))[1]
    column = fit_matrix(plain, SIZE, style.font, 1.0).cell_rect(0, 2)
    assert len(x) > 0
    assert (x >= column.left()).all()
    assert (x <= column.right()).all()


def test_a_vector_file_has_its_labels_as_text(style: Style) -> None:
    special = Token("</s>", 3, TokenKind.SPECIAL)
    shown = replace(picture(2, 3), rows=(Token("▁Straße"), special))
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(SIZE.toSize())
    layout = fit_matrix(shown, SIZE, style.font, 1.0)
    with QPainter(generator) as painter:
        cells = matrix_image(shown, layout, style, 4.0)
        paint_matrix(painter, layout, shown, style, cells, SIZE.height())
    svg = bytes(data.data()).decode()
    for text in ("Straße", "&lt;/s&gt;", "key1", "absolute 0–1"):
        assert text in svg


def marked(style: Style, marks: Marks) -> Callable[[int, int], bool]:
    """Whether a cell's edge is marked."""
    shown = picture(6, 6)
    layout = fit_matrix(shown, SIZE, style.font, 1.0)
    changed = different(paint(shown, style, marks), paint(shown, style))

    def at(row: int, column: int) -> bool:
        top = layout.cell_rect(row, column).toRect()
        return bool(changed[top.top(), top.left() + 8 : top.right() - 8].all())

    return at


def test_every_pin_is_framed_and_the_current_one_has_cross_hairs(style: Style) -> None:
    at = marked(style, Marks(pins=((0, 1), (4, 4), (2, 3))))
    assert at(0, 1)
    assert at(4, 4)
    assert at(2, 3)
    assert at(2, 0), "the row of the current pin"
    assert not at(4, 0)
    assert not at(0, 5)


def test_the_focus_has_cross_hairs(style: Style) -> None:
    at = marked(style, Marks(focus=(3, 1)))
    assert at(3, 5)
    assert not at(5, 5)


def test_nothing_marked_is_nothing_drawn(style: Style) -> None:
    shown = picture(3, 3)
    assert not different(paint(shown, style, Marks()), paint(shown, style)).any()
