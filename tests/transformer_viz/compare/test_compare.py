from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.bundled import bundled_models
from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.conftest import SOURCE, TARGET
from tests.transformer_viz.stage import texts
from transformer_viz.compare import compare as compare_module
from transformer_viz.compare.compare import Compare
from transformer_viz.compare.compare_figure import MAP, NARROWEST
from transformer_viz.compare.compare_pictures import (
    NOTHING,
    Request,
    Shown,
    compare_pictures,
    names,
)
from transformer_viz.compare.compare_reading import read_place, read_rows
from transformer_viz.compare.comparison import Comparison, Sides
from transformer_viz.drawing.colormap import MASKED
from transformer_viz.drawing.diverging import ZERO, encode_signed
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import DARK
from transformer_viz.state.options import Scale, ViewOptions
from transformer_viz.state.session import ModelInfo, Phase, Session

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS
MakeTrace = Callable[..., Trace]
WIDE = SOURCE.replace("tired", "wide")
LONGER = SOURCE.replace("▁was ▁tired", "▁was ▁so ▁very ▁tired")
FIRST = ModelInfo("first", Path("first"), 2, 3, 3, 2, 8, 100)
OTHER = ModelInfo("other", Path("other"), 2, 3, 3, 2, 8, 100, vocabulary="other")


class InstantEngine:
    """Answers before `ask` returns: with `answers[text]`, a trace or a message, by the model of
    `models` that has the path."""

    def __init__(self) -> None:
        self.answers: dict[str, Trace | str] = {}
        self.models = {FIRST.path: FIRST, OTHER.path: OTHER}
        self.asked: list[tuple[Path, str]] = []

    def ask(self, lane: str, question, *, done, failed, progress) -> None:
        answer = question(self, None)
        if isinstance(answer, str):
            failed(answer)
        else:
            done(answer)

    def compare(self, path: Path, text: str, search: object, context: object):
        self.asked.append((path, text))
        answer = self.answers[text]
        return answer if isinstance(answer, str) else (self.models[path], answer)

    def cancel(self, lane: str) -> None:
        pass


@pytest.fixture
def engine(make_trace: MakeTrace) -> InstantEngine:
    made = InstantEngine()
    made.answers["wide"] = make_trace(WIDE, TARGET.replace("müde", "breit"), seed=1)
    made.answers["longer"] = make_trace(LONGER, seed=1)
    made.answers["broken"] = "This cannot be translated."
    return made


@pytest.fixture
def comparison(session: Session, engine: InstantEngine, trace: Trace) -> Comparison:
    session.set_model(FIRST)
    session.set_trace(None)
    made = Comparison(session, engine, session)  # type: ignore[arg-type]
    session.set_trace(trace)
    engine.answers[trace.text] = trace
    return made


@pytest.fixture
def view(session: Session, comparison: Comparison, show) -> Compare:
    return show(Compare(session, comparison))


def picture(view: Compare, shown: Shown) -> np.ndarray:
    assert view._shown is not None
    return view._shown.maps[shown].pyramid.levels[0]


def at(view: Compare, row: int, column: int) -> QPoint:
    return view.maps.canvas.cell_rect(row, column).center().toPoint()


def hover(qtbot: QtBot, view: Compare, row: int, column: int) -> None:
    QApplication.processEvents()  # layouts settle
    qtbot.mouseMove(view.maps.canvas, at(view, row, column) + QPoint(1, 1))
    qtbot.mouseMove(view.maps.canvas, at(view, row, column))


def sides(a: Trace, b: Trace, model_b: ModelInfo = FIRST) -> Sides:
    return Sides(a, b, FIRST, model_b)


def test_with_nothing_to_compare_it_says_what_to_do(view: Compare, qtbot: QtBot) -> None:
    assert view.start.isVisible()
    assert view._comparison.status.message.startswith("Type a second sentence")
    with qtbot.waitSignal(view._comparison.textWanted) as wanted:
        qtbot.mouseClick(view.start.pairs[0], Qt.MouseButton.LeftButton)
    assert "tired" in wanted.args[0]


