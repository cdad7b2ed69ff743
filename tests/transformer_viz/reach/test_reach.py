from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from core.text.tokens import Token
from core.trace.reach import FarLink, reach
from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.stage import FakeBackend, texts
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.reach import text_reach
from transformer_viz.reach.distance_probe import DistanceProbe
from transformer_viz.reach.draw_reach_arcs import Labels, lay_out_arcs
from transformer_viz.reach.reach import DISTANCES, LINKS, ReachView
from transformer_viz.reach.stretching import Stretching
from transformer_viz.state.session import ModelInfo, Phase, Session, Status

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS
LEFT, NO = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def view(session: Session, show: Callable[..., QWidget]) -> ReachView:
    session.change_options(reach_distance=3)
    return show(reach_view(session))  # type: ignore[return-value]


def reach_view(session: Session) -> ReachView:
    """With words inserted at once."""

    def ask(_lane: str, question: Callable, *, done: Callable, failed: Callable) -> None:
        done(question(FakeBackend(), None))

    engine = SimpleNamespace(ask=ask, cancel=lambda _lane: None)
    stretching = Stretching(
        session, engine, lambda text, _selection: session.set_text(text), lambda: False
    )
    return ReachView(session, stretching, DistanceProbe(session, None))


def expected(
    trace: Trace, kind: AttentionKind = E, *, distance: int = 3, specials: bool = False
) -> tuple[FarLink, ...]:
    *_, found = reach(trace, trace.every_head(kind), specials=specials)
    return found.heaviest.over(distance)


def row_point(view: ReachView, row: int) -> QPoint:
    return view.text.far_links.list.row_rect(row).center()


def point_of(view: ReachView, index: int) -> QPointF:
    """The top of an arc."""
    arcs = view.text.far_links.arcs
    curve = arcs.layout_now().curves(view.text.far_links.list.links)[index]
    return QPointF(
        (curve[0, 0] + curve[3, 0]) / 2, curve[0, 1] + 0.75 * (curve[1, 1] - curve[0, 1])
    )


def free_arc(view: ReachView) -> int:
    """An arc that lies alone where it is highest."""
    for index in range(len(view.text.far_links.list.links)):
        if view.text.far_links.arcs.link_at(point_of(view, index)) == index:
            return index
    raise AssertionError("every arc is below another")


def test_the_list_has_the_heaviest_far_links_of_all_heads(view: ReachView, trace: Trace) -> None:
    assert view.text.far_links.list.links == expected(trace)
    assert any("without special tokens" in text for text in texts(view))


def test_the_list_opens_at_its_top_even_with_its_last_link_pinned(
    session: Session, trace: Trace, show: Callable[..., QWidget]
) -> None:
    session.change_options(reach_distance=3)
    last = expected(trace)[-1]
    session.select(kind=E, layer=last.head.layer, head=last.head.head)
    session.pin(last.query, last.key)
    view = reach_view(session)
    view.text.far_links.list.setFixedHeight(60)
    show(view)
    bar = view.text.far_links.list.verticalScrollBar()
    assert bar.maximum() > 0
    assert bar.value() == 0


def test_a_click_on_a_row_selects_the_head_and_the_link(
    view: ReachView, session: Session, trace: Trace, qtbot: QtBot
) -> None:
    link = expected(trace)[2]
    qtbot.mouseClick(view.text.far_links.list.viewport(), LEFT, NO, row_point(view, 2))
    selection = session.selection
    assert (selection.primary, selection.query, selection.key) == (
        link.head,
        link.query,
        link.key,
    )
    picture = view.text.far_links.arcs.picture
    assert picture is not None
    assert picture.focus == 2
    assert picture.heads == {link.head}


@pytest.mark.parametrize(
    ("keys", "row"),
    [
        ((Qt.Key.Key_Down, Qt.Key.Key_Down), 2),
        ((Qt.Key.Key_End,), -1),
        ((Qt.Key.Key_End, Qt.Key.Key_Home), 0),
        ((Qt.Key.Key_PageDown, Qt.Key.Key_Up), 9),
    ],
)
def test_keys_go_from_link_to_link(
    view: ReachView, session: Session, trace: Trace, qtbot: QtBot, keys: tuple, row: int
) -> None:
    view.setFocus()
    for key in keys:
        qtbot.keyClick(view.text.far_links.list, key)
    link = expected(trace)[row]
    selection = session.selection
    assert (selection.primary, selection.query, selection.key) == (
        link.head,
        link.query,
        link.key,
    )
    described = view.text.far_links.list.accessibleDescription()
    assert f"weight {link.weight:.4f}" in described
    layers = "1 layer" if link.distance == 1 else f"{link.distance} layers"
    assert f"{layers} of convolution with k = 3" in described  # centred: one token each
    qtbot.keyClick(view.text.far_links.list, Qt.Key.Key_Escape)
    assert session.selection.query is None


