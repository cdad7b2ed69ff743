from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QPushButton, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from core.statistics.registry import OF_MAPS
from core.statistics.rows import head_statistics
from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.answers import Answers, quantities_of
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.heads_map import head_tiles, measured_heads
from transformer_viz.heads_map.atlas_view import AtlasView
from transformer_viz.heads_map.heads_map import HeadsMap
from transformer_viz.heads_map.measured_heads import MeasuredHeads
from transformer_viz.state.linking import Place, linked
from transformer_viz.state.options import Quantity
from transformer_viz.state.session import Session
from transformer_viz.widgets.spotlight import Spotlight

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
SHIFTED = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))  # from 0, 0 one to the right and one down


def picture(session: Session, answers: Answers | None = None) -> AtlasView:
    return AtlasView(
        session,
        quantities_of(session, answers),
        MeasuredHeads(session, session),
        Spotlight(session, session),
    )


@pytest.fixture
def heads_map(session: Session, show) -> AtlasView:
    return show(picture(session), 300, 700)


def selected(session: Session) -> Head:
    selection = session.selection
    return Head(selection.kind, selection.layer, selection.head)


def center(heads_map: AtlasView, head: Head) -> QPoint:
    return heads_map._layout.rect(head).center() - heads_map.offset()


@pytest.mark.parametrize("head", [Head(E, 1, 2), Head(D, 2, 0), Head(C, 0, 1)])
def test_a_click_selects_the_head(qtbot: QtBot, session, heads_map: AtlasView, head: Head) -> None:
    qtbot.mouseClick(heads_map.viewport(), Qt.MouseButton.LeftButton, pos=center(heads_map, head))
    assert selected(session) == head


def test_a_click_beside_the_tiles_changes_nothing(qtbot, session, heads_map: AtlasView) -> None:
    before = session.selection
    qtbot.mouseClick(heads_map.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(2, 2))
    assert session.selection == before


@pytest.mark.parametrize(
    ("start", "key", "end"),
    [
        (Head(E, 0, 0), Qt.Key.Key_Right, Head(E, 0, 1)),
        (Head(E, 0, 2), Qt.Key.Key_Right, Head(E, 1, 0)),
        (Head(E, 1, 2), Qt.Key.Key_Right, Head(D, 0, 0)),
        (Head(D, 0, 0), Qt.Key.Key_Left, Head(E, 1, 2)),
        (Head(E, 0, 2), Qt.Key.Key_Down, Head(E, 1, 2)),
        (Head(E, 1, 2), Qt.Key.Key_Down, Head(D, 0, 1)),  # the decoder has two heads
        (Head(C, 0, 1), Qt.Key.Key_Up, Head(D, 2, 1)),
        (Head(E, 0, 0), Qt.Key.Key_Up, Head(E, 0, 0)),
        (Head(C, 2, 1), Qt.Key.Key_Right, Head(C, 2, 1)),
        (Head(D, 1, 1), Qt.Key.Key_Home, Head(D, 1, 0)),
        (Head(E, 1, 0), Qt.Key.Key_End, Head(E, 1, 2)),
        (Head(D, 2, 1), Qt.Key.Key_PageUp, Head(E, 1, 1)),  # the encoder has two layers
        (Head(D, 2, 1), Qt.Key.Key_PageDown, Head(C, 2, 1)),
    ],
)
def test_keys_move_from_head_to_head(
    qtbot, session, heads_map: AtlasView, start: Head, key: Qt.Key, end: Head
) -> None:
    session.select(kind=start.kind, layer=start.layer, head=start.head)
    qtbot.keyClick(heads_map, key)
    assert selected(session) == end


def test_control_goes_to_the_ends_of_the_map(qtbot, session, heads_map: AtlasView) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(heads_map, Qt.Key.Key_End, control)
    assert selected(session) == Head(C, 2, 1)
    qtbot.keyClick(heads_map, Qt.Key.Key_Home, control)
    assert selected(session) == Head(E, 0, 0)