def test_typing_a_second_sentence_compares_with_it(
    view: Compare, engine: InstantEngine, qtbot: QtBot
) -> None:
    engine.answers |= dict.fromkeys(("w", "wi", "wid"), engine.answers["wide"])
    qtbot.keyClicks(view.bar.text, "wide")
    assert engine.asked[-1] == (FIRST.path, "wide")
    assert view.maps.isVisible()
    assert view.translations.differing() == [("müde", "breit")]


def test_the_large_map_is_a_minus_b(
    view: Compare, trace: Trace, engine: InstantEngine, session: Session
) -> None:
    view._comparison.choose_text("wide")
    for kind in (E, D, C):
        session.select(kind=kind, layer=1, head=1)
        a, b = trace.weights(kind, 1, 1), engine.answers["wide"].weights(kind, 1, 1)
        expected = encode_signed(a - b, 1.0, trace.allowed(kind))
        assert (picture(view, Shown.MINUS) == expected).all()
    assert view.maps.canvas.picture is view._shown.minus


def test_colours_range_over_one_or_the_largest_difference(view: Compare, qtbot: QtBot) -> None:
    view._comparison.choose_text("wide")
    assert view._shown.minus.legend.caption == ("A − B", "absolute ±1")
    qtbot.mouseClick(view.controls.ranges[False], Qt.MouseButton.LeftButton)
    largest = np.abs(view._shown.difference.values).max()
    assert dict(view._shown.minus.legend.ticks)[1] == f"+{largest:.3g}"
    assert {1, 255} & set(picture(view, Shown.MINUS).ravel().tolist())


def test_one_of_three_maps_is_large(view: Compare, qtbot: QtBot) -> None:
    view._comparison.choose_text("wide")
    for shown in (Shown.A, Shown.B, Shown.MINUS):
        qtbot.mouseClick(view.controls.maps[shown], Qt.MouseButton.LeftButton)
        assert view.maps.canvas.picture is view._shown.maps[shown]
        others = [one.shown for one in view.maps.small]
        assert others == [one for one in Shown if one is not shown]
    qtbot.mouseDClick(view.maps.small[0].map, Qt.MouseButton.LeftButton)
    qtbot.mouseRelease(view.maps.small[0].map, Qt.MouseButton.LeftButton)
    assert view.controls.large is Shown.A


def test_pointing_reads_both_sides_and_marks_all_maps(
    view: Compare, trace: Trace, engine: InstantEngine, session: Session, qtbot: QtBot
) -> None:
    view._comparison.choose_text("wide")
    hover(qtbot, view, 4, 1)
    assert session.hover == (4, 1)
    a = trace.weights(E, 0, 0)[4, 1]
    b = engine.answers["wide"].weights(E, 0, 0)[4, 1]
    said = view.maps.canvas.accessibleDescription()
    assert f"it → animal: A {a:.4f}, B {b:.4f}" in said
    assert f"A − B {a - b:+.4f}".replace("-", "−") in said
    assert view.maps.readout.isVisible()
    assert all(one.map._marks.focus == (4, 1) for one in view.maps.small)
    qtbot.mouseMove(view.bar.swap)
    view.maps.cellHovered.emit(None, None)
    assert not view.maps.readout.isVisible()


def test_pointing_at_a_small_map_does_the_same(
    view: Compare, session: Session, qtbot: QtBot
) -> None:
    view._comparison.choose_text("wide")
    small = view.maps.small[1].map
    layout = small.layout_now(view._shown.maps[Shown.B])
    qtbot.mouseMove(small, layout.cell_rect(2, 3).center().toPoint())
    assert session.hover == (2, 3)
    qtbot.mouseClick(
        small, Qt.MouseButton.LeftButton, pos=layout.cell_rect(2, 3).center().toPoint()
    )
    assert session.selection.pinned == ((2, 3),)


