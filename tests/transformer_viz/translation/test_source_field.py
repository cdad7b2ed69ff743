from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QHelpEvent, QKeySequence, QShortcut, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QToolTip, QWidget

from core.text.passage import Passage
from core.text.sentences import Span
from core.trace.trace import AttentionKind, Trace
from transformer_viz.drawing.shading import shaded
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.state.linking import Place
from transformer_viz.state.session import MAX_CHARACTERS, Session
from transformer_viz.translation.doubts import SourceDoubt, SourceMark
from transformer_viz.translation.growing_text import clean, role_of, utf16_offsets
from transformer_viz.translation.source_field import SourceField
from transformer_viz.widgets.spotlight import Spotlight


def made(session: Session) -> SourceField:
    return SourceField(session, Spotlight(session, session))


@pytest.fixture
def field(show) -> SourceField:
    return show(made(Session()), 500, 60)


@pytest.fixture
def edits(field: SourceField) -> list[str]:
    heard: list[str] = []
    field.textEdited.connect(heard.append)
    return heard


def underlined(field: SourceField) -> list[str]:
    return [s.cursor.selectedText() for s in field.editor.extraSelections()]


def doubt(
    field: SourceField,
    spans: list[tuple[int, int]],
    kind: SourceDoubt = SourceDoubt.UNSEEN,
    about: str = "",
) -> None:
    field.show_doubts([SourceMark(start, end, kind, about) for start, end in spans])


def test_typing_is_heard_key_by_key_and_setting_is_not(qtbot, field, edits) -> None:
    field.set_text("It was ")
    assert edits == []
    field.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(field.editor, "ti")
    assert edits == ["It was t", "It was ti"]
    assert field.text() == "It was ti"