def test_the_tooltip_names_the_head(qtbot, session, heads_map: AtlasView) -> None:
    point = center(heads_map, Head(E, 1, 2))
    event = QHelpEvent(QHelpEvent.Type.ToolTip, point, heads_map.viewport().mapToGlobal(point))
    QApplication.sendEvent(heads_map.viewport(), event)
    assert "Encoder self · layer 2 · head 3" in QToolTip.text()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_a_screen_reader_hears_the_head(session, heads_map: AtlasView) -> None:
    assert heads_map.accessibleName() == "Heads map"
    session.select(kind=D, layer=1, head=1)
    assert heads_map.accessibleDescription() == "Decoder self · layer 2 · head 2"


def test_the_selected_head_is_framed(session, heads_map: AtlasView, pixels) -> None:
    def near(head: Head) -> bytes:
        around = heads_map._layout.rect(head).adjusted(-2, -2, 2, 2)
        return pixels(heads_map.viewport(), around).tobytes()

    heads_map.clearFocus()
    before = near(Head(E, 1, 1))
    session.select(kind=E, layer=1, head=1)
    assert near(Head(E, 1, 1)) != before


def test_focus_is_visible(qtbot, session, heads_map: AtlasView, pixels) -> None:
    heads_map.setFocus()
    qtbot.waitUntil(heads_map.hasFocus)
    focused = pixels(heads_map.viewport()).tobytes()
    heads_map.clearFocus()
    assert pixels(heads_map.viewport()).tobytes() != focused


def test_a_model_that_does_not_fit_scrolls_to_the_selected_head(
    qtbot, make_trace: Callable[..., Trace], show
) -> None:
    session = Session()
    session.set_trace(make_trace("▁A </s>", "<s> ▁B", encoder=(16,) * 12, decoder=(16,) * 12))
    heads_map = show(picture(session), 260, 300)
    for head in (Head(C, 11, 15), Head(E, 0, 0), Head(D, 6, 8)):
        session.select(kind=head.kind, layer=head.layer, head=head.head)
        tile = heads_map._layout.rect(head).translated(-heads_map.offset())
        assert heads_map.viewport().rect().contains(tile)
        neighbour = head._replace(head=head.head + (1 if head.head < 15 else -1))
        qtbot.mouseClick(
            heads_map.viewport(), Qt.MouseButton.LeftButton, pos=center(heads_map, neighbour)
        )
        assert selected(session) == neighbour


def test_a_selected_tile_in_sight_does_not_scroll(session, heads_map: AtlasView) -> None:
    heads_map.resize(300, 300)
    session.select(kind=E, layer=0, head=0)
    session.select(kind=E, layer=1, head=0)
    assert heads_map.verticalScrollBar().value() == 0


def test_no_trace_is_said_and_keys_are_left_alone(qtbot, show, pixels) -> None:
    session = Session()
    heads_map = show(picture(session), 300, 300)
    assert "Nothing" in heads_map.accessibleDescription()
    qtbot.keyClick(heads_map, Qt.Key.Key_Right)
    qtbot.mouseClick(heads_map.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, 60))
    assert len(set(pixels(heads_map.viewport()).reshape(-1, 4).sum(axis=1))) > 1, "a line of text"


def test_an_encoder_alone_has_one_section(make_trace, show) -> None:
    full = make_trace()
    alone = Trace(source_tokens=full.source_tokens, attention={E: full.attention[E]})
    session = Session()
    session.set_trace(alone)
    heads_map = show(picture(session), 300, 300)
    assert [section.kind for section in heads_map._layout.sections] == [E]


def test_themes_and_maps_change_the_picture(heads_map: AtlasView, pixels) -> None:
    pictures = [pixels(heads_map.viewport()).tobytes()]
    heads_map.set_color_map("magma")
    pictures.append(pixels(heads_map.viewport()).tobytes())
    heads_map.apply_theme(DARK)
    pictures.append(pixels(heads_map.viewport()).tobytes())
    assert len(set(pictures)) == 3


def test_the_picture_is_drawn_once_and_painted_often(session, heads_map: AtlasView) -> None:
    heads_map.viewport().repaint()
    atlas = heads_map._atlas
    session.select(layer=1)
    heads_map.viewport().repaint()
    assert heads_map._atlas is atlas