def test_a_click_pins_and_a_second_one_releases(
    view: Compare, session: Session, qtbot: QtBot
) -> None:
    view._comparison.choose_text("wide")
    canvas, left = view.maps.canvas, Qt.MouseButton.LeftButton
    qtbot.mouseClick(canvas, left, pos=at(view, 4, 1))
    qtbot.mouseClick(canvas, left, Qt.KeyboardModifier.ControlModifier, at(view, 4, 2))
    assert session.selection.pinned == ((4, 1), (4, 2))
    qtbot.mouseClick(canvas, left, Qt.KeyboardModifier.ControlModifier, at(view, 4, 1))
    assert session.selection.pinned == ((4, 2),)
    qtbot.mouseClick(canvas, left, pos=at(view, 4, 2))
    assert session.selection.pinned == ()


def test_what_one_side_lacks_is_hatched_and_never_zero(
    view: Compare, session: Session, qtbot: QtBot
) -> None:
    """B: … was so very tired. Both "so" and "very" are gaps of A."""
    view._comparison.choose_text("longer")
    gaps = view._shown.axes.columns.first == -1
    assert gaps.tolist() == [False] * 6 + [True, True] + [False] * 3
    minus = picture(view, Shown.MINUS)
    assert (minus[gaps] == MASKED).all()
    assert (minus[:, gaps] == MASKED).all()
    assert (minus[~gaps][:, ~gaps] != MASKED).all()
    assert (picture(view, Shown.A)[:, gaps] == MASKED).all()
    assert (picture(view, Shown.B) != MASKED).all()
    assert view._shown.maps[Shown.A].columns[6] is NOTHING
    assert [token.label for token in view._shown.minus.columns[5:9]] == [
        "was",
        "so",
        "very",
        "tired",
    ]
    hover(qtbot, view, 6, 7)
    assert session.hover == (None, None)
    assert "A missing" in view.maps.canvas.accessibleDescription()
    qtbot.mouseClick(view.maps.canvas, Qt.MouseButton.LeftButton, pos=at(view, 4, 7))
    assert session.selection.pinned == (), "A has no such cell to pin"
    session.pin(8, 8)
    assert view.maps.small[0].map._marks.pins == ((10, 10),), "pins lie on their tokens"


def test_the_keyboard_moves_pins_and_releases(
    view: Compare, session: Session, qtbot: QtBot
) -> None:
    view._comparison.choose_text("longer")
    canvas = view.maps.canvas
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right):
        qtbot.keyClick(canvas, key)
    assert session.hover == (1, 1)
    qtbot.keyClick(canvas, Qt.Key.Key_Return)
    assert session.selection.pinned == ((1, 1),)
    for _ in range(6):
        qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert session.hover == (1, None), "past what only B has"
    for _ in range(9):
        qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert session.hover == (1, 8), "at the end"
    fitted = canvas.cell
    qtbot.keyClick(canvas, Qt.Key.Key_Plus)
    assert canvas.cell > fitted
    qtbot.keyClick(canvas, Qt.Key.Key_0)
    assert canvas.cell == fitted
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert session.hover == (None, None)
    assert session.selection.pinned == ()


def test_another_view_s_pointer_takes_over(view: Compare, session: Session, qtbot: QtBot) -> None:
    view._comparison.choose_text("wide")
    hover(qtbot, view, 4, 1)
    session.set_hover(2, None)
    assert view.maps.small[0].map._marks.focus == (2, None)


def test_it_says_on_which_side_heads_are_off(
    view: Compare, session: Session, engine: InstantEngine, trace: Trace
) -> None:
    off, half = {Head(E, 0, 1): 0.0}, {Head(E, 0, 1): 0.5}
    wide = engine.answers["wide"]
    for gates_a, gates_b, said in (
        (off, {}, "Heads off, scaled or even in A only"),
        ({}, off, "Heads off, scaled or even in B only"),
        (off, half, "Heads off, scaled or even in A and B, differently"),
        (off, off, ""),
    ):
        engine.answers["wide"] = replace(wide, gates=gates_b)
        session.set_trace(replace(trace, gates=gates_a))
        view._comparison.choose_text(None)
        view._comparison.choose_text("wide")
        assert view._state.text() == said