def test_enter_submits_and_shift_enter_breaks_the_line(qtbot, field) -> None:
    field.set_text("One")
    field.editor.moveCursor(QTextCursor.MoveOperation.End)
    with qtbot.waitSignal(field.submitted) as submitted:
        qtbot.keyClick(field.editor, Qt.Key.Key_Return)
    assert submitted.args == ["One"]
    qtbot.keyClick(field.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(field.editor, "Two")
    assert field.text() == "One\nTwo"


@pytest.mark.parametrize("keys", [QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo])
def test_undo_and_redo_are_left_to_the_window(qtbot, field, edits, keys) -> None:
    heard: list[str] = []
    QShortcut(QKeySequence(keys), field, lambda: heard.append("window"))
    field.set_text("The first.")
    field.set_text("The second.")
    field.show()
    field.editor.setFocus()
    qtbot.keySequence(field.editor, QKeySequence(keys))
    assert heard == ["window"]
    assert (field.text(), edits) == ("The second.", [])


@pytest.mark.parametrize(
    ("before", "after", "cursor"),
    [
        ("The cat slept.", "The old cat slept.", "The old "),
        ("The cat slept.", "The slept.", "The "),
        ("aaa", "aaaa", "aaaa"),
        ("a 😀 b", "a 🎉😀 b", "a 🎉"),
        ("", "all new", "all new"),
    ],
)
def test_a_text_that_is_set_changes_only_what_differs(field, before, after, cursor) -> None:
    field.set_text(before)
    field.set_text(after)
    assert field.text() == after
    place = field.editor.textCursor()
    place.movePosition(QTextCursor.MoveOperation.Start, QTextCursor.MoveMode.KeepAnchor)
    assert place.selectedText() == cursor


# Unknown words


def test_spans_count_characters_whatever_qt_counts(field) -> None:
    text = "a 😀😀 dragon\nslept 🎉 zzyzx"
    field.set_text(text)
    spans = [(text.index(word), text.index(word) + len(word)) for word in ("dragon", "zzyzx")]
    doubt(field, spans)
    assert underlined(field) == ["dragon", "zzyzx"]


def test_marks_move_with_the_words(qtbot, field) -> None:
    field.set_text("the zzyzx slept")
    doubt(field, [(4, 9)])
    field.editor.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.keyClicks(field.editor, "oh ")
    assert underlined(field) == ["zzyzx"]


def test_marks_are_seen_in_the_colour_of_the_theme(field, pixels) -> None:
    field.set_text("zzyzx")
    plain = pixels(field)
    doubt(field, [(0, 5)])
    marked = pixels(field)
    assert (plain != marked).any()
    field.apply_theme(DARK)
    (selection,) = field.editor.extraSelections()
    assert selection.format.underlineColor() == DARK.color("warning") != LIGHT.color("warning")


def test_spans_of_an_older_longer_text_do_no_harm(field) -> None:
    field.set_text("ab")
    doubt(field, [(1, 50), (30, 40)])
    assert underlined(field) == ["b", ""]


@given(st.text(max_size=50))
def test_offsets_agree_with_utf_16(text: str) -> None:
    expected = [
        len(text[:i].encode("utf-16-le", "surrogatepass")) // 2 for i in range(len(text) + 1)
    ]
    assert utf16_offsets(text) == expected


# History


def test_up_and_down_walk_the_history_and_come_back_to_the_draft(qtbot, field, edits) -> None:
    field.set_history(["newest", "older", "oldest"])
    field.set_text("draft")
    keys = [Qt.Key.Key_Up] * 4 + [Qt.Key.Key_Down] * 4
    for key in keys:
        qtbot.keyClick(field.editor, key)
    assert edits == ["newest", "older", "oldest", "older", "newest", "draft"]
    assert field.text() == "draft"


def test_what_is_shown_already_is_skipped(qtbot, field) -> None:
    field.set_history(["same", "other"])
    field.set_text("same")
    qtbot.keyClick(field.editor, Qt.Key.Key_Up)
    assert field.text() == "other"


def test_an_edit_starts_a_new_draft(qtbot, field) -> None:
    field.set_history(["newest", "older"])
    qtbot.keyClick(field.editor, Qt.Key.Key_Up)
    field.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(field.editor, "!")
    qtbot.keyClick(field.editor, Qt.Key.Key_Up)
    assert field.text() == "newest"
    qtbot.keyClick(field.editor, Qt.Key.Key_Down)
    assert field.text() == "newest!"


def test_inside_a_text_of_several_lines_up_is_a_line_up(qtbot, field) -> None:
    field.set_history(["newest"])
    field.set_text("one\ntwo")
    field.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClick(field.editor, Qt.Key.Key_Up)
    assert field.text() == "one\ntwo"
    qtbot.keyClick(field.editor, Qt.Key.Key_Up)
    assert field.text() == "newest"


# Size and limit


def test_it_grows_from_one_line_to_three_and_then_scrolls(qtbot, field) -> None:
    heights, hidden = [], []
    for lines in (1, 2, 3, 4, 1):
        field.set_text("\n".join("x" * lines))
        qtbot.wait(1)
        heights.append(field.editor.height())
        hidden.append(field.editor.verticalScrollBar().maximum())
    assert heights[0] < heights[1] < heights[2] == heights[3]
    assert heights[4] == heights[0]
    assert hidden == [0, 0, 0, 1, 0], "lines out of sight"


def test_a_long_line_wraps(qtbot, field) -> None:
    one = field.editor.height()
    field.set_text("word " * 30)
    qtbot.waitUntil(lambda: field.editor.height() > one)


def test_the_counter_shows_near_the_limit_only(field) -> None:
    assert not field.counter.isVisible()
    field.set_text("x" * int(0.9 * MAX_CHARACTERS))
    assert field.counter.isVisible()
    assert f"/ {MAX_CHARACTERS:,}" in field.counter.text()
    assert field.counter.property("role") == "soft"
    field.set_text("x" * (MAX_CHARACTERS + 1))
    assert field.counter.property("role") == "error"
    assert len(field.text()) == MAX_CHARACTERS + 1, "nothing is cut in silence"
    field.set_text("short")
    assert not field.counter.isVisible()


# What may be pasted


@pytest.mark.parametrize(
    ("pasted", "expected"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\u2028b\u2029c\x0bd", "a\nb\nc\nd"),
        ("nul\x00bell\x07", "nulbell"),
        ("<b>bold</b> &amp; </s>", "<b>bold</b> &amp; </s>"),
        ("שלום 😀 日本", "שלום 😀 日本"),
    ],
)
def test_pasted_text_is_plain_and_clean(field, edits, pasted: str, expected: str) -> None:
    data = QMimeData()
    data.setText(pasted)
    data.setHtml("<h1>not this</h1>")
    field.editor.insertFromMimeData(data)
    assert field.text() == expected
    assert edits == [expected]


def test_a_lone_surrogate_does_no_harm(field) -> None:
    field.set_text("a\ud800b")
    assert field.text()[0] == "a"
    doubt(field, [(1, 2)])


@given(st.text(max_size=60))
def test_clean_text_has_no_control_characters(text: str) -> None:
    cleaned = clean(text)
    assert not [c for c in cleaned if (c < " " and c not in "\n\t") or c == "\x7f"]
    assert clean(cleaned) == cleaned


def test_files_are_left_to_the_window(field) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/tmp/model.safetensors")])
    data.setText("/tmp/model.safetensors")
    assert not field.editor.canInsertFromMimeData(data)
    link = QMimeData()
    link.setUrls([QUrl("https://example.org")])
    link.setText("https://example.org")
    assert field.editor.canInsertFromMimeData(link)


def test_tab_moves_on(qtbot, show) -> None:
    window = QWidget()
    row = QHBoxLayout(window)
    field, button = made(Session()), QPushButton("next")
    row.addWidget(field)
    row.addWidget(button)
    show(window)
    field.setFocus()
    qtbot.waitUntil(field.editor.hasFocus)
    qtbot.keyClick(field.editor, Qt.Key.Key_Tab)
    assert button.hasFocus()
    assert field.text() == ""


def test_the_field_says_what_it_is_for(field) -> None:
    assert field.editor.accessibleName() == "English sentence"
    assert "English" in field.editor.placeholderText()


def test_it_opens_with_the_text_of_the_session(show) -> None:
    session = Session()
    session.set_text("It was tired.")
    assert show(made(session)).text() == "It was tired."


# Pointing at words

TEXT = "A 😀 it sees."
PIECES = [("▁A", 0, 1), ("▁😀", 1, 3), ("▁it", 3, 6), ("▁see", 6, 10), ("s", 10, 11), (".", 11, 12)]
ROW = [0.0, 0.25, 0.005, 0.6, 0.1, 0.0, 0.045]  # the last is </s>


@pytest.fixture
def lit(make_trace: Callable[..., Trace], show) -> SourceField:
    """A field whose words attend as `ROW` says, whichever is pointed at."""
    pieces = [piece for piece, _start, _end in PIECES]
    maps = np.tile(np.array(ROW), (1, 1, len(ROW), 1))
    trace = make_trace([*pieces, "</s>"], maps={AttentionKind.ENCODER_SELF: maps})
    places = [*(place[1:] for place in PIECES), (0, 0)]
    tokens = tuple(
        replace(token, start=start, end=end)
        for token, (start, end) in zip(trace.source_tokens, places, strict=True)
    )
    session = Session()
    session.set_text(TEXT)
    field = show(made(session), 500, 60)
    session.set_trace(replace(trace, source_tokens=tokens, text=TEXT))
    field.session = session
    return field


def shades(field: SourceField) -> dict[str, str]:
    return {
        one.cursor.selectedText(): one.format.background().color().name()
        for one in field.editor.extraSelections()
    }


def over(field: SourceField, character: int) -> QPoint:
    """The middle of a character."""
    edge = field.editor._edge(utf16_offsets(field.text())[character])
    after = field.editor._edge(utf16_offsets(field.text())[character + 1])
    return QPoint((edge.left() + after.left()) // 2, edge.center().y())


def test_words_are_shaded_by_the_weight_on_them(lit) -> None:
    lit.session.point(Place("source", 3))
    colors = {word: shaded(LIGHT, weight).name() for word, weight in (("😀", 0.25), ("see", 0.6))}
    assert shades(lit) == {**colors, "s": shaded(LIGHT, 0.1).name()}, "no shade for 0.005"
    lit.apply_theme(DARK)
    assert shades(lit)["see"] == shaded(DARK, 0.6).name()
    lit.session.point(None)
    assert shades(lit) == {}


@pytest.mark.parametrize(("character", "token"), [(0, 0), (2, 1), (4, 2), (7, 3), (10, 4), (11, 5)])
def test_the_word_under_the_pointer_is_pointed_at(qtbot, lit, character: int, token: int) -> None:
    qtbot.mouseMove(lit.editor.viewport(), over(lit, character))
    assert lit.session.pointed == Place("source", token)
    assert lit.session.hover == (token, None), "its row is previewed"
    QApplication.sendEvent(lit.editor, QEvent(QEvent.Type.Leave))
    assert lit.session.pointed is None


def test_beside_the_text_nothing_is_pointed_at(qtbot, lit) -> None:
    qtbot.mouseMove(lit.editor.viewport(), over(lit, 4))
    qtbot.mouseMove(lit.editor.viewport(), QPoint(400, 12))
    assert lit.session.pointed is None


def test_shades_and_unknown_marks_live_side_by_side(lit) -> None:
    doubt(lit, [(2, 3)])
    lit.session.point(Place("source", 3))
    lit.session.point(None)
    assert underlined(lit) == ["😀"]
    lit.session.point(Place("source", 3))
    doubt(lit, [])
    assert set(underlined(lit)) == {"😀", "see", "s"}


def test_while_typing_runs_ahead_shades_stay_with_their_words(qtbot, lit) -> None:
    lit.session.pin(3)
    before = shades(lit)
    lit.editor.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.keyClicks(lit.editor, "Oh ")
    assert shades(lit) == before
    qtbot.mouseMove(lit.editor.viewport(), over(lit, 7))
    assert lit.session.hover == (None, None), "these are not yet the words of the trace"


# Doubts


def looks(field: SourceField) -> set[tuple[str, bool, QTextCharFormat.UnderlineStyle]]:
    """The doubtful words: struck out or not, and how they are underlined."""
    return {
        (one.cursor.selectedText(), one.format.fontStrikeOut(), one.format.underlineStyle())
        for one in field.editor.extraSelections()
    }


def test_each_doubt_has_a_shape_of_its_own(lit) -> None:
    wave, dots, none = (
        getattr(QTextCharFormat.UnderlineStyle, name)
        for name in ("WaveUnderline", "DotLine", "NoUnderline")
    )
    marks = [SourceMark(2, 3, kind, "") for kind in SourceDoubt]
    lit.show_doubts(marks)
    assert looks(lit) == {("😀", False, wave), ("😀", False, dots), ("😀", True, none)}
    lit.apply_theme(DARK)
    assert looks(lit) == {("😀", False, wave), ("😀", False, dots), ("😀", True, none)}


def test_the_tooltip_of_a_word_says_all_of_it(qtbot, lit, monkeypatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, *_: said.append(text))
    rare = SourceMark(2, 3, SourceDoubt.RARE, "“😀” was rarely seen in training (7 times).")
    left = SourceMark(2, 3, SourceDoubt.UNTRANSLATED, "“😀” is left untranslated.")
    lit.show_doubts([rare, left])
    assert lit.editor.explanation(over(lit, 2)) == f"{rare.about}\n{left.about}"
    assert lit.editor.explanation(over(lit, 0)) == ""
    assert lit.editor.accessibleDescription() == f"{rare.about} {left.about}"
    lit.apply_theme(DARK)
    viewport = lit.editor.viewport()
    for character in (0, 2):
        point = over(lit, character)
        event = QHelpEvent(QEvent.Type.ToolTip, point, viewport.mapToGlobal(point))
        QApplication.sendEvent(viewport, event)
    (text,) = said
    assert "rarely seen in training (7 times)" in text


def test_marks_are_of_the_sentence_shown(lit) -> None:
    """The trace's text is one of several; the language token is in none."""
    text = f"First one. {TEXT}"
    lit.session.set_passage(Passage(text, (Span(0, 10), Span(11, len(text)))), 1)
    lit.set_text(text)
    doubt(lit, [(2, 3)])
    assert underlined(lit)[-1] == "😀"
    (mark,) = [one for one in lit.editor.extraSelections() if role_of(one) == SourceDoubt.UNSEEN]
    assert mark.cursor.selectionStart() == 13


def test_marks_wait_while_the_text_runs_ahead(lit) -> None:
    doubt(lit, [(2, 3)])
    lit.session.set_text(TEXT + " more")
    doubt(lit, [])
    assert underlined(lit) == ["😀"], "the old ones stay with their words"