def test_a_large_trace_fills_in_beside_the_event_loop(
    qtbot, make_trace, show, pixels, monkeypatch
) -> None:
    trace = make_trace(seed=4)
    session = Session()
    at_once = show(picture(session), 300, 700)
    session.set_trace(trace)
    complete = pixels(at_once.viewport())
    monkeypatch.setattr(head_tiles, "INLINE_CELLS", 0)
    bit_by_bit = show(picture(session), 300, 700)
    assert len(bit_by_bit._tiles.codes) == 0
    at_once.clearFocus()
    bit_by_bit.clearFocus()
    qtbot.waitUntil(lambda: not bit_by_bit._tiles._stream.running)
    assert (pixels(bit_by_bit.viewport()) == pixels(at_once.viewport())).all()
    assert complete.shape == pixels(bit_by_bit.viewport()).shape


def test_another_trace_replaces_one_that_is_still_filling_in(
    qtbot, make_trace, show, monkeypatch
) -> None:
    monkeypatch.setattr(head_tiles, "INLINE_CELLS", 0)
    session = Session()
    heads_map = show(picture(session), 300, 700)
    session.set_trace(make_trace(encoder=(4, 4, 4, 4)))
    session.set_trace(make_trace("▁One ▁word </s>", encoder=(1,)))
    qtbot.waitUntil(lambda: not heads_map._tiles._stream.running)
    assert set(heads_map._tiles.codes) == set(heads_map._layout)
    assert heads_map._tiles.codes[Head(E, 0, 0)].shape == (3, 3)


def test_a_short_text_after_a_long_one_stays_alone(qtbot, make_trace, show, monkeypatch) -> None:
    session = Session()
    heads_map = show(picture(session), 300, 700)
    monkeypatch.setattr(head_tiles, "INLINE_CELLS", 0)
    session.set_trace(make_trace(encoder=(4, 4, 4, 4)))
    monkeypatch.undo()
    session.set_trace(make_trace("▁One ▁word </s>", encoder=(1,)))
    qtbot.wait(60)
    assert set(heads_map._tiles.codes) == set(heads_map._layout)
    assert heads_map._tiles.codes[Head(E, 0, 0)].shape == (3, 3)


# Several heads


def tile_click(qtbot: QtBot, heads_map: AtlasView, head: Head, *keys: Qt.KeyboardModifier) -> None:
    modifiers = Qt.KeyboardModifier.NoModifier
    for key in keys:
        modifiers |= key
    pos = center(heads_map, head)
    qtbot.mouseClick(heads_map.viewport(), Qt.MouseButton.LeftButton, modifiers, pos)


def test_ctrl_click_adds_and_removes_a_head(qtbot, session, heads_map: AtlasView) -> None:
    tile_click(qtbot, heads_map, Head(E, 0, 0))
    tile_click(qtbot, heads_map, Head(E, 1, 2), CONTROL)
    assert session.selection.heads == (Head(E, 0, 0), Head(E, 1, 2))
    assert selected(session) == Head(E, 1, 2)
    tile_click(qtbot, heads_map, Head(E, 0, 0), CONTROL)
    tile_click(qtbot, heads_map, Head(E, 1, 2), CONTROL)
    assert session.selection.heads == (Head(E, 1, 2),), "the last one stays"
    tile_click(qtbot, heads_map, Head(C, 0, 0), CONTROL)
    assert session.selection.heads == (Head(C, 0, 0),)


def test_shift_click_selects_from_the_current_head_on(qtbot, session, heads_map) -> None:
    tile_click(qtbot, heads_map, Head(E, 0, 1))
    tile_click(qtbot, heads_map, Head(E, 1, 0), SHIFT)
    assert session.selection.heads == (Head(E, 0, 1), Head(E, 0, 2), Head(E, 1, 0))
    assert selected(session) == Head(E, 0, 1)
    tile_click(qtbot, heads_map, Head(E, 0, 0), SHIFT)
    assert session.selection.heads == (Head(E, 0, 0), Head(E, 0, 1))


def test_a_click_on_a_number_or_a_title_selects_all_that_it_names(
    qtbot, session, heads_map
) -> None:
    second = heads_map._layout.rect(Head(D, 1, 0))
    number = QPoint(second.left() - 12, second.center().y())
    qtbot.mouseClick(heads_map.viewport(), Qt.MouseButton.LeftButton, pos=number)
    assert session.selection.heads == (Head(D, 1, 0), Head(D, 1, 1))
    title = QPoint(40, heads_map._layout.sections[2].top + 10)
    qtbot.mouseClick(heads_map.viewport(), Qt.MouseButton.LeftButton, pos=title)
    assert session.selection.heads == tuple(h for h in heads_map._layout if h.kind is C)
    assert selected(session) == Head(C, 0, 0)


