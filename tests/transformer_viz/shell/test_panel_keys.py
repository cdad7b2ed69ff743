"""What the sheet of shortcuts says of the panels is what they do, and all they do."""

import json
from collections.abc import Iterator
from string import ascii_uppercase

import numpy as np
import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind
from tests.transformer_viz.decoding.decoding_desk import Desk, desk, tiny_model
from tests.transformer_viz.heads.answers import show_answer
from tests.transformer_viz.reach.test_distance_probe import answer
from transformer_viz.architecture.architecture import Architecture
from transformer_viz.compare.compare import Compare
from transformer_viz.decoding.decoding import DecodingView
from transformer_viz.drawing.lines import Line, Plot
from transformer_viz.heads.panel import MAP
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.links.links import Links
from transformer_viz.positions.positions import Positions
from transformer_viz.reach.distance_report import read_report
from transformer_viz.reach.reach import ReachView
from transformer_viz.scores.scores import Scores
from transformer_viz.shell.panel_keys import PANEL_KEYS, Keys
from transformer_viz.shell.window import Window
from transformer_viz.state.options import Quantity, ThemeChoice
from transformer_viz.training.attention_page import AttentionPage
from transformer_viz.widgets.style import ThemeManager

__all__ = ["desk", "tiny_model"]

PORTABLE = QKeySequence.SequenceFormat.PortableText
PROBES = (
    *("Left", "Right", "Up", "Down", "Home", "End", "PgUp", "PgDown"),
    *("Space", "Return", "Del", "Backspace", "+", "=", "-", "0", "F2"),
    *ascii_uppercase,
)
SYNONYMS = {"=": "+", "Backspace": "Del"}  # the same key without Shift, and a second name
FIELD, WHOLE = "English text", "whole translation"
"""Of an editor and of its read-only sister the keys are Qt's but for those that are tested in
test_source_field.py and test_sentences_in_window.py."""


@pytest.fixture
def panels(qapp: QApplication, desk: Desk, qtbot: QtBot) -> Iterator[dict[str, QWidget]]:
    """Of each panel the widget that is given its keys, with something to show."""
    window = Window(desk.session, desk.controller, ThemeManager(qapp, ThemeChoice.LIGHT))
    window.resize(1280, 720)
    window.show()
    desk.session.select(kind=AttentionKind.ENCODER_SELF, query=2, key=1)
    desk.session.change_options(quantity=Quantity.ROLLOUT)
    desk.wait(lambda: not desk.controller.quantities.asking)
    stage = window.stage
    for view in (
        "heatmap",
        "links",
        "scores",
        "positions",
        "compare",
        "decoding",
        "reach",
        "architecture",
    ):
        window.show_view(view)
    desk.controller.comparison.choose_text("The street was too wide.")
    desk.wait(lambda: desk.controller.what_if.table is not None)
    desk.wait(lambda: desk.decoding.candidates is not None)
    window.show_view("compare")
    desk.wait(lambda: stage.of(Compare).maps.isVisible())
    window.show_view("positions")
    window.commands["beam_tree"].trigger()
    desk.decoding.grow_tree()
    desk.wait(lambda: desk.decoding.tree is not None)
    heads = window.heads.show()
    show_answer(desk.controller.heads)
    window.heads.show_pairs()
    desk.wait(lambda: bool(desk.controller.resolving.traces))
    window.heads.show_mattering()
    desk.wait(lambda: desk.controller.mattering.current and not desk.controller.mattering.running)
    heads.show_tab(MAP)
    heads.table.setCurrentIndex(heads.table.model().index(5, 5))
    stage.of(ReachView).text.refresh()
    desk.controller.distance.known = read_report(json.dumps(answer()))
    desk.controller.distance.changed.emit()
    training = AttentionPage(desk.session, desk.controller)
    qtbot.addWidget(training)
    chart = training.specialists.chart
    chart.show_plot(Plot((Line(np.arange(3.0), np.arange(3.0), "loss", 0),)))
    chart.read_off(1)
    yield {
        FIELD: window.source.editor,
        WHOLE: window.sentences.text,
        "German text": window.chips,
        "heads map": window.heads_map.picture,
        "heatmap": stage.of(Heatmap),
        "links": stage.of(Links),
        "scores": stage.of(Scores),
        "positions": stage.of(Positions).grid.canvas,
        "decoding": stage.of(DecodingView),
        "candidates and hypotheses": stage.of(DecodingView).steps.side.candidates,
        "beam tree": stage.of(DecodingView).beam.canvas,
        "diagram": stage.of(Architecture).canvas,
        "comparison": stage.of(Compare),
        "far links": stage.of(ReachView).text.far_links.list,
        "distances": stage.of(ReachView).text.histograms,
        "accuracy by distance": stage.of(ReachView).probe.curves,
        "heads by accuracy": stage.of(ReachView).probe.heads,
        "inspector": window.inspector.bars,
        "table of heads": heads.table,
        "map of measured heads": heads.map,
        "sentences of a role": heads.page.evidence,
        "heads that resolve it": heads.resolving.rows,
        "heads that matter": heads.mattering.rows,
        "training curves": chart,
        "training slider": training.slider,
    }
    window.close()
    window.deleteLater()


def takes(widget: QWidget, sequence: QKeySequence) -> bool:
    """Whether the widget does something with this key, and leaves it to no one else."""
    key = sequence[0]
    event = QKeyEvent(QEvent.Type.KeyPress, key.key(), key.keyboardModifiers())
    widget.keyPressEvent(event)
    return event.isAccepted()


def test_every_panel_takes_its_keys_and_no_others(panels: dict[str, QWidget]) -> None:
    assert set(panels) == set(PANEL_KEYS)
    wrong = []
    for panel, widget in panels.items():
        if panel in (FIELD, WHOLE):
            continue
        said = [sequence for keys in PANEL_KEYS[panel] for sequence in keys.sequences]
        wrong += [(panel, "not", one.toString()) for one in said if not takes(widget, one)]
        names = {one.toString(PORTABLE) for one in said}
        for name in PROBES:
            if SYNONYMS.get(name, name) not in names and takes(widget, QKeySequence(name)):
                wrong.append((panel, "unsaid", name))
    assert wrong == []


def test_a_modifier_is_named_once() -> None:
    assert Keys("Left Right", "", "Ctrl+").text(PORTABLE) == "Ctrl+← →"
    assert Keys("Left Right", "", "Ctrl+").sequences == (
        *(QKeySequence("Ctrl+Left"), QKeySequence("Ctrl+Right")),
    )
    assert Keys("+ -", "").text(PORTABLE) == "+ −"
    assert Keys("Return", "", "Shift+").text(PORTABLE) == "Shift+Enter"


@pytest.mark.parametrize("panel", PANEL_KEYS)
def test_every_key_is_one_that_exists_and_is_named_once(panel: str) -> None:
    sequences = [one for keys in PANEL_KEYS[panel] for one in keys.sequences]
    assert all(one.count() == 1 and one.toString(PORTABLE) for one in sequences)
    names = [one.toString(PORTABLE) for one in sequences]
    assert len(names) == len(set(names))
