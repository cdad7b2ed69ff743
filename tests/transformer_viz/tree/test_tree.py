"""The Tree view on traces made by hand: the tree, its rows, and what a user does there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QPoint, QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from core.errors import UserError
from core.heads import AttentionKind, Head
from core.text.tokens import Token, TokenKind
from core.trace.trace import StoredAttention, Trace
from tests.transformer_viz.stage import word_trace
from transformer_viz.drawing.theme import DARK
from transformer_viz.state.session import ModelInfo, Phase, Session, Status
from transformer_viz.tree.draw_tree import lay_out_tree
from transformer_viz.tree.parsed import Parsed, read_gold
from transformer_viz.tree.tree import TreeView

C = AttentionKind.CROSS
LABELS = ("S", "NP", "VP")
TREE = "S NP DT NN /NP VP VB /VP . /S"
GOLD = "(TOP (S (NP (DT the) (NN dog)) (VP (VB barks) (NP (. .)))))"
ROWS = np.random.default_rng(4).dirichlet(np.ones(6), size=(1, 2, 11)).astype(np.float32)


def piece(text: str, start: int, end: int) -> Token:
    return Token(text, 4, start=start, end=end)


def parse_trace(output: str = TREE) -> Trace:
    """Two pieces of "barks", and one cross layer of two heads with known weights."""
    made = word_trace("the dog")
    end = Token("</s>", 3, TokenKind.SPECIAL)
    source = [("▁the", 0, 3), ("▁dog", 4, 7), ("▁bar", 8, 11), ("ks", 11, 13), (".", 13, 14)]
    written = [Token("▁" + name, 5) for name in output.split()]
    rows = len(written) + 1
    weights = np.resize(ROWS, (1, 2, rows, 6))
    return replace(
        made,
        text="the dog barks.",
        translation=output,
        source_tokens=(*(piece(*one) for one in source), end),
        target_tokens=(Token("<s>", 2, TokenKind.SPECIAL), *written),
        predicted_tokens=(*written, end),
        log_probabilities=np.zeros(rows, np.float32),
        attention={C: StoredAttention(weights)},
    )


@pytest.fixture(scope="module")
def parsed() -> Parsed:
    found = Parsed.of(parse_trace(), LABELS)
    assert found is not None
    return found


def test_nodes_over_words_with_the_rows_that_wrote_them(parsed: Parsed) -> None:
    assert parsed.words == ("the", "dog", "barks", ".")
    assert [list(span) for span in parsed.spans] == [[0], [1], [2, 3], [4]]
    shown = [(node.label, node.first, node.end, node.opened, node.closed) for node in parsed.nodes]
    assert shown == [
        *(("S", 0, 4, 0, 9), ("NP", 0, 2, 1, 4), ("DT", 0, 1, 2, 2), ("NN", 1, 2, 3, 3)),
        *(("VP", 2, 3, 5, 7), ("VB", 2, 3, 6, 6), (".", 3, 4, 8, 8)),
    ]
    assert [node.parent for node in parsed.nodes] == [None, 0, 1, 1, 0, 4, 0]
    assert parsed.node_of(4) == 1
    assert parsed.node_of(10) is None


def test_weights_of_a_word_are_those_of_its_pieces(parsed: Parsed) -> None:
    trace = parse_trace()
    looked = parsed.looks_at(trace, [Head(C, 0, 0), Head(C, 0, 1)], 5)
    mean = trace.layer_weights(C, 0)[:, 5].mean(axis=0)
    assert looked == pytest.approx([mean[0], mean[1], mean[2] + mean[3], mean[4]], abs=1e-6)


def test_gold_and_output_mark_what_they_do_not_share(parsed: Parsed) -> None:
    both = parsed.against(read_gold(GOLD, parsed.words))
    assert [node.shared for node in both.nodes if node.word is None] == [True, True, True]
    assert both.score is not None  # the full stop is not counted, so VP is the same bracket
    assert (both.score.matched, both.score.gold, both.score.test) == (3, 3, 3)
    flat = parsed.against(read_gold("(S (DT the) (NN dog) (VP (VB barks)) (. .))", parsed.words))
    assert [node.shared for node in flat.nodes if node.word is None] == [True, False, True]
    assert [node.shared for node in flat.gold if node.word is None] == [True, True]


@pytest.mark.parametrize(("text", "what"), [("(S", "ends"), ("(S (NN cat))", "reads “the dog")])
def test_a_gold_tree_of_other_words_is_refused(parsed: Parsed, text: str, what: str) -> None:
    with pytest.raises(UserError, match=what):
        read_gold(text, parsed.words)


def test_labels_never_overlap(parsed: Parsed, qtbot: QtBot) -> None:
    view = TreeView(Session())
    qtbot.addWidget(view)
    both = parsed.against(read_gold(GOLD, parsed.words))
    for width in (100, 900):
        layout = lay_out_tree(both, 2, width, view.font())
        rects = [*layout.nodes, *layout.gold, *layout.words]
        for at, rect in enumerate(rects):
            assert not any(rect.intersects(other) for other in rects[:at])
            assert QRect(QPoint(), layout.size).contains(rect.toAlignedRect())


@pytest.fixture
def view(qtbot: QtBot) -> TreeView:
    session = Session()
    about = {"task": "parsing", "labels": list(LABELS)}
    session.set_model(ModelInfo("p", Path("p"), 1, 1, 1, 2, 8, 9, about))
    made = TreeView(session)
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.show()
    session.set_text("the dog barks.")
    session.set_trace(parse_trace())
    session.set_status(Status(Phase.READY))
    return made


def test_walking_pointing_and_choosing(view: TreeView, qtbot: QtBot) -> None:
    assert view.has_picture
    assert view._title.text().startswith("S: the dog barks .")
    keys = {"Down": "NP: the dog", "Right": "VP: barks", "Left": "NP: the dog", "Up": "S: the dog"}
    for key, title in keys.items():
        QTest.keyClick(view.canvas, getattr(Qt.Key, f"Key_{key}"))
        assert view._title.text().startswith(title)
    assert (view.session.selection.kind, view.session.selection.query) == (C, 0)
    assert "S looks at" in view.canvas.accessibleDescription()

    layout = view.canvas.layout_for(view.canvas.viewport().width())
    place = layout.nodes[4].center().toPoint()
    view.canvas.hover(place)
    assert view._title.text().startswith("VP: barks")
    assert [strip.name for strip in view.canvas.strips] == ["VP", "/VP"]
    assert "opened by decoder row 6" in view.canvas.explanation(place)
    view.canvas.hover(None)
    assert view._title.text().startswith("S: ")
    QTest.mouseClick(view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert view.session.selection.query == 5
    word = layout.words[1].center().toPoint()
    assert view.canvas.node_at(word) == 3

    view.session.select(kind=C, query=4, key=None)  # from another view
    assert view._title.text().startswith("NP: the dog")
    QTest.keyClick(view.canvas, Qt.Key.Key_Escape)
    assert view.session.selection.query is None


def test_a_gold_tree_is_typed_and_its_faults_are_said(view: TreeView) -> None:
    view.gold.setText(GOLD)
    assert "3 of 3 brackets found, 3 written, F1 100.0" in view._caption.text()
    assert view.canvas.parsed is not None
    assert view.canvas.parsed.gold
    view.gold.setText("(S (NN cat))")
    assert "The gold tree is over “cat”" in view._caption.text()
    assert not view.canvas.parsed.gold
    view.gold.clear()
    assert "Below the words" in view._caption.text()


def test_repairs_are_told(view: TreeView) -> None:
    view.session.set_trace(parse_trace("S NP DT NN VP VB"))
    assert "It took 4 repairs" in view._caption.text()
    assert view.has_picture


def test_a_model_that_translates_has_no_tree(view: TreeView) -> None:
    view.session.set_model(ModelInfo("t", Path("t"), 1, 1, 1, 2, 8, 9))
    view.session.set_trace(parse_trace())
    assert not view.has_picture
    assert any("preset parse" in one.text() for one in view._placeholder.findChildren(QLabel))


def test_the_picture_as_svg_has_its_texts(view: TreeView) -> None:
    view.apply_theme(DARK)
    view.gold.setText(GOLD)
    buffer = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    size = view.export_size()
    with QPainter(generator) as painter:
        view.paint_export(painter, QRect(QPoint(), size))
    text = bytes(buffer.data().data()).decode()
    for word in ("barks", ">NP<", ">gold<"):
        assert word in text