def test_keys_select_several_heads(qtbot, session, heads_map: AtlasView) -> None:
    session.select(kind=E, layer=0, head=0)
    qtbot.keyClick(heads_map, Qt.Key.Key_Right, CONTROL)
    qtbot.keyClick(heads_map, Qt.Key.Key_Right, CONTROL)
    assert session.selection.heads == (Head(E, 0, 0),), "Ctrl moves the frame alone"
    assert "not selected" in heads_map.accessibleDescription()
    qtbot.keyClick(heads_map, Qt.Key.Key_Space)
    assert session.selection.heads == (Head(E, 0, 0), Head(E, 0, 2))
    assert "2 heads selected" in heads_map.accessibleDescription()
    qtbot.keyClick(heads_map, Qt.Key.Key_Space)
    assert session.selection.heads == (Head(E, 0, 0),)
    qtbot.keyClick(heads_map, Qt.Key.Key_Home)
    qtbot.keyClick(heads_map, Qt.Key.Key_Right, SHIFT)
    qtbot.keyClick(heads_map, Qt.Key.Key_Down, SHIFT)
    assert session.selection.heads == tuple(Head(E, *one) for one in SHIFTED)
    qtbot.keyClick(heads_map, Qt.Key.Key_A, CONTROL)
    assert session.selection.heads == tuple(h for h in heads_map._layout if h.kind is E)
    qtbot.keyClick(heads_map, Qt.Key.Key_Right)
    assert len(session.selection.heads) == 1


def test_every_selected_head_is_framed_and_the_current_one_most(session, heads_map, pixels) -> None:
    heads_map.clearFocus()

    def accented(head: Head) -> int:
        around = heads_map._layout.rect(head).adjusted(-3, -3, 3, 3)
        accent = LIGHT.color("accent").getRgb()
        return int((pixels(heads_map.viewport(), around) == accent).all(axis=-1).sum())

    session.select(kind=E, layer=0, head=0, others=((1, 1),))
    assert accented(Head(E, 0, 0)) > accented(Head(E, 1, 1)) > accented(Head(E, 0, 2)) == 0


def test_pointing_at_a_number_frames_its_layer(qtbot, heads_map, pixels) -> None:
    before = pixels(heads_map.viewport()).copy()
    second = heads_map._layout.rect(Head(D, 1, 0))
    qtbot.mouseMove(heads_map.viewport(), QPoint(second.left() - 12, second.center().y()))
    changed = (before != pixels(heads_map.viewport())).any(axis=-1)
    for head in heads_map._layout:
        left_edge = heads_map._layout.rect(head).adjusted(-1, 8, 0, -8)
        column = changed[left_edge.top() : left_edge.bottom(), left_edge.left()]
        assert column.all() == column.any() == (head[:2] == (D, 1))


# Order


def test_heads_are_ordered_within_their_kind_by_a_statistic(session, trace, heads_map) -> None:
    session.change_options(order="confidence")
    shown = list(heads_map._layout)
    for kind in (E, D, C):
        heads = [head for head in shown if head.kind is kind]
        values = [head_statistics(trace, *head)["confidence"] for head in heads]
        assert values == sorted(values, reverse=True)
        assert len(heads) == len(trace.every_head(kind))
    first = shown[0]
    name, number = heads_map._arrangement.captions[first]
    assert name == f"{first.layer + 1}.{first.head + 1}"
    assert number == f"{head_statistics(trace, *first)['confidence']:.2f}"
    session.change_options(order="index")
    assert list(heads_map._layout) == sorted(shown, key=lambda h: ((E, D, C).index(h.kind), *h[1:]))


def test_arrows_and_ranges_follow_the_order(qtbot, session, heads_map) -> None:
    session.change_options(order="entropy")
    order = [head for head in heads_map._layout if head.kind is E]
    tile_click(qtbot, heads_map, order[0])
    qtbot.keyClick(heads_map, Qt.Key.Key_Right)
    assert selected(session) == order[1]
    tile_click(qtbot, heads_map, order[3], SHIFT)
    assert set(session.selection.heads) == set(order[1:4])


