from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.session import Session
from transformer_viz.theme import DARK
from transformer_viz.views import heads_map as heads_map_module
from transformer_viz.views.heads_map import HeadsMap

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS


@pytest.fixture
def heads_map(session: Session, show) -> HeadsMap:
    return show(HeadsMap(session), 300, 700)


def selected(session: Session) -> Head:
    selection = session.selection
    return Head(selection.kind, selection.layer, selection.head)


def center(heads_map: HeadsMap, head: Head) -> QPoint:
    return heads_map._layout.rect(head).center() - heads_map._offset()


@pytest.mark.parametrize("head", [Head(E, 1, 2), Head(D, 2, 0), Head(C, 0, 1)])
def test_a_click_selects_the_head(qtbot: QtBot, session, heads_map: HeadsMap, head: Head) -> None:
    qtbot.mouseClick(heads_map.viewport(), Qt.MouseButton.LeftButton, pos=center(heads_map, head))
    assert selected(session) == head


def test_a_click_beside_the_tiles_changes_nothing(qtbot, session, heads_map: HeadsMap) -> None:
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
    qtbot, session, heads_map: HeadsMap, start: Head, key: Qt.Key, end: Head
) -> None:
    session.select(kind=start.kind, layer=start.layer, head=start.head)
    qtbot.keyClick(heads_map, key)
    assert selected(session) == end


def test_control_goes_to_the_ends_of_the_map(qtbot, session, heads_map: HeadsMap) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(heads_map, Qt.Key.Key_End, control)
    assert selected(session) == Head(C, 2, 1)
    qtbot.keyClick(heads_map, Qt.Key.Key_Home, control)
    assert selected(session) == Head(E, 0, 0)


def test_the_tooltip_names_the_head(qtbot, session, heads_map: HeadsMap) -> None:
    point = center(heads_map, Head(E, 1, 2))
    event = QHelpEvent(QHelpEvent.Type.ToolTip, point, heads_map.viewport().mapToGlobal(point))
    QApplication.sendEvent(heads_map.viewport(), event)
    assert "Encoder self · layer 2 · head 3" in QToolTip.text()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_a_screen_reader_hears_the_head(session, heads_map: HeadsMap) -> None:
    assert heads_map.accessibleName() == "Heads map"
    session.select(kind=D, layer=1, head=1)
    assert heads_map.accessibleDescription() == "Decoder self · layer 2 · head 2"


def test_the_selected_head_is_framed(session, heads_map: HeadsMap, pixels) -> None:
    def near(head: Head) -> bytes:
        around = heads_map._layout.rect(head).adjusted(-2, -2, 2, 2)
        return pixels(heads_map.viewport(), around).tobytes()

    heads_map.clearFocus()
    before = near(Head(E, 1, 1))
    session.select(kind=E, layer=1, head=1)
    assert near(Head(E, 1, 1)) != before


def test_focus_is_visible(qtbot, session, heads_map: HeadsMap, pixels) -> None:
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
    heads_map = show(HeadsMap(session), 260, 300)
    for head in (Head(C, 11, 15), Head(E, 0, 0), Head(D, 6, 8)):
        session.select(kind=head.kind, layer=head.layer, head=head.head)
        tile = heads_map._layout.rect(head).translated(-heads_map._offset())
        assert heads_map.viewport().rect().contains(tile)
        neighbour = head._replace(head=head.head + (1 if head.head < 15 else -1))
        qtbot.mouseClick(
            heads_map.viewport(), Qt.MouseButton.LeftButton, pos=center(heads_map, neighbour)
        )
        assert selected(session) == neighbour


def test_a_selected_tile_in_sight_does_not_scroll(session, heads_map: HeadsMap) -> None:
    heads_map.resize(300, 300)
    session.select(kind=E, layer=0, head=0)
    session.select(kind=E, layer=1, head=0)
    assert heads_map.verticalScrollBar().value() == 0


def test_no_trace_is_said_and_keys_are_left_alone(qtbot, show, pixels) -> None:
    session = Session()
    heads_map = show(HeadsMap(session), 300, 300)
    assert "Nothing" in heads_map.accessibleDescription()
    qtbot.keyClick(heads_map, Qt.Key.Key_Right)
    qtbot.mouseClick(heads_map.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, 60))
    assert len(set(pixels(heads_map.viewport()).reshape(-1, 4).sum(axis=1))) > 1, "a line of text"


def test_an_encoder_alone_has_one_section(make_trace, show) -> None:
    full = make_trace()
    alone = Trace(source_tokens=full.source_tokens, attention={E: full.attention[E]})
    session = Session()
    session.set_trace(alone)
    heads_map = show(HeadsMap(session), 300, 300)
    assert [section.kind for section in heads_map._layout.sections] == [E]


def test_themes_and_maps_change_the_picture(heads_map: HeadsMap, pixels) -> None:
    pictures = [pixels(heads_map.viewport()).tobytes()]
    heads_map.set_color_map("magma")
    pictures.append(pixels(heads_map.viewport()).tobytes())
    heads_map.apply_theme(DARK)
    pictures.append(pixels(heads_map.viewport()).tobytes())
    assert len(set(pictures)) == 3


def test_the_picture_is_drawn_once_and_painted_often(session, heads_map: HeadsMap) -> None:
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
    at_once = show(HeadsMap(session), 300, 700)
    session.set_trace(trace)
    complete = pixels(at_once.viewport())
    monkeypatch.setattr(heads_map_module, "INLINE_CELLS", 0)
    bit_by_bit = show(HeadsMap(session), 300, 700)
    assert len(bit_by_bit._tiles) == 0
    at_once.clearFocus()
    bit_by_bit.clearFocus()
    qtbot.waitUntil(lambda: not bit_by_bit._stream.running)
    assert (pixels(bit_by_bit.viewport()) == pixels(at_once.viewport())).all()
    assert complete.shape == pixels(bit_by_bit.viewport()).shape


def test_another_trace_replaces_one_that_is_still_filling_in(
    qtbot, make_trace, show, monkeypatch
) -> None:
    monkeypatch.setattr(heads_map_module, "INLINE_CELLS", 0)
    session = Session()
    heads_map = show(HeadsMap(session), 300, 700)
    session.set_trace(make_trace(encoder=(4, 4, 4, 4)))
    session.set_trace(make_trace("▁One ▁word </s>", encoder=(1,)))
    qtbot.waitUntil(lambda: not heads_map._stream.running)
    assert set(heads_map._tiles) == set(heads_map._layout)
    assert heads_map._tiles[Head(E, 0, 0)].shape == (3, 3)


def test_a_short_text_after_a_long_one_stays_alone(qtbot, make_trace, show, monkeypatch) -> None:
    session = Session()
    heads_map = show(HeadsMap(session), 300, 700)
    monkeypatch.setattr(heads_map_module, "INLINE_CELLS", 0)
    session.set_trace(make_trace(encoder=(4, 4, 4, 4)))
    monkeypatch.undo()
    session.set_trace(make_trace("▁One ▁word </s>", encoder=(1,)))
    qtbot.wait(60)
    assert set(heads_map._tiles) == set(heads_map._layout)
    assert heads_map._tiles[Head(E, 0, 0)].shape == (3, 3)