def test_a_link_selected_elsewhere_is_marked_here(
    view: ReachView, session: Session, trace: Trace
) -> None:
    link = expected(trace)[5]
    kind, layer, head = link.head
    session.select(kind=kind, layer=layer, head=head, query=link.query, key=link.key)
    picture = view.text.far_links.arcs.picture
    assert picture is not None
    assert picture.focus == 5
    assert view.text.far_links.list.current == 5


def test_pointing_at_an_arc_and_at_a_row_is_the_same(
    view: ReachView, session: Session, qtbot: QtBot
) -> None:
    arcs, rows = view.text.far_links.arcs, view.text.far_links.list
    index = free_arc(view)
    qtbot.mouseMove(arcs, QPoint(1, 1))
    qtbot.mouseMove(arcs, point_of(view, index).toPoint())
    link = rows.links[index]
    assert rows.pointed == index
    assert session.hover == (link.query, link.key)
    qtbot.mouseMove(arcs, QPoint(1, 1))
    assert rows.pointed is None
    assert session.hover == (None, None)
    qtbot.mouseMove(rows.viewport(), row_point(view, 1))
    assert arcs.picture is not None
    assert arcs.picture.focus == 1


def test_a_click_on_an_arc_selects_it_and_one_beside_releases(
    view: ReachView, session: Session, qtbot: QtBot
) -> None:
    index = free_arc(view)
    link = view.text.far_links.list.links[index]
    arcs = view.text.far_links.arcs
    qtbot.mouseClick(arcs, LEFT, NO, point_of(view, index).toPoint())
    assert (session.selection.query, session.selection.key) == (link.query, link.key)
    qtbot.mouseClick(arcs, LEFT, NO, QPoint(1, 1))
    assert session.selection.pinned == ()