def test_a_kind_without_the_statistic_stays_as_it_is(session, heads_map) -> None:
    session.change_options(order="distance")
    cross = [head for head in heads_map._layout if head.kind is C]
    assert cross == sorted(cross)
    assert heads_map._arrangement.captions[cross[0]][1] == "–"


def test_many_heads_are_measured_beside_the_event_loop(
    qtbot, session, make_trace, heads_map, monkeypatch
) -> None:
    monkeypatch.setattr(measured_heads, "INLINE_CELLS", 0)
    session.change_options(order="entropy")
    session.set_trace(make_trace(seed=5))
    assert {number for _name, number in heads_map._arrangement.captions.values()} == {"…"}
    assert set(heads_map._layout) == set(heads_map._tiles.codes)
    qtbot.waitUntil(
        lambda: "…" not in {number for _name, number in heads_map._arrangement.captions.values()}
    )
    trace = session.trace
    values = [head_statistics(trace, *h)["entropy"] for h in heads_map._layout if h.kind is D]
    assert values == sorted(values)


@pytest.fixture
def panel(session: Session) -> HeadsMap:
    measured, spotlight = MeasuredHeads(session, session), Spotlight(session, session)
    return HeadsMap(session, quantities_of(session), measured, spotlight)


def test_the_order_is_chosen_above_the_map(qtbot, session, show, panel: HeadsMap) -> None:
    show(panel, 320, 600)
    assert panel.order.currentText() == "layer and head"
    panel.order.setFocus()
    qtbot.keyClick(panel.order, Qt.Key.Key_Down)
    assert session.options.order == "entropy"
    session.change_options(order="sink")
    assert panel.order.currentText() == "sink, highest first"


def test_tab_leads_to_the_order_and_on_to_the_picture(qtbot, show, panel: HeadsMap) -> None:
    window, before = QWidget(), QPushButton("before")
    column = QVBoxLayout(window)
    column.addWidget(before)
    column.addWidget(panel)
    show(window)
    before.setFocus()
    qtbot.waitUntil(before.hasFocus)
    qtbot.keyClick(before, Qt.Key.Key_Tab)
    assert panel.order.hasFocus()
    qtbot.keyClick(panel.order, Qt.Key.Key_Tab)
    assert panel.picture.hasFocus()
    assert panel.order.accessibleName() == "Order of the heads"


def test_the_tooltip_tells_every_statistic(session, trace, heads_map) -> None:
    text = heads_map.explanation(heads_map._layout.rect(Head(E, 1, 2)).center())
    known = head_statistics(trace, E, 1, 2)
    assert f"confidence: {known.values['confidence']:.2f}" in text
    assert all(f"{one.name}: " in text for one in OF_MAPS)
    title = QPoint(40, heads_map._layout.sections[0].top + 10)
    assert "Ctrl+click" in text
    assert "these 6 heads" in heads_map.explanation(title)


# Linked rows


@pytest.mark.parametrize("kind", [E, C])
def test_pointing_at_a_token_outlines_its_rows_in_every_kind(
    session, heads_map, pixels, kind
) -> None:
    heads_map.clearFocus()
    session.select(kind=kind)
    before = pixels(heads_map.viewport()).copy()
    session.point(Place("target", 3))
    changed = (pixels(heads_map.viewport()) != before).any(axis=-1)
    link = linked(session.trace, session.selection, Place("target", 3))
    for head in heads_map._layout:
        rect = heads_map._layout.rect(head)
        count = len(session.trace.query_tokens(head.kind))
        marked = changed[rect.top() : rect.bottom() + 1, rect.left() : rect.right() + 1]
        wanted = link.rows(head.kind)
        for row in range(count):
            top = round(row * rect.height() / count)
            if row in wanted:
                assert marked[max(0, top - 1)].any()
            elif not {row - 1, row, row + 1} & set(wanted):
                assert not marked[top + 1].any()
    session.point(None)
    assert (pixels(heads_map.viewport()) == before).all()


