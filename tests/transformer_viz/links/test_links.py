from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QHelpEvent, QImage, QPainter
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.answers import Answers, quantities_of
from tests.transformer_viz.conftest import SOURCE
from tests.transformer_viz.stage import texts
from transformer_viz.drawing.cubics import sampled
from transformer_viz.drawing.head_colors import head_color
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.links import links as links_module
from transformer_viz.links.link_choice import heaviest
from transformer_viz.links.link_scene import LinksScene
from transformer_viz.links.links import Links
from transformer_viz.state.options import Combine, LinksForm, Quantity
from transformer_viz.state.session import Phase, Session, Status

E, D, C = AttentionKind
COLUMNS, ROWS, ARCS = LinksForm
ALL = {"layer": 0, "head": 0, "others": ((0, 1), (0, 2))}


@pytest.fixture
def links(session: Session, show, qtbot: QtBot) -> Links:
    session.change_options(combine=Combine.SIDE_BY_SIDE)
    return settled(show(Links(session, quantities_of(session))), qtbot)


def settled(links: Links, qtbot: QtBot) -> Links:
    qtbot.waitUntil(lambda: links.canvas.complete)
    return links


def scene(links: Links) -> LinksScene:
    assert links.canvas.scene is not None
    return links.canvas.scene


def at_query(links: Links, index: int) -> QPoint:
    layout = scene(links).layout
    return shown(links, layout.label_rect(layout.queries, index).center())


def at_key(links: Links, index: int) -> QPoint:
    layout = scene(links).layout
    return shown(links, layout.label_rect(layout.keys, index).center())


def shown(links: Links, point: QPointF) -> QPoint:
    return point.toPoint() - links.canvas.offset()


def on_link(links: Links, query: int, key: int, part: float = 0.5) -> QPoint:
    found = scene(links).picture.links
    index = np.flatnonzero((found.query == query) & (found.key == key))[0]
    return shown(links, QPointF(*sampled(scene(links).curves[[index]], 101)[0, int(100 * part)]))


def move(qtbot: QtBot, links: Links, point: QPoint) -> None:
    qtbot.mouseMove(links.canvas.viewport(), point + QPoint(1, 1))
    qtbot.mouseMove(links.canvas.viewport(), point)


def click(
    qtbot: QtBot, links: Links, point: QPoint, modifiers=Qt.KeyboardModifier.NoModifier
) -> None:
    qtbot.mouseClick(links.canvas.viewport(), Qt.MouseButton.LeftButton, modifiers, point)