def test_models_of_different_vocabularies_are_compared_by_words(
    view: Compare, session: Session, trace: Trace, qtbot: QtBot
) -> None:
    session.select(kind=D)
    view._comparison.choose_model(OTHER.path)
    words = [token.label for token in view._shown.minus.columns]
    assert "schlief" in words
    assert not np.isnan(view._shown.difference.row_distances).any()
    assert (picture(view, Shown.MINUS)[np.tri(len(words), dtype=bool)] == ZERO).all()
    assert view._state.text() == "Compared by words"
    hover(qtbot, view, words.index("schlief"), 1)
    assert session.hover == (4, 1), "a word's last piece stands for it"


def test_the_head_of_another_model_is_chosen_apart(
    view: Compare, session: Session, qtbot: QtBot
) -> None:
    view._comparison.choose_text("wide")
    assert not view.controls.layer.isVisible()
    view._comparison.choose_model(OTHER.path)
    assert view.controls.layer.isVisible()
    session.select(layer=1, head=2)
    assert view._shown.request.b == Head(E, 1, 2)
    qtbot.keyClick(view.controls.head, Qt.Key.Key_Down)
    assert view._shown.request.b == Head(E, 1, 1)
    assert view._shown.names[Shown.B] == "B · other 2.2"


def test_a_failure_leaves_the_last_comparison(view: Compare) -> None:
    view._comparison.choose_text("wide")
    shown = view._shown
    view._comparison.choose_text("broken")
    assert view._error.isVisible()
    assert view._error.text() == "⚠ This cannot be translated."
    assert view._shown is shown
    view._comparison.choose_text("wide")
    assert not view._error.isVisible()


def test_it_follows_the_options(view: Compare, session: Session) -> None:
    view._comparison.choose_text("wide")
    session.change_options(hide_specials=True, merge_words=True)
    assert "</s>" not in [token.label for token in view._shown.minus.rows]
    session.change_options(scale=Scale.HEAD)
    a, b = picture(view, Shown.A), picture(view, Shown.B)
    assert max(a.max(), b.max()) == 255
    assert min(a.max(), b.max()) < 255, "one scale for both"


def test_only_specials_and_these_hidden(
    view: Compare, session: Session, engine: InstantEngine, make_trace: MakeTrace
) -> None:
    engine.answers["nothing"] = make_trace("</s>", "<s>")
    view._comparison.choose_text("nothing")
    session.change_options(hide_specials=True)
    assert view.start.isVisible()


def test_an_outdated_comparison_points_at_nothing(
    view: Compare, session: Session, make_trace: MakeTrace, qtbot: QtBot
) -> None:
    view._comparison.choose_text("wide")
    view._comparison.choose_text("broken")
    session.set_trace(make_trace("▁short </s>"))
    hover(qtbot, view, 4, 6)
    assert session.hover == (None, None)
    assert view.maps.readout.isVisible(), "it still reads what it shows"
    qtbot.mouseClick(view.maps.canvas, Qt.MouseButton.LeftButton, pos=at(view, 4, 6))
    assert session.selection.pinned == ()