def test_pointing_never_draws_the_atlas_anew(session, heads_map) -> None:
    heads_map.viewport().repaint()
    atlas = heads_map._atlas
    session.point(Place("source", 2))
    heads_map.viewport().repaint()
    assert heads_map._atlas is atlas


@pytest.fixture
def with_gaps(session: Session, heads_map: AtlasView, trace: Trace) -> AtlasView:
    """Of the encoder 1.1 and 1.3 are pruned, and of the decoder the whole second layer."""
    kept = {E: ((1,), (0, 1, 2)), D: ((0, 1), (), (0, 1))}
    attention = {
        kind: replace(of_kind, kept=kept[kind]) if kind in kept else of_kind  # type: ignore[type-var]
        for kind, of_kind in trace.attention.items()
    }
    session.set_trace(replace(trace, attention=attention))
    return heads_map


def test_a_pruned_head_is_neither_shown_nor_selected(
    qtbot: QtBot, session: Session, with_gaps: AtlasView
) -> None:
    assert selected(session) == Head(E, 0, 1), "the nearest to the first"
    gap = with_gaps._layout.gaps[Head(E, 0, 2)].center()
    qtbot.mouseClick(with_gaps.viewport(), Qt.MouseButton.LeftButton, pos=gap)
    assert selected(session) == Head(E, 0, 1)
    assert with_gaps.explanation(gap) == (
        "Encoder self · layer 1 · head 3 was pruned from this model"
    )
    session.select(kind=D, layer=1, head=1)
    assert selected(session) == Head(D, 0, 1)


@pytest.mark.parametrize(
    ("start", "key", "end"),
    [
        (Head(E, 0, 1), Qt.Key.Key_Right, Head(E, 1, 0)),
        (Head(E, 1, 2), Qt.Key.Key_Up, Head(E, 0, 1)),
        (Head(D, 0, 1), Qt.Key.Key_Down, Head(D, 2, 1)),
        (Head(D, 2, 0), Qt.Key.Key_Up, Head(D, 0, 0)),
        (Head(C, 2, 1), Qt.Key.Key_PageUp, Head(D, 2, 1)),
    ],
)
def test_keys_go_past_pruned_heads(
    qtbot: QtBot, session: Session, with_gaps: AtlasView, start: Head, key: Qt.Key, end: Head
) -> None:
    session.select(kind=start.kind, layer=start.layer, head=start.head)
    qtbot.keyClick(with_gaps, key)
    assert selected(session) == end


def title_notes(heads_map: AtlasView) -> tuple[str, ...]:
    return heads_map._notes(None)


def test_the_tiles_are_norms_where_these_are_chosen(session, heads_map: AtlasView) -> None:
    weights = dict(heads_map._tiles.codes)
    assert not any("weights" in note for note in title_notes(heads_map))
    session.change_options(quantity=Quantity.NORM)
    found = heads_map._tiles.found
    assert found.quantity is Quantity.NORM
    assert all("norms" in note for note in title_notes(heads_map))
    for kind in (E, D, C):
        heads = [head for head in heads_map._layout if head.kind is kind]
        largest = max(heads, key=lambda head: found.trace.weights(*head).max())
        assert heads_map._tiles.codes[largest].max() == 255, "of its kind"
        (other, *_rest) = (head for head in heads if head != largest)
        part = found.trace.weights(*other).max() / found.trace.weights(*largest).max()
        assert heads_map._tiles.codes[other].max() == pytest.approx(1 + 254 * part, abs=1)
    session.change_options(quantity=Quantity.ALTI)
    assert all("weights" in note for note in title_notes(heads_map)), "it has none of each head"
    assert all((heads_map._tiles.codes[head] == weights[head]).all() for head in weights)


def test_tiles_stay_while_norms_are_on_their_way(session, make_trace, show) -> None:
    answers = Answers()
    heads_map = show(picture(session, answers), 300, 700)
    session.change_options(quantity=Quantity.NORM)
    before = heads_map._tiles.codes
    answers.held = True
    session.set_trace(make_trace(encoder=(1,)))
    assert heads_map._tiles.codes is before
    heads_map.grab()  # with tiles of heads that are gone
    answers.release()
    assert set(heads_map._tiles.codes) == set(heads_map._layout)
