"""The Stream view on a small model: its three pages, and what a user does there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.heads import AttentionKind, Head
from core.trace.states import Sublayer
from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.stage import Stage, texts
from transformer_viz.drawing.theme import DARK
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.state.linking import Place
from transformer_viz.stream.stream import LENS, STREAM, WORDS, StreamView
from transformer_viz.stream.token_stream import NAMES, UNITS, token_stream

TEXT = "The animal slept."
E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("model") / "tiny.safetensors")


class Shown:
    def __init__(self, qtbot: QtBot, model: Path) -> None:
        self.stage = Stage(TorchBackend(1))  # type: ignore[arg-type]
        self.bot, self.session = qtbot, self.stage.session
        desk = self.stage.controller
        self.view = StreamView(self.session, desk.states, desk.readouts, desk.decoding.walk)
        qtbot.addWidget(self.view)
        self.view.resize(900, 700)
        self.view.show()
        desk.translate(TEXT)
        desk.open(model)
        self.wait()

    def wait(self) -> None:
        desk = self.stage.controller
        self.bot.waitUntil(
            lambda: desk.states.current is not None and not desk.states.asking, timeout=30_000
        )
        self.bot.waitUntil(lambda: not desk.readouts.asking, timeout=30_000)
        QApplication.processEvents()

    def show(self, page: int) -> None:
        self.view.show_page(page)
        self.wait()
        self.bot.waitUntil(lambda: self.view.has_picture)

    @property
    def title(self) -> str:
        return self.view._title.text()


@pytest.fixture
def shown(qapp: QApplication, qtbot: QtBot, model: Path) -> Iterator[Shown]:
    shown = Shown(qtbot, model)
    yield shown
    shown.stage.controller.close()


@pytest.mark.parametrize("side", ["source", "target"])
def test_lengths_and_angles_are_those_of_the_states(shown: Shown, side: str) -> None:
    """Against the recorded vectors, in float64."""
    found = shown.stage.controller.states.current
    assert found is not None
    place = Place(side, 1)  # type: ignore[arg-type]
    stream = token_stream(found, place, scaled_by=None)
    stack = found.stack(place.side)
    row = stack.positions.index(1)
    assert stream is not None
    subs = [step for step in stream.steps if step.sublayer is not None]
    states = [state for layer in stack.layers for state in layer]
    assert [step.sublayer for step in subs] == [state.sublayer for state in states]
    for step, state in zip(subs, states, strict=True):
        before, after = (vectors[row].astype(np.float64) for vectors in (state.before, state.after))
        assert step.before == pytest.approx(np.linalg.norm(before), rel=1e-5)
        assert step.after == pytest.approx(np.linalg.norm(after), rel=1e-5)
        assert step.added == pytest.approx(np.linalg.norm(state.added[row]), rel=1e-5)
        cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
        assert step.angle == pytest.approx(np.degrees(np.arccos(cosine)), abs=0.05)


def test_the_most_active_units_are_the_largest_activations(shown: Shown) -> None:
    found = shown.stage.controller.states.current
    assert found is not None
    stream = token_stream(found, Place("source", 0), scaled_by=None)
    assert stream is not None
    network = next(step for step in stream.steps if step.sublayer is Sublayer.FEED_FORWARD)
    state = found.stack("source").layers[0][-1]
    row = state.hidden[found.stack("source").positions.index(0)]
    assert network.active == (int((row > 0).sum()), len(row))
    largest = sorted(row[row > 0].tolist(), reverse=True)[:UNITS]
    assert [unit.value for unit in network.sources] == pytest.approx(largest)


def test_it_opens_on_the_token_of_the_decoding_step(shown: Shown) -> None:
    assert shown.view.page == STREAM
    assert shown.view.has_picture
    assert "in the decoder → “" in shown.title
    caption = shown.view._caption.text()
    assert any(name.lower() in caption for name in NAMES.values())


def test_a_pinned_source_token_is_followed_and_keys_go_on(shown: Shown) -> None:
    shown.session.select(kind=E, query=1, key=None)
    shown.session.point(Place("source", 1))
    shown.wait()
    shown.bot.waitUntil(lambda: "(2) in the encoder" in shown.title)
    shown.session.point(None)
    shown.view.sides.button(0).click()
    shown.wait()
    shown.bot.waitUntil(lambda: "(1) in the encoder" in shown.title)
    QTest.keyClick(shown.view.token, Qt.Key.Key_Right)
    shown.wait()
    shown.bot.waitUntil(lambda: "(2) in the encoder" in shown.title)


def test_the_lens_says_what_each_layer_would_say(shown: Shown) -> None:
    shown.show(LENS)
    lens = shown.stage.controller.readouts.lens
    trace = shown.session.trace
    assert lens is not None
    assert trace is not None
    assert shown.title == "What each decoder layer would say"
    assert "Bold: the final word" in shown.view._caption.text()
    said = lens.lens.ids[-1, :-1, 0]  # but for the end, which the limit of the length brought
    assert said.tolist() == [token.id for token in trace.predicted_tokens[:-1]]


def test_the_words_of_the_selected_head(shown: Shown) -> None:
    shown.session.select(kind=C, layer=1, head=0)
    shown.show(WORDS)
    pushes = shown.stage.controller.readouts.pushes
    assert pushes is not None
    assert pushes.heads == (Head(C, 1, 0),)
    assert "Direct contribution to the logits" in shown.view._caption.text()
    shown.session.select(kind=E, layer=0, head=0)
    shown.wait()
    shown.bot.waitUntil(
        lambda: shown.view._caption.text().startswith("Heads of the encoder contribute to no logit")
    )


def test_states_are_recorded_only_while_it_is_shown(shown: Shown) -> None:
    states = shown.stage.controller.states
    assert states.found is not None
    shown.view.hide()
    assert states.found is None


@pytest.mark.parametrize("page", [STREAM, LENS, WORDS])
def test_a_figure_has_a_heading_and_the_picture(shown: Shown, page: int) -> None:
    shown.show(page)
    shown.view.apply_theme(DARK)
    size = shown.view.export_size()
    assert size.width() > 100
    image = QImage(size, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    painter = QPainter(image)
    shown.view.paint_export(painter, QRect(QPoint(0, 0), size))
    painter.end()
    paper = DARK.color("paper").rgb()
    corners = [image.pixel(0, 0), image.pixel(size.width() - 1, size.height() - 1)]
    assert corners == [paper, paper]
    colors = {
        image.pixel(x, y) for x in range(0, size.width(), 7) for y in range(0, size.height(), 7)
    }
    assert len(colors) > 3


def test_a_trace_from_a_file_has_no_states(shown: Shown) -> None:
    trace = shown.session.trace
    assert trace is not None
    sides = ("source_tokens", "target_tokens", "predicted_tokens")
    without = {side: tuple(replace(one, id=-1) for one in getattr(trace, side)) for side in sides}
    shown.stage.controller.show_trace(replace(trace, **without), Path("saved.npz"))
    QApplication.processEvents()
    assert not shown.view.has_picture
    assert "No states here" in texts(shown.view)