def press(qtbot: QtBot, links: Links, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(links.canvas, key)


def drawn_cells(links: Links) -> list[tuple[int, int]]:
    found = scene(links).picture.links
    return list(zip(found.query.tolist(), found.key.tolist(), strict=True))


def drawn(links: Links) -> set[tuple[int, int]]:
    return set(drawn_cells(links))


def pinned(session: Session) -> tuple[int | None, int | None]:
    return session.selection.query, session.selection.key


# What is drawn


def test_each_querys_heaviest_links_are_drawn(links: Links, trace: Trace) -> None:
    chosen = heaviest(trace.weights(E, 0, 0), 0.7)
    assert drawn(links) == set(zip(*map(np.ndarray.tolist, np.nonzero(chosen)), strict=True))
    count = int(chosen.sum())
    assert f"up to 70% of its weight: {count} of 81 links drawn" in (links.caption.text())


def test_other_heads_bring_other_links(session: Session, links: Links, trace: Trace) -> None:
    session.select(kind=C, layer=2, head=1)
    chosen = heaviest(trace.weights(C, 2, 1), 0.7)
    assert len(drawn(links)) == chosen.sum()
    assert scene(links).picture.predicted == trace.predicted_tokens


def test_masked_links_are_never_drawn(session: Session, links: Links) -> None:
    session.change_options(links_mass=1.0)
    session.select(kind=D)
    assert all(key <= query for query, key in drawn(links))
    assert "66 of 66 links drawn" in links.caption.text(), "11 queries, half a square"


def test_several_heads_are_laid_over_each_other_in_their_colours(
    session: Session, links: Links, pixels, qtbot: QtBot
) -> None:
    session.select(**ALL)
    settled(links, qtbot)
    picture = scene(links).picture
    assert picture.slots == (0, 1, 2)
    assert set(picture.links.series.tolist()) == {0, 1, 2}
    seen = pixels(links.canvas)[..., :3].astype(int)
    for slot in range(3):
        color = head_color(LIGHT, slot)
        near = np.abs(seen - [color.red(), color.green(), color.blue()]).max(axis=2)
        assert near.min() <= 24, "heavy links are nearly of the full colour"


def test_the_mean_of_several_heads_is_one_picture(
    session: Session, links: Links, trace: Trace
) -> None:
    session.select(**ALL)
    session.change_options(combine=Combine.MEAN)
    mean = trace.layer_weights(E, 0).mean(axis=0)
    assert len(drawn(links)) == len(scene(links).picture.links) == heaviest(mean, 0.7).sum()
    assert scene(links).picture.slots == ()


def test_threshold_and_distance_leave_links_out(session: Session, links: Links) -> None:
    before = drawn(links)
    session.change_options(links_distance=3, threshold=0.1)
    after = drawn(links)
    assert after < before
    assert all(abs(query - key) >= 3 for query, key in after)
    assert scene(links).picture.links.weight.min() >= np.float32(0.1)
    assert "none below 0.1, none shorter than 3 tokens" in links.caption.text()


def test_distance_means_nothing_between_two_texts(session: Session, links: Links) -> None:
    session.select(kind=C)
    before = drawn(links)
    session.change_options(links_distance=3)
    assert drawn(links) == before
    assert "shorter" not in links.caption.text()


def test_hidden_specials_have_no_links_and_their_weight_is_stated(
    session: Session, links: Links, trace: Trace
) -> None:
    session.change_options(hide_specials=True)
    assert len(scene(links).picture.keys) == 8
    on_end = trace.weights(E, 0, 0)[:8, 8].mean()
    assert f"Hidden special tokens hold {100 * on_end:.1f}% of the weight" in links.caption.text()


def test_pieces_become_words(session: Session, links: Links, qtbot: QtBot) -> None:
    session.select(kind=C)
    session.change_options(merge_words=True)
    assert [token.label for token in scene(links).picture.queries][3] == "schlief"
    click(qtbot, links, at_query(links, 3))
    assert pinned(session) == (4, None), "the last token of the word stands for it"
    assert links.canvas.pins == ((3, None),)


def test_only_specials_that_are_hidden_leave_a_sentence(
    session: Session, make_trace, links: Links
) -> None:
    session.change_options(hide_specials=True)
    session.set_trace(make_trace("</s>", "<s>"))
    assert links.canvas.picture is None
    assert not links.canvas.isVisible()


def test_without_a_trace_the_status_is_told(session: Session, show) -> None:
    session.set_trace(None)
    session.set_status(Status(Phase.LOADING, "Loading the model…"))
    links = show(Links(session, quantities_of(session)))
    assert "Loading the model…" in texts(links)
    assert not links.options.isVisible()


# Pointing


def test_pointing_at_a_query_or_a_key_is_told_to_all_views(
    session: Session, links: Links, qtbot: QtBot
) -> None:
    move(qtbot, links, at_query(links, 4))
    assert session.hover == (4, None)
    move(qtbot, links, at_key(links, 1))
    assert session.hover == (None, 1)
    QApplication.sendEvent(links.canvas.viewport(), QEvent(QEvent.Type.Leave))
    QApplication.sendEvent(links.canvas, QEvent(QEvent.Type.Leave))
    assert session.hover == (None, None)


@pytest.mark.parametrize("form", LinksForm)
def test_a_link_is_pointed_at_and_pinned(
    session: Session, links: Links, qtbot: QtBot, form: LinksForm, make_trace
) -> None:
    weights = np.eye(9)
    weights[4] = np.eye(9)[1]
    session.set_trace(make_trace(maps={E: weights[None, None]}))
    session.change_options(links_form=form)
    point = on_link(links, 4, 1)
    move(qtbot, links, point)
    assert session.hover == (4, 1)
    click(qtbot, links, point)
    assert pinned(session) == (4, 1)


def test_a_hover_elsewhere_lets_only_its_links_stand_out(
    session: Session, links: Links, pixels, qtbot: QtBot
) -> None:
    before = pixels(links.canvas)
    session.set_hover(4, None)
    assert links.canvas.marked_cells() == ((4, None),)
    faded = pixels(links.canvas)
    middle = before.shape[1] // 2
    assert (255 - faded[:, middle, :3]).sum() < 0.6 * (255 - before[:, middle, :3]).sum()
    session.set_hover(None, None)
    assert (pixels(links.canvas) == before).all()


def test_a_click_pins_a_second_one_releases(session: Session, links: Links, qtbot: QtBot) -> None:
    click(qtbot, links, at_query(links, 4))
    assert pinned(session) == (4, None)
    click(qtbot, links, at_key(links, 1))
    assert pinned(session) == (None, 1)
    click(qtbot, links, at_key(links, 1))
    assert pinned(session) == (None, None)


def test_ctrl_click_pins_beside(session: Session, links: Links, qtbot: QtBot) -> None:
    ctrl = Qt.KeyboardModifier.ControlModifier
    click(qtbot, links, at_query(links, 4))
    click(qtbot, links, at_query(links, 6), ctrl)
    assert session.selection.pinned == ((4, None), (6, None))
    assert links.canvas.marked_cells() == ((4, None), (6, None))
    click(qtbot, links, at_query(links, 4), ctrl)
    assert session.selection.pinned == ((6, None),)


def test_a_click_on_nothing_releases_all(session: Session, links: Links, qtbot: QtBot) -> None:
    session.pin(4)
    click(qtbot, links, QPoint(links.canvas.viewport().width() // 2, 4))
    assert session.selection.pinned == ()


def test_while_a_token_is_pinned_only_its_links_can_be_pointed_at(
    session: Session, links: Links, qtbot: QtBot
) -> None:
    session.pin(4)
    for query, key in sorted(drawn(links)):
        if query != 4:
            move(qtbot, links, on_link(links, query, key, 0.4))
            assert session.hover[0] in (4, None)


def test_tooltips_give_tokens_and_weights(
    session: Session, links: Links, qtbot: QtBot, trace: Trace
) -> None:
    def tip(point: QPoint) -> str:
        viewport = links.canvas.viewport()
        event = QHelpEvent(QEvent.Type.ToolTip, point, viewport.mapToGlobal(point))
        QApplication.sendEvent(viewport, event)
        return QToolTip.text()

    assert "2: animal" in tip(at_key(links, 1))
    session.pin(4)
    key = next(key for query, key in sorted(drawn(links)) if query == 4)
    shown = tip(on_link(links, 4, key))
    assert f"weight {trace.weights(E, 0, 0)[4, key]:.4f}" in shown
    assert "layer 1 · head 1" in shown


# Keys


def test_arrows_move_the_query(session: Session, links: Links, qtbot: QtBot) -> None:
    press(qtbot, links, Qt.Key.Key_Down)
    assert pinned(session) == (0, None)
    press(qtbot, links, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up)
    assert pinned(session) == (1, None)
    press(qtbot, links, Qt.Key.Key_End)
    assert pinned(session) == (8, None)
    press(qtbot, links, Qt.Key.Key_Down)
    assert pinned(session) == (8, None)
    press(qtbot, links, Qt.Key.Key_Home)
    assert pinned(session) == (0, None)
    press(qtbot, links, Qt.Key.Key_PageDown)
    assert pinned(session) == (8, None)
    press(qtbot, links, Qt.Key.Key_Escape)
    assert pinned(session) == (None, None)


@pytest.mark.parametrize("form", [ROWS, ARCS])
def test_in_rows_and_arcs_the_query_moves_sideways(
    session: Session, links: Links, qtbot: QtBot, form: LinksForm
) -> None:
    session.change_options(links_form=form)
    press(qtbot, links, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left)
    assert pinned(session) == (1, None)


def test_the_other_arrows_go_through_the_links_from_the_heaviest(
    session: Session, links: Links, qtbot: QtBot, trace: Trace
) -> None:
    session.change_options(links_mass=0.95)
    row = trace.row(E, 0, 0, 4)
    order = [int(key) for key in np.argsort(-row) if (4, int(key)) in drawn(links)]
    assert len(order) > 2
    session.pin(4)
    for key in order:
        press(qtbot, links, Qt.Key.Key_Right)
        assert pinned(session) == (4, key)
    press(qtbot, links, Qt.Key.Key_Right, Qt.Key.Key_Left)
    assert pinned(session) == (4, order[-2])


def test_what_is_in_focus_is_told_to_screen_readers(session: Session, links: Links) -> None:
    session.pin(4, 1)
    assert "it (5) → animal (2): weight" in links.canvas.accessibleDescription()


# Long texts


@pytest.fixture
def long_trace(make_trace: Callable[..., Trace]) -> Trace:
    return make_trace(["▁word"] * 149 + ["</s>"])


def test_a_long_text_is_scrolled_to_the_query(
    session: Session, links: Links, qtbot: QtBot, long_trace: Trace
) -> None:
    session.set_trace(long_trace)
    bar = links.canvas.verticalScrollBar()
    assert bar.maximum() > 0
    press(qtbot, links, Qt.Key.Key_End)
    assert bar.value() > 0
    assert links.canvas.viewport().rect().contains(at_query(links, 149))
    press(qtbot, links, Qt.Key.Key_Home)
    assert links.canvas.viewport().rect().contains(at_query(links, 0))


def test_headings_stay_while_columns_are_scrolled(
    session: Session, links: Links, qtbot: QtBot, long_trace: Trace, pixels
) -> None:
    session.set_trace(long_trace)
    settled(links, qtbot)
    head = QRect(0, 0, links.canvas.viewport().width(), int(scene(links).layout.head))
    before = pixels(links.canvas.viewport(), head)
    assert (before[..., :3] < 128).any()
    links.canvas.verticalScrollBar().setValue(700)
    settled(links, qtbot)
    assert (pixels(links.canvas.viewport(), head) == before).all()
    behind = next(i for i in range(150) if 0 < at_query(links, i).y() < head.height())
    click(qtbot, links, at_query(links, behind))
    assert pinned(session) == (None, None), "what the headings cover cannot be clicked"


def test_headings_stay_while_rows_are_scrolled(
    session: Session, links: Links, qtbot: QtBot, long_trace: Trace, pixels
) -> None:
    session.change_options(links_form=ROWS)
    session.set_trace(long_trace)
    settled(links, qtbot)
    size = links.canvas.viewport().size()
    left = QRect(0, 0, size.width() // 2, round(scene(links).layout.queries.band[0]))
    before = pixels(links.canvas.viewport(), left)
    links.canvas.horizontalScrollBar().setValue(900)
    settled(links, qtbot)
    assert (pixels(links.canvas.viewport(), left) == before).all()


@pytest.mark.parametrize("form", LinksForm)
def test_a_query_pinned_elsewhere_is_scrolled_to_once(
    session: Session, links: Links, long_trace: Trace, form: LinksForm
) -> None:
    session.change_options(links_form=form)
    session.set_trace(long_trace)
    session.select(query=140)
    view = links.canvas.viewport().rect()
    assert view.contains(at_query(links, 140))
    bars = links.canvas.verticalScrollBar(), links.canvas.horizontalScrollBar()
    for bar in bars:
        bar.setValue(0)
    session.change_options(links_mass=0.5)
    assert [bar.value() for bar in bars] == [0, 0], "the user scrolled away"


def test_links_are_painted_bit_by_bit_and_end_as_if_painted_at_once(
    session: Session, links: Links, qtbot: QtBot, long_trace: Trace, pixels
) -> None:
    session.set_trace(long_trace)
    assert not links.canvas.complete, "more than one slice of the event loop"
    settled(links, qtbot)
    image = QImage(links.canvas.viewport().size(), QImage.Format.Format_RGB32)
    image.fill(LIGHT.color("paper"))
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        links_module.draw_links(painter, scene(links), LIGHT)
    apart = np.abs(to_array(image).astype(int) - pixels(links.canvas.viewport()).astype(int))
    assert np.percentile(apart, 99) <= 24, "but for the edges of lines"


def test_links_out_of_many_cells_are_chosen_beside_the_event_loop(
    session: Session, links: Links, qtbot: QtBot, long_trace: Trace, monkeypatch
) -> None:
    session.select(**ALL)
    monkeypatch.setattr(links_module, "INLINE_CELLS", 1000)
    session.set_trace(long_trace)
    assert links.canvas.picture is None
    qtbot.waitUntil(lambda: not links._stream.running)
    assert set(scene(links).picture.links.series.tolist()) == {0, 1, 2}
    before = len(scene(links).picture.links)
    session.change_options(links_mass=0.9)
    assert len(scene(links).picture.links) == before, "the old ones stay until then"
    qtbot.waitUntil(lambda: not links._stream.running)
    assert len(scene(links).picture.links) > before


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_links_stay_readable_with_a_light_cell_pinned(
    session: Session, links: Links, qtbot: QtBot, pixels: Callable, theme: Theme
) -> None:
    links.apply_theme(theme)
    weights = scene(settled(links, qtbot)).picture.links.weight
    query, key = drawn_cells(links)[int(np.argmax(weights))]

    def visible() -> float:
        """How far the heaviest link stands out from the paper, at its middle."""
        point = on_link(links, query, key)
        around = pixels(links.canvas.viewport(), QRect(point - QPoint(2, 2), QSize(5, 5)))
        paper = np.array(theme.color("paper").getRgb()[:3])
        return float(np.abs(around[..., :3].astype(int) - paper).sum(axis=-1).max())

    before = visible()
    cells = ((row, column) for row in range(len(SOURCE)) for column in range(len(SOURCE)))
    session.pin(*next(cell for cell in cells if cell not in drawn(links) and cell[0] != query))
    settled(links, qtbot)
    assert visible() > 0.5 * before


# Themes and files


def test_the_dark_theme_has_its_own_colours(links: Links, pixels, qtbot: QtBot) -> None:
    links.apply_theme(DARK)
    settled(links, qtbot)
    assert pixels(links.canvas)[2, 2, :3].tolist() == [19, 21, 24]


def test_a_file_has_all_of_a_scrolled_picture(
    session: Session, links: Links, qtbot: QtBot, long_trace: Trace
) -> None:
    session.select(**ALL)
    session.set_trace(long_trace)
    size = links.export_size()
    assert size.height() > links.canvas.height() * 3
    image = QImage(size, QImage.Format.Format_RGB32)
    image.fill(LIGHT.color("paper"))
    with QPainter(image) as painter:
        links.paint_export(painter, QRect(QPoint(0, 0), size))
    ink = (to_array(image)[..., :3] < 200).any(axis=2)
    assert ink[-200:].any(), "down to the last token"
    assert ink[:60].any(), "with a title above"


def test_other_kinds_of_tokens_have_their_place(
    session: Session, make_trace, links: Links, qtbot: QtBot
) -> None:
    odd = ["▁هذا", "▁你好", "?☃", "<0xE2>", "▁", "▁" + "x" * 80, "</s>"]
    session.set_trace(make_trace(odd))
    for form in LinksForm:
        session.change_options(links_form=form)
        click(qtbot, links, at_query(links, 1))
        assert pinned(session) == (1, None)
        session.release()


def test_pins_stay_when_the_view_is_looked_at_again(session: Session, links: Links) -> None:
    links.hide()
    session.select(head=1)
    session.pin(2)
    links.show()
    assert links.canvas.pins == ((2, None),)
    assert scene(links).picture.slots == (1,)
    assert Head(E, 0, 1) in session.selection.heads
    assert len(scene(links).picture.queries) == len(SOURCE.split())


# What was moved, in place of the weights


def test_norms_are_drawn_as_links_up_to_the_largest_of_all_heads(
    session: Session, trace: Trace, links: Links, qtbot: QtBot
) -> None:
    session.select(**ALL)
    before = len(scene(links).picture.links)
    session.change_options(quantity=Quantity.NORM)
    settled(links, qtbot)
    picture, strengths = scene(links).picture, scene(links).strengths
    found = links._quantities.of_heads
    assert found is not None
    top = max(found.trace.weights(E, layer, head).max() for layer in range(2) for head in range(3))
    assert picture.top == pytest.approx(top)
    for series, query, key, weight, strength in zip(
        *(picture.links.series, picture.links.query, picture.links.key, picture.links.weight),
        strengths,
        strict=True,
    ):
        norm = (1 + series) * trace.weights(E, 0, int(series))[query, key]
        assert weight == pytest.approx(norm, rel=1e-5)
        assert strength == pytest.approx(norm / top, rel=1e-5)
    assert len(picture.links) == before, "a share of each row, whatever its sum"
    assert "of its norm" in links.caption.text()
    assert links.export_name().endswith("norm moved")
    assert any("norm moved" in text for text in texts(links))


def test_what_is_of_a_layer_leaves_links_of_weights_and_says_so(
    session: Session, trace: Trace, links: Links
) -> None:
    session.change_options(quantity=Quantity.ALTI)
    picture = scene(links).picture
    assert picture.links.weight.max() == pytest.approx(trace.weights(E, 0, 0).max())
    assert "Width = weight. ALTI+ has one map per layer: see the heatmap." in links.caption.text()


def test_links_that_are_on_their_way_cannot_be_pointed_at(
    session: Session, make_trace, show, qtbot: QtBot
) -> None:
    answers = Answers()
    answers.held = True
    links = show(Links(session, quantities_of(session, answers)))
    session.change_options(quantity=Quantity.NORM)
    assert not links.has_picture
    session.set_trace(make_trace("▁One </s>", "<s> ▁Eins"))
    qtbot.mouseMove(links.canvas.viewport(), QPoint(200, 200))
    assert session.hover == (None, None)
    answers.release()
    assert len(scene(settled(links, qtbot)).picture.queries) == 2


@pytest.mark.parametrize("hide_specials", [False, True])
def test_heads_that_move_nothing_have_no_links(
    session: Session, make_trace, links: Links, trace: Trace, hide_specials: bool
) -> None:
    """As those that are switched off, by the norm of what they move."""
    session.change_options(hide_specials=hide_specials)
    length = len(trace.source_tokens)
    session.set_trace(make_trace(maps={E: np.zeros((2, 3, length, length))}))
    session.select(kind=E, layer=0, head=0)
    assert drawn(links) == set()
    assert ("Hidden special tokens hold 0.0" in links.caption.text()) is hide_specials
