"""The decoding view on a real model, by mouse and by keyboard."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from core.decoding.beam_tree import NodeStatus
from core.text.tokens import Token, TokenKind
from core.trace.trace import AttentionKind, Trace
from tests.transformer_viz.decoding.decoding_desk import Desk, desk, tiny_model
from transformer_viz.decoding.decoding import DecodingView
from transformer_viz.decoding.hypotheses_desk import FROM_A_FILE
from transformer_viz.decoding.prefix_chips import in_place_of
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.state.session import Search, Session
from transformer_viz.widgets.style import style_sheet

__all__ = ["desk", "tiny_model"]

LEFT, RIGHT = Qt.Key.Key_Left, Qt.Key.Key_Right


@pytest.fixture
def view(desk: Desk, show: Callable[..., QWidget]) -> Iterator[DecodingView]:
    view = DecodingView(desk.session, desk.decoding)
    view.apply_theme(LIGHT)
    show(view, 900, 640)
    view.setFocus()
    desk.wait(lambda: desk.decoding.candidates is not None)
    yield view
    view.hide()


def press(widget: QWidget, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(widget, key)


def click(widget: QWidget, point: QPoint | QPointF) -> None:
    at = point.toPoint() if isinstance(point, QPointF) else point
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)


def click_row(rows: QWidget, row: int) -> None:
    click(rows.viewport(), rows.row_rect(row).center())


def click_node(view: DecodingView, node: int) -> None:
    canvas = view.beam.canvas
    click(canvas.viewport(), canvas.box_of(node).center())


# The walk


def test_keys_step_jump_and_play(view: DecodingView, desk: Desk) -> None:
    walk = desk.decoding.walk
    press(view, Qt.Key.Key_Home)
    assert walk.step == 0
    press(view, RIGHT, RIGHT, RIGHT, LEFT)
    assert walk.step == 2
    assert desk.session.selection.query == 2
    assert view.transport.position.text() == f"step 3 of {walk.count}"
    press(view, Qt.Key.Key_End)
    assert walk.step == walk.count - 1
    press(view, Qt.Key.Key_Space)
    assert (walk.playing, walk.step) == (True, 0)
    assert view.transport.play.accessibleName() == "Pause"
    press(view, Qt.Key.Key_Space)
    assert not walk.playing


def test_escape_stops_and_releases_the_row(view: DecodingView, desk: Desk) -> None:
    press(view, Qt.Key.Key_Home, Qt.Key.Key_Space)
    press(view, Qt.Key.Key_Escape)
    assert not desk.decoding.walk.playing
    assert desk.session.selection.query is None
    assert desk.decoding.walk.step == 0


def test_buttons_step_and_know_the_ends(view: DecodingView, desk: Desk) -> None:
    transport, walk = view.transport, desk.decoding.walk
    click(transport.first, transport.first.rect().center())
    assert walk.step == 0
    assert not transport.back.isEnabled()
    assert transport.forward.isEnabled()
    click(transport.forward, transport.forward.rect().center())
    assert walk.step == 1
    click(transport.back, transport.back.rect().center())
    click(transport.last, transport.last.rect().center())
    assert walk.step == walk.count - 1
    assert not transport.forward.isEnabled()
    click(transport.play, transport.play.rect().center())
    assert walk.playing


def test_the_speed_is_a_choice(view: DecodingView, desk: Desk) -> None:
    view.transport.speed.setFocus()
    press(view.transport.speed, Qt.Key.Key_Down)
    assert desk.decoding.walk.speed == 2.0


def test_nothing_plays_or_is_computed_out_of_sight(view: DecodingView, desk: Desk) -> None:
    press(view, Qt.Key.Key_Home, Qt.Key.Key_Space)
    view.hide()
    assert not desk.decoding.walk.playing
    desk.translate("The dog slept.")
    desk.qtbot.wait(50)
    assert desk.decoding.candidates is None
    view.show()
    desk.wait(lambda: desk.decoding.candidates is not None)


# The pictures of a step


def test_a_click_on_a_row_or_a_token_goes_to_its_step(view: DecodingView, desk: Desk) -> None:
    matrix, walk = view.steps.matrix, desk.decoding.walk
    matrix.grab()
    assert matrix.grid is not None
    click(matrix, matrix.grid.row_rect(3).center())
    assert walk.step == 3
    click(view.prefix.viewport(), view.prefix.rect_of(1).center())
    assert walk.step == 1


def test_the_map_grows_row_by_row(
    view: DecodingView, desk: Desk, trace: Trace, pixels: Callable[..., np.ndarray]
) -> None:
    matrix = view.steps.matrix
    desk.session.set_trace(trace)
    desk.decoding.walk.go_to(2)
    before = pixels(matrix)
    assert matrix.grid is not None
    rows = [matrix.grid.row_rect(row).adjusted(3, 3, -3, -3).toRect() for row in range(6)]

    def part(picture: np.ndarray, rect: QRect) -> np.ndarray:
        return picture[rect.top() : rect.bottom(), rect.left() : rect.right()]

    def colors(picture: np.ndarray, row: int) -> int:
        return len(np.unique(part(picture, rows[row]).reshape(-1, 4), axis=0))

    assert colors(before, 2) > 2  # weights and hatching
    assert colors(before, 4) == 1  # nothing there yet
    desk.decoding.walk.go_to(5)
    after = pixels(matrix)
    assert (part(before, rows[1]) == part(after, rows[1])).all()
    assert colors(after, 4) > 2


def test_the_cross_row_is_that_of_the_step_and_of_the_selected_head(
    view: DecodingView, desk: Desk
) -> None:
    desk.session.select(kind=AttentionKind.CROSS, layer=1, head=2)
    desk.decoding.walk.go_to(2)
    trace = desk.session.trace
    assert trace is not None
    weights = trace.row(AttentionKind.CROSS, 1, 2, 2)
    heaviest = int(weights.argmax())
    words = view.source.chips.accessibleDescription()
    assert words.startswith("Cross-attention · layer 2 · head 3: ")
    assert f"{weights[heaviest]:.3f}" in words
    assert view.source.chips.explanation(heaviest).endswith(f"weight {weights[heaviest]:.4f}")
    desk.session.select(kind=AttentionKind.DECODER_SELF)
    assert view.source.chips.accessibleDescription() == words  # cross keeps its last head


def test_without_a_selected_head_it_is_the_mean_of_the_last_layer(
    view: DecodingView, desk: Desk
) -> None:
    desk.session.select(kind=AttentionKind.ENCODER_SELF)
    title = view.steps._title.text()
    assert title == "Decoder self-attention · layer 3 · mean of 4 heads"


# Candidates, typed tokens, targets


def test_candidates_are_listed_with_the_one_taken(view: DecodingView, desk: Desk) -> None:
    desk.decoding.walk.go_to(1)
    rows = view.steps.side.candidates.rows
    own = desk.decoding.hypotheses[0]
    assert len(rows) == 8
    assert [row.taken for row in rows] == [row.token.id == own.ids[1] for row in rows]
    assert "taken" in view.steps.side.candidates.accessibleDescription()


def test_a_click_on_a_candidate_branches(view: DecodingView, desk: Desk) -> None:
    desk.decoding.walk.go_to(1)
    chosen = view.steps.side.candidates.rows[2].token.id
    click_row(view.steps.side.candidates, 2)
    desk.wait_for(2)
    assert desk.decoding.hypotheses[1].ids[1] == chosen
    assert view.steps.side.hypotheses.count == 2
    assert view.prefix.tokens == desk.decoding.hypotheses[1].trace.predicted_tokens


def test_arrows_and_enter_choose_a_candidate(view: DecodingView, desk: Desk) -> None:
    desk.decoding.walk.go_to(1)
    candidates = view.steps.side.candidates
    candidates.setFocus()
    press(candidates, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up)
    chosen = candidates.rows[1].token.id
    press(candidates, Qt.Key.Key_Return)
    desk.wait_for(2)
    assert desk.decoding.hypotheses[1].ids[1] == chosen
    press(candidates, RIGHT)  # keys that are not the list's are the view's
    assert desk.decoding.walk.step == 2


def test_a_token_is_typed(view: DecodingView, desk: Desk) -> None:
    desk.decoding.walk.go_to(1)
    typed = view.steps.side.typed
    typed.setFocus()
    QTest.keyClicks(typed, "Hund")
    press(typed, Qt.Key.Key_Return)
    desk.wait_for(2)
    branch = desk.decoding.hypotheses[1]
    pieces = branch.trace.predicted_tokens[1 : branch.given]
    assert "".join(token.piece for token in pieces) == "▁Hund"
    assert typed.text() == ""


def test_an_unknown_token_is_explained_in_place(view: DecodingView, desk: Desk) -> None:
    typed = view.steps.side.typed
    typed.setText("駅")
    press(typed, Qt.Key.Key_Return)
    desk.wait(lambda: bool(desk.decoding.problem))
    assert "not in this model's vocabulary" in view.steps.side._note.text()
    assert view.steps.side._note.isVisible()


def test_a_token_that_was_not_among_the_candidates_is_listed_below(
    view: DecodingView, desk: Desk
) -> None:
    target = view.steps.side.target
    target.setFocus()
    QTest.keyClicks(target, "Mein Hund schlief.")
    press(target, Qt.Key.Key_Return)
    desk.wait_for(2)
    desk.wait(lambda: desk.decoding.candidates is not None)
    active = desk.decoding.hypotheses[1]
    assert active.origin == "your own translation"
    assert active.trace.log_probabilities is not None
    steps = desk.decoding.candidates
    assert steps is not None
    step = next(
        step
        for step, id in enumerate(active.ids)
        if id not in [one.token.id for one in steps[step]]
    )
    desk.decoding.walk.go_to(step)
    last = view.steps.side.candidates.rows[-1]
    assert (last.taken, last.listed) == (True, False)
    assert last.log_probability == pytest.approx(float(active.trace.log_probabilities[step]))


@pytest.mark.parametrize("way", ["F2", "double-click"])
def test_a_token_of_the_prefix_is_replaced(view: DecodingView, desk: Desk, way: str) -> None:
    own, step = desk.decoding.hypotheses[0], 2
    desk.decoding.walk.go_to(step)
    if way == "F2":
        press(view, Qt.Key.Key_F2)
    else:
        at = view.prefix.rect_of(step).center().toPoint()
        none = Qt.KeyboardModifier.NoModifier
        QTest.mouseDClick(view.prefix.viewport(), Qt.MouseButton.LeftButton, none, at)
    editor = view.prefix.editor
    assert editor.isVisible()
    editor.selectAll()
    QTest.keyClicks(editor, "Hund")
    press(editor, Qt.Key.Key_Return)
    assert not editor.isVisible()
    desk.wait_for(2)
    branch = desk.decoding.hypotheses[1]
    assert branch.ids[:step] == own.ids[:step]
    pieces = branch.trace.predicted_tokens[step : branch.given]
    starts_word = own.trace.predicted_tokens[step].starts_word
    assert "".join(token.piece for token in pieces) == "▁" * starts_word + "Hund"


@pytest.mark.parametrize(
    ("token", "text", "expected"),
    [
        (Token("▁Tier"), "Hund", " Hund"),
        (Token("▁Tier"), ",", ","),
        (Token("lief"), "lafen", "lafen"),
        (Token("</s>", kind=TokenKind.SPECIAL), "und", " und"),
    ],
)
def test_what_replaces_a_token_starts_a_word_if_the_token_does(
    token: Token, text: str, expected: str
) -> None:
    assert in_place_of(token, text) == expected


def test_escape_leaves_the_editor_and_changes_nothing(view: DecodingView, desk: Desk) -> None:
    desk.decoding.walk.go_to(1)
    press(view, Qt.Key.Key_F2)
    press(view.prefix.editor, Qt.Key.Key_Escape)
    assert not view.prefix.editor.isVisible()
    assert view.hasFocus()
    assert desk.session.selection.query == 1
    assert not desk.decoding.asking


# The list of hypotheses


def test_hypotheses_are_shown_and_closed_by_mouse_and_key(view: DecodingView, desk: Desk) -> None:
    side = view.steps.side
    desk.decoding.walk.go_to(1)
    click_row(side.candidates, 2)
    desk.wait_for(2)
    click_row(side.hypotheses, 0)
    assert desk.decoding.active is desk.decoding.hypotheses[0]
    click(side.hypotheses.viewport(), side.hypotheses.close_rect(1).center())
    assert [one.number for one in desk.decoding.hypotheses] == [1]
    click_row(side.candidates, 3)
    desk.wait_for(2)
    side.hypotheses.setFocus()
    press(side.hypotheses, Qt.Key.Key_Up, Qt.Key.Key_Return)
    assert desk.decoding.active is desk.decoding.hypotheses[0]
    press(side.hypotheses, Qt.Key.Key_Down, Qt.Key.Key_Delete)
    assert [one.number for one in desk.decoding.hypotheses] == [1]
    press(side.hypotheses, Qt.Key.Key_Delete)
    assert len(desk.decoding.hypotheses) == 1  # the own translation stays


def test_the_figures_of_a_hypothesis(view: DecodingView, desk: Desk) -> None:
    words = view.steps.side.hypotheses.accessibleDescription()
    own = desk.decoding.hypotheses[0]
    assert own.log_probability is not None
    assert own.perplexity is not None
    score = own.score(0.6)
    assert score is not None
    assert f"log P −{-own.log_probability:.2f}" in words
    assert f"ppl {own.perplexity:.3g}" in words
    assert f"score −{-score:.2f}" in words
    assert "log P / ((5 + tokens) / 6)^0.6" in words


# The beam tree


@pytest.fixture
def tree_view(view: DecodingView, desk: Desk) -> DecodingView:
    click(view.tree_button, view.tree_button.rect().center())
    assert view.beam.grow.isVisible()  # greedy search: the tree is an offer
    assert view.beam.grow.text() == "Search with beam 4"
    click(view.beam.grow, view.beam.grow.rect().center())
    desk.wait(lambda: desk.decoding.tree is not None)
    view.beam.canvas.setFocus()
    return view


def test_with_beam_search_the_tree_grows_when_it_is_looked_at(
    desk: Desk, view: DecodingView
) -> None:
    desk.controller.change_settings(beam=3, beam_size=3)
    view.show_tree()
    desk.wait(lambda: desk.decoding.tree is not None)
    assert desk.decoding.tree is not None
    assert desk.decoding.tree.beam == 3


def test_the_open_tree_grows_with_the_beam_and_with_the_text(
    view: DecodingView, desk: Desk
) -> None:
    view.show_tree()
    assert view.beam.grow.isVisible()
    for beam in (3, 2):
        desk.controller.set_search(Search(beam))
        desk.wait(lambda beam=beam: getattr(desk.decoding.tree, "beam", None) == beam)
    before = desk.decoding.tree
    desk.translate("The street was too wide.")
    desk.wait(lambda: desk.decoding.tree not in (None, before))
    view.steps_button.click()
    desk.controller.set_search(Search(3))
    desk.wait(lambda: desk.decoding.tree is None)
    desk.wait(lambda: desk.decoding.candidates is not None)
    assert not desk.decoding.growing, "nobody looks at it"


def test_a_click_on_a_node_shows_its_attention(tree_view: DecodingView, desk: Desk) -> None:
    tree = desk.decoding.tree
    assert tree is not None
    node = next(i for i, one in enumerate(tree.nodes) if one.status is NodeStatus.PRUNED)
    click_node(tree_view, node)
    desk.wait_for(2)
    assert desk.decoding.hypotheses[1].ids == tree.ids(node)
    assert desk.session.trace is desk.decoding.hypotheses[1].trace
    assert len(tree_view.prefix.tokens) == tree.nodes[node].step + 1
    tree_view.steps_button.click()
    click(tree_view.steps.side.go_on, tree_view.steps.side.go_on.rect().center())
    desk.wait_for(3)
    assert desk.decoding.hypotheses[2].is_finished
    assert not tree_view.steps.side.go_on.isVisible()


def test_the_tree_is_walked_by_keys(tree_view: DecodingView, desk: Desk) -> None:
    canvas, tree = tree_view.beam.canvas, desk.decoding.tree
    assert tree is not None
    press(canvas, Qt.Key.Key_End)
    assert canvas.current == tree.winner
    assert "winner" in canvas.accessibleDescription()
    press(canvas, LEFT)
    assert canvas.current == tree.nodes[tree.winner].parent
    press(canvas, Qt.Key.Key_Home)
    first = canvas.current
    assert first is not None
    assert tree.nodes[first].parent is None
    press(canvas, Qt.Key.Key_Down)
    below = canvas.current
    assert below is not None
    assert tree.nodes[below].step == 0
    assert below != first
    press(canvas, Qt.Key.Key_Up, RIGHT)
    assert canvas.current in tree.children(first)
    chosen = canvas.current
    press(canvas, Qt.Key.Key_Return)
    desk.wait_for(2)
    assert chosen is not None
    assert desk.decoding.hypotheses[1].ids == tree.ids(chosen)


def test_pruned_hypotheses_can_be_left_out(tree_view: DecodingView, desk: Desk) -> None:
    tree, canvas = desk.decoding.tree, tree_view.beam.canvas
    assert tree is not None
    click(tree_view.beam.pruned, tree_view.beam.pruned.rect().center())
    for index, node in enumerate(tree.nodes):
        if node.status is NodeStatus.PRUNED:
            with pytest.raises(KeyError):
                canvas.box_of(index)
        else:
            canvas.box_of(index)


def test_the_tree_zooms(tree_view: DecodingView) -> None:
    canvas = tree_view.beam.canvas
    press(canvas, Qt.Key.Key_Plus)
    assert canvas.zoom == pytest.approx(1.25)
    press(canvas, Qt.Key.Key_Minus, Qt.Key.Key_Minus)
    assert canvas.zoom == pytest.approx(0.8)
    press(canvas, Qt.Key.Key_0)
    assert canvas.horizontalScrollBar().maximum() <= 1
    assert canvas.verticalScrollBar().maximum() <= 1


def test_the_formula_is_named(tree_view: DecodingView, desk: Desk) -> None:
    text = tree_view.beam._formula.text()
    assert "score = log P / ((5 + |Y|) / 6)^0.6" in text
    assert text.startswith("beam 4")


# For a file


def exported(view: DecodingView) -> tuple[np.ndarray, bytes]:
    """The picture as pixels, and as SVG."""
    image = QImage(view.export_size(), QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    with QPainter(image) as painter:
        view.paint_export(painter, image.rect())
    buffer = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(view.export_size())
    with QPainter(generator) as painter:
        view.paint_export(painter, QRect(QPoint(0, 0), view.export_size()))
    return to_array(image), buffer.data().data()


def test_a_step_is_exported_with_its_title_and_scale(view: DecodingView, desk: Desk) -> None:
    desk.decoding.walk.go_to(4)
    pixels, svg = exported(view)
    text = svg.decode()
    assert f"step 5 of {desk.decoding.walk.count}" in text
    assert "absolute 0–1" in text
    assert (pixels[-1, -1, :3] == LIGHT.color("paper").getRgb()[:3]).all()


def test_the_tree_is_exported_whole(tree_view: DecodingView, desk: Desk) -> None:
    tree = desk.decoding.tree
    assert tree is not None
    pixels, svg = exported(tree_view)
    text = svg.decode()
    assert pixels.shape[1] > tree_view.beam.canvas.viewport().width()
    assert f"step {tree.steps}<" in text
    assert "score = log P / ((5 + |Y|) / 6)^0.6" in text


# Other traces


def test_a_trace_from_a_file_walks_and_says_why_there_are_no_candidates(
    view: DecodingView, desk: Desk, make_trace: Callable[..., Trace]
) -> None:
    made = make_trace()
    pieces = tuple(Token(token.piece, kind=token.kind) for token in made.predicted_tokens)
    desk.session.set_trace(replace(made, predicted_tokens=pieces, log_probabilities=None))
    press(view, Qt.Key.Key_Home, RIGHT)
    assert desk.decoding.walk.step == 1
    assert view.steps.side.candidates.count == 0
    assert view.steps.side._note.text() == FROM_A_FILE
    assert not view.steps.side.typed.isEnabled()
    assert "no probabilities" in view.steps.side.hypotheses.accessibleDescription()
    view.grab()
    view.show_tree()
    assert not view.beam.grow.isVisible()


def test_a_trace_without_a_decoder_says_so(
    view: DecodingView, desk: Desk, make_trace: Callable[..., Trace]
) -> None:
    made = make_trace()
    alone = {AttentionKind.ENCODER_SELF: made.attention[AttentionKind.ENCODER_SELF]}
    desk.session.set_trace(Trace(source_tokens=made.source_tokens, attention=alone))
    assert "no decoder" in view._message.text()
    press(view, RIGHT, Qt.Key.Key_Space, Qt.Key.Key_F2)
    view.grab()
    desk.session.set_trace(None)
    view.grab()


@pytest.mark.parametrize("target", ["<s>", "<s> ▁Das"])
def test_the_shortest_translations_are_drawn(
    session: Session,
    desk: Desk,
    view: DecodingView,
    make_trace: Callable[..., Trace],
    target: str,
) -> None:
    desk.session.set_trace(make_trace(source="▁Ja </s>", target=target))
    press(view, Qt.Key.Key_Home)
    view.grab()
    assert desk.decoding.walk.count == len(target.split())


def test_both_themes_and_a_low_window_are_drawn(
    view: DecodingView, qapp: QApplication, pixels: Callable[..., np.ndarray]
) -> None:
    brightness = {}
    for theme in (DARK, LIGHT):
        qapp.setStyleSheet(style_sheet(theme))
        view.apply_theme(theme)
        brightness[theme.name] = pixels(view)[..., :3].mean()
    qapp.setStyleSheet("")
    assert brightness["light"] > 200
    assert brightness["dark"] < 80
    tall = view.prefix.height()
    view.resize(600, 400)
    assert view.prefix.height() <= tall
    view.grab()
