from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QSizeF
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from tests.transformer_viz.conftest import SOURCE, TARGET, tokens
from transformer_viz.drawing.cubics import sampled
from transformer_viz.links.link_choice import Links, choose_links
from transformer_viz.links.link_curves import curves
from transformer_viz.links.link_layout import LinkLayout, lay_out
from transformer_viz.state.options import LinksForm

COLUMNS, ROWS, ARCS = LinksForm
VIEW = QSizeF(800, 600)


@pytest.fixture
def font(qapp: QApplication) -> QFont:
    return qapp.font()


def laid_out(
    form: LinksForm,
    font: QFont,
    queries: str = SOURCE,
    keys: str = SOURCE,
    *,
    view: QSizeF = VIEW,
    series: int = 1,
    ahead: bool = True,
) -> LinkLayout:
    return lay_out(
        form, tokens(queries), tokens(keys), (), font=font, view=view, series=series, ahead=ahead
    )


def every_link(queries: int, keys: int, series: int = 0) -> Links:
    weights = np.full((queries, keys), 1 / keys, np.float32)
    return choose_links(weights, np.ones_like(weights, np.bool_), share=1.0, series=series)


@pytest.mark.parametrize("form", LinksForm)
@pytest.mark.parametrize("view", [VIEW, QSizeF(300, 200), QSizeF(3000, 1800)])
def test_everything_lies_in_the_picture_and_tokens_do_not_overlap(
    form: LinksForm, view: QSizeF, font: QFont
) -> None:
    layout = laid_out(form, font, SOURCE, SOURCE if form is ARCS else TARGET, view=view, series=3)
    size = layout.size
    assert size.width() >= view.width()
    assert size.height() >= view.height()
    for track in (layout.queries, layout.keys):
        boxes = [layout.label_rect(track, index) for index in range(len(track.starts))]
        for box in boxes:
            assert 0 <= box.left() <= box.right() <= size.width()
            assert 0 <= box.top() <= box.bottom() <= size.height()
        for before, after in pairwise(boxes):
            assert not before.adjusted(0, 0, -0.01, -0.01).intersects(after)
    points = sampled(curves(layout, every_link(9, 9), 3), 25).reshape(-1, 2)
    assert (points.min(axis=0) >= 0).all()
    assert (points.max(axis=0) <= [size.width(), size.height()]).all()


@pytest.mark.parametrize("form", LinksForm)
def test_a_link_leads_from_its_query_to_its_key(form: LinksForm, font: QFont) -> None:
    layout = laid_out(form, font)
    links = every_link(9, 9)
    points = curves(layout, links, 1)
    along = 1 if layout.vertical else 0
    apart = links.query != links.key
    assert points[apart, 0, along] == pytest.approx(layout.queries.middles[links.query[apart]])
    assert points[apart, 3, along] == pytest.approx(layout.keys.middles[links.key[apart]])


@pytest.mark.parametrize("form", [COLUMNS, ROWS])
def test_links_run_straight_between_the_labels(form: LinksForm, font: QFont) -> None:
    layout = laid_out(form, font, SOURCE, TARGET)
    points = curves(layout, every_link(9, 11), 1)
    across = 0 if layout.vertical else 1
    assert set(points[:, 0, across].tolist()) == {layout.edges[0]}
    assert set(points[:, 3, across].tolist()) == {layout.edges[1]}
    assert layout.queries.band[1] < layout.edges[0] < layout.edges[1] < layout.keys.band[0]
    third = points[:, 0] + (points[:, 3] - points[:, 0]) / 3
    assert points[:, 1] == pytest.approx(third)


def test_arcs_back_rise_and_arcs_ahead_hang_the_longer_the_farther(font: QFont) -> None:
    layout = laid_out(ARCS, font)
    links = every_link(9, 9)
    points = curves(layout, links, 1)
    rise = points[:, 0, 1] - points[:, 1, 1]
    back = links.key <= links.query
    assert (rise[back] > 0).all()
    assert (rise[~back] < 0).all()
    span = np.abs(links.query - links.key)
    height = np.abs(rise) * 3 / 4  # of the cubic, at its middle
    assert height[span == 8] == pytest.approx(layout.lift)
    order = np.argsort(span, kind="stable")
    assert (np.diff(height[order])[np.diff(span[order]) > 0] > 0).all()


def test_a_text_that_only_looks_back_has_the_whole_height_for_it(font: QFont) -> None:
    wide = QSizeF(1600, 300)
    both = laid_out(ARCS, font, view=wide)
    back = laid_out(ARCS, font, view=wide, ahead=False)
    assert back.lift > 1.5 * both.lift


@pytest.mark.parametrize("form", LinksForm)
def test_the_links_of_several_heads_lie_beside_each_other_at_their_token(
    form: LinksForm, font: QFont
) -> None:
    layout = laid_out(form, font, series=4)
    along = 1 if layout.vertical else 0
    track = layout.queries
    ends = []
    for series in range(4):
        links = every_link(9, 9, series)
        points = curves(layout, links, 4)
        looks = np.flatnonzero((links.query == 6) & (links.key == 1))[0]
        ends.append(points[looks][[0, 3], along])
    starts, stops = np.transpose(ends)
    lane = np.diff(starts)
    assert lane == pytest.approx(np.full(3, lane[0]))
    assert lane[0] > 1
    assert track.starts[6] <= starts.min() <= starts.max() <= track.starts[6] + track.lengths[6]
    inside = -1 if form is ARCS else 1  # arcs lie inside each other
    assert (inside * np.diff(stops) > 1).all()


@pytest.mark.parametrize("form", LinksForm)
def test_a_position_along_the_text_finds_its_token(form: LinksForm, font: QFont) -> None:
    track = laid_out(form, font).queries
    for index, middle in enumerate(track.middles):
        assert track.at(middle) == index
        assert index in track.within(middle - 1, middle + 1)
    assert track.at(track.starts.min() - 1) is None
    assert track.at((track.starts + track.lengths).max() + 1) is None


def test_columns_of_a_long_text_are_scrolled_and_stay_readable(font: QFont) -> None:
    long = " ".join(["▁word"] * 500)
    layout = laid_out(COLUMNS, font, long, long)
    assert layout.size.height() > 500 * 12
    assert layout.size.width() == VIEW.width()
    assert len(layout.queries.within(1000, 1600)) < 60


@pytest.mark.parametrize("form", [ROWS, ARCS])
def test_rows_of_a_long_text_are_scrolled(form: LinksForm, font: QFont) -> None:
    long = " ".join(["▁word"] * 500)
    layout = laid_out(form, font, long, long)
    assert layout.size.width() > 500 * 20
    assert layout.size.height() == VIEW.height()


def test_pieces_of_a_word_stand_closer_than_words(font: QFont) -> None:
    track = laid_out(ROWS, font, "▁aa aa ▁aa ▁aa").queries
    gaps = np.diff(track.middles)
    assert gaps[0] < gaps[1] < gaps[2] + 0.01


@pytest.mark.parametrize("form", [ROWS, ARCS])
def test_a_script_written_from_the_right_runs_from_the_right(form: LinksForm, font: QFont) -> None:
    track = laid_out(form, font, "▁هذا ▁نص ▁عربي </s>", "▁هذا ▁نص ▁عربي </s>").queries
    assert (np.diff(track.middles) < 0).all()
    assert track.at(track.middles[2]) == 2


def test_one_token_has_a_place(font: QFont) -> None:
    for form in LinksForm:
        layout = laid_out(form, font, "</s>", "</s>")
        assert np.isfinite(curves(layout, every_link(1, 1), 1)).all()