def test_the_distance_slider_asks_for_farther_links(
    view: ReachView,
    session: Session,
    trace: Trace,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[object] = []
    monkeypatch.setattr(text_reach, "reach", lambda *_args, **_options: looks.append(1))
    view.text.options.distance.setFocus()
    qtbot.keyClick(view.text.options.distance, Qt.Key.Key_Right)
    assert session.options.reach_distance == 4
    assert view.text.far_links.list.links == expected(trace, distance=4)
    assert not looks, "no head is looked at anew"
    view.text.options.distance.setValue(view.text.options.distance.maximum())
    assert view.text.far_links.list.links == ()
    assert any("No link spans this distance" in text for text in texts(view))


def test_special_tokens_count_when_wanted(view: ReachView, trace: Trace, qtbot: QtBot) -> None:
    qtbot.mouseClick(view.text.options.specials, LEFT)
    assert view.text.far_links.list.links == expected(trace, specials=True)


def test_the_kernel_changes_the_steps(view: ReachView, trace: Trace) -> None:
    view.text.options.kernel.setValue(5)
    layers = math.ceil(expected(trace)[0].distance / 2)
    assert f"{layers} layers of convolution with k = 5" in view.text.far_links.list.describe(0)


def test_the_translation_has_far_links_of_its_own(
    view: ReachView, session: Session, trace: Trace, qtbot: QtBot
) -> None:
    qtbot.mouseClick(view.texts.button(1), LEFT)
    assert session.selection.kind is D
    assert view.text.far_links.list.links == expected(trace, D)


def test_beside_cross_attention_the_source_is_shown(
    view: ReachView, session: Session, trace: Trace, qtbot: QtBot
) -> None:
    session.select(kind=C)
    assert view.text.far_links.list.links == expected(trace)
    qtbot.mouseMove(view.text.far_links.list.viewport(), row_point(view, 1))
    assert session.hover == (None, None), "queries of another map"
    qtbot.mouseClick(view.text.far_links.list.viewport(), LEFT, NO, row_point(view, 0))
    assert session.selection.kind is E


def test_a_long_text_is_looked_at_beside_the_event_loop(
    session: Session, trace: Trace, show: Callable, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_reach, "INLINE_CELLS", 0)
    session.change_options(reach_distance=3)
    view = show(reach_view(session))
    qtbot.waitUntil(lambda: view.text.far_links.list.links == expected(trace))
    session.change_options(reach_specials=True)
    assert view.text.far_links.list.links == expected(trace), "what is there stays until then"
    qtbot.waitUntil(lambda: view.text.far_links.list.links == expected(trace, specials=True))


def test_the_histogram_is_of_the_selected_heads(
    view: ReachView, session: Session, trace: Trace, qtbot: QtBot
) -> None:
    qtbot.mouseClick(view.pages.button(DISTANCES), LEFT)
    shown = view.text.histograms.shown
    assert shown is not None
    *_, found = reach(trace, trace.every_head(E), specials=False)
    weights = found.profiles[Head(E, 0, 0)].shares
    bars = [weights[0], weights[1], weights[2], weights[3:5].sum(), weights[5:9].sum()]
    np.testing.assert_allclose(shown.chosen, bars)
    cells = view.text.histograms.layout_now().cells
    qtbot.mouseClick(view.text.histograms, LEFT, NO, cells[Head(E, 1, 2)].center().toPoint())
    assert session.selection.primary == Head(E, 1, 2)
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.mouseClick(view.text.histograms, LEFT, control, cells[Head(E, 0, 1)].center().toPoint())
    assert session.selection.heads == (Head(E, 0, 1), Head(E, 1, 2))
    both = view.text.histograms.shown
    assert both is not None
    np.testing.assert_allclose(
        both.chosen, (both.heads[Head(E, 0, 1)] + both.heads[Head(E, 1, 2)]) / 2
    )
    session.select(layer=0, head=0)
    view.text.histograms.setFocus()
    qtbot.keyClick(view.text.histograms, Qt.Key.Key_Right)
    qtbot.keyClick(view.text.histograms, Qt.Key.Key_Down)
    assert session.selection.primary == Head(E, 1, 1)
    assert "Weight by distance" in view.text.histograms.accessibleDescription()


def test_without_a_trace_it_says_why(session: Session, show: Callable) -> None:
    view = show(reach_view(session))
    session.set_trace(None)
    session.set_status(Status(Phase.EMPTY))
    assert not view.has_picture
    assert any("Type an English sentence" in text for text in texts(view))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("page", [LINKS, DISTANCES])
def test_its_picture_is_painted_into_a_file(
    view: ReachView, session: Session, trace: Trace, theme: Theme, page: int
) -> None:
    view.apply_theme(theme)
    link = expected(trace)[0]
    kind, layer, head = link.head
    session.select(kind=kind, layer=layer, head=head, query=link.query, key=link.key)
    view.show_page(page)
    size = view.export_size()
    image = QImage(size, QImage.Format.Format_RGB32)
    with QPainter(image) as painter:
        view.paint_export(painter, image.rect())
    accent = theme.color("accent").rgb()
    colors = {image.pixel(x, y) for x in range(size.width()) for y in range(0, size.height(), 3)}
    assert theme.color("paper").rgb() in colors
    assert accent in colors


def test_a_file_does_not_speak_of_columns_that_it_lacks(view: ReachView) -> None:
    text = view.text
    assert "On the right" in text.caption.text()
    assert text._heading.notes.endswith("a dot marks the key.")


@pytest.mark.parametrize(
    ("count", "labels"), [(8, Labels.RUNNING), (40, Labels.SLANTED), (1_000, Labels.RULER)]
)
def test_a_text_of_any_length_fits_the_width(view: ReachView, count: int, labels: Labels) -> None:
    tokens = tuple(Token("▁animal", index) for index in range(count))
    rect = QRectF(0, 0, 700, 200)
    layout = lay_out_arcs(rect, tokens, view.font())
    assert layout.labels is labels
    assert rect.left() <= layout.middles[0]
    assert layout.middles[-1] <= rect.right()
    assert (np.diff(layout.middles) > 0).all()
    curve = layout.curves([FarLink(Head(E, 0, 0), count - 1, 0, 1.0)])[0]
    assert curve[0, 0] == layout.middles[-1]
    assert curve[3, 0] == layout.middles[0]
    top = curve[0, 1] + 0.75 * (curve[1, 1] - curve[0, 1])
    assert top >= rect.top()


def test_the_slider_inserts_words_and_esc_takes_them_out(
    view: ReachView, session: Session, qtbot: QtBot
) -> None:
    session.set_model(ModelInfo("m", Path("m"), 2, 2, 3, 3, 8, 100))
    session.set_text("It was here.")
    slider, bar = view.text.stretch_bar.slider, view.text.stretch_bar
    assert not bar.back.isEnabled()
    slider.setFocus()
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    qtbot.keyClick(slider, Qt.Key.Key_PageUp)
    assert session.text == "It more more more more more was here."
    assert bar.number.text() == "5"
    qtbot.keyClick(slider, Qt.Key.Key_Escape)
    assert session.text == "It was here."
    assert slider.value() == 0
    slider.setValue(2)
    qtbot.mouseClick(bar.back, LEFT)
    assert session.text == "It was here."


def test_without_a_sentence_nothing_can_be_inserted(view: ReachView, session: Session) -> None:
    session.set_model(ModelInfo("m", Path("m"), 2, 2, 3, 3, 8, 100))
    session.set_text("")
    assert not view.text.stretch_bar.slider.isEnabled()
    assert "no sentence" in view.text.stretch_bar.slider.toolTip()
    assert "no sentence" in view.text.stretch_bar.obstacle.text()