def test_a_large_map_is_made_beside_the_event_loop(
    view: Compare, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(compare_module, "INLINE_CELLS", 0)
    view._comparison.choose_text("wide")
    assert view._shown is None
    qtbot.waitUntil(lambda: view._shown is not None and view.maps.isVisible())


def test_it_asks_only_while_it_is_seen(view: Compare, engine: InstantEngine) -> None:
    view.hide()
    view._comparison.choose_text("wide")
    assert engine.asked == []
    view.show()
    assert view.maps.isVisible()


def test_choosing_the_model(view: Compare, engine: InstantEngine, qtbot: QtBot) -> None:
    menu = view.bar.model.menu()
    menu.aboutToShow.emit()
    engine.models |= dict.fromkeys(bundled_models(), OTHER)
    next(action for action in menu.actions() if action.text() == "gloss-en-de").trigger()
    assert view._comparison.path is not None
    assert view._comparison.path.stem == "gloss-en-de"
    assert view.bar.model.text() == "gloss-en-de"
    menu.aboutToShow.emit()
    menu.actions()[0].trigger()
    assert view._comparison.path is None


def test_the_bar_shows_what_b_is(view: Compare, session: Session) -> None:
    assert view.bar.text.placeholderText() == "Type a second sentence"
    assert not view.bar.swap.isEnabled()
    view._comparison.choose_text("wide")
    assert view.bar.text.text() == "wide"
    assert view.bar.swap.isEnabled()
    view.bar.text.clear()
    view.bar.text.textEdited.emit("")
    assert view._comparison.status.phase is Phase.EMPTY
    pair = view.bar.pairs.menu().actions()[0]
    assert pair.text().startswith("tired / wide")


def test_of_several_heads_the_current_one_is_compared(
    view: Compare, session: Session, trace: Trace, engine: InstantEngine
) -> None:
    view._comparison.choose_text("wide")
    session.select(kind=E, layer=1, head=2, others=((0, 0), (0, 1)))
    a, b = trace.weights(E, 1, 2), engine.answers["wide"].weights(E, 1, 2)
    assert (picture(view, Shown.MINUS) == encode_signed(a - b, 1.0, trace.allowed(E))).all()
    name = "layer 2 · head 3 (current head of 3 selected)"
    assert any(text.endswith(name) for text in texts(view))
    assert view._figure.title.endswith(name)
    assert "layer 2 · head 3" in view.export_name()
    assert "mean" not in view.export_name()


def test_its_figure_is_as_wide_as_the_room(view: Compare) -> None:
    view._comparison.choose_text("wide")
    view.set_export_room(QSize(1500, 0))
    assert view.export_size().width() == 1500
    view.set_export_room(QSize(300, 0))
    assert view.export_size().width() == 3 * NARROWEST  # smaller maps would have no cells
    view.set_export_room(QSize(0, 0))
    assert view.export_size().width() == 3 * MAP.width()


def test_it_paints_itself_for_a_file(view: Compare) -> None:
    view._comparison.choose_text("wide")
    view.apply_theme(DARK)
    size = view.export_size()
    image = QImage(size, QImage.Format.Format_RGB32)
    with QPainter(image) as painter:
        view.paint_export(painter, image.rect())
    shown = to_array(image)
    for third in np.array_split(shown, 3, axis=1):
        colors = np.unique(third[::2, ::2].reshape(-1, 4), axis=0)
        assert len(colors) > 20, "a map in each third"


def test_the_distance_of_rows_in_words(trace: Trace, make_trace: MakeTrace) -> None:
    def pictures(b: Trace):
        request = Request(sides(trace, b), Head(E, 0, 0), Head(E, 0, 0), ViewOptions(), True)
        made = compare_pictures(request)
        assert made is not None
        return made

    same = pictures(trace)
    assert read_rows(same, 4).endswith("0.00 on average · “it”: 0.00")
    assert read_place(same, 4, 1).weight == 0
    longer = pictures(make_trace(LONGER, seed=1))
    assert read_rows(longer, 6).endswith("“so”: on one side only")
    assert read_place(longer, 6, 1).weight is None


def test_names_say_what_differs(trace: Trace, make_trace: MakeTrace) -> None:
    head = Head(E, 0, 0)
    request = Request(sides(trace, make_trace(LONGER)), head, head, ViewOptions(), True)
    assert names(request) == {Shown.A: "A", Shown.B: "B · so very", Shown.MINUS: "A − B"}
    from_a_file = replace(request, sides=Sides(trace, trace, None, FIRST))
    assert names(from_a_file)[Shown.A] == "A · from a file 1.1"
    assert names(from_a_file)[Shown.B] == "B · first 1.1"
