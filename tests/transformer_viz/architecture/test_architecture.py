"""The view on a small model: one window of it, and what a user does there."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QIODevice, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.heads import AttentionKind, Head
from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.stage import Stage
from transformer_viz.architecture.architecture import Architecture
from transformer_viz.drawing.theme import DARK
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.state.session import Session

TEXT = "The animal slept."
BLOCK = "encoder.0.self_attention"
E, C = AttentionKind.ENCODER_SELF, AttentionKind.CROSS


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("model") / "tiny.safetensors")


class Shown:
    """The view, and what hangs on it."""

    def __init__(self, qtbot: QtBot, model: Path) -> None:
        self.stage = Stage(TorchBackend(1))  # type: ignore[arg-type]
        self.bot, self.session = qtbot, self.stage.session
        self.view = Architecture(self.session, self.stage.controller.states)
        qtbot.addWidget(self.view)
        self.view.resize(900, 700)
        self.view.show()
        self.stage.controller.translate(TEXT)
        self.stage.controller.open(model)
        self.wait()

    def wait(self) -> None:
        states = self.stage.controller.states
        self.bot.waitUntil(lambda: states.current is not None and not states.asking)

    @property
    def said(self) -> str:
        """What screen readers hear."""
        return self.view.canvas.accessibleDescription()

    def click(self, name: str) -> None:
        self.view.canvas.open_readable()
        assert self.view.canvas.diagram is not None
        self.view.canvas.reveal(self.view.canvas.diagram.nodes[name].rect)
        rect = self.view.canvas.box_rect(name)
        point = rect.center() if rect.height() < 60 else rect.topLeft() + QPointF(4, 4)
        self.bot.mouseClick(
            self.view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=point.toPoint()
        )

    def press(self, *keys: Qt.Key) -> None:
        for key in keys:
            self.bot.keyClick(self.view.canvas, key)

    def drawn(self) -> list[str]:
        """The texts of the exported SVG."""
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        size = self.view.export_size()
        generator.setSize(size)
        with QPainter(generator) as painter:
            self.view.paint_export(painter, QRectF(QPointF(0, 0), size.toSizeF()).toRect())
        return re.findall(r"<text[^>]*>([^<]*)</text>", bytes(buffer.data().data()).decode())


@pytest.fixture
def shown(qtbot: QtBot, model: Path) -> Iterator[Shown]:
    made = Shown(qtbot, model)
    yield made
    made.view.hide()
    made.stage.controller.close()


def test_a_click_shows_the_numbers_of_a_box_for_the_chosen_token(shown: Shown) -> None:
    session = shown.session
    session.select(kind=E, layer=0, head=0, query=1)
    shown.click("encoder.0.feed_forward_residual.add")
    states = shown.stage.controller.states.current
    assert states is not None
    vector = states.states.encoder.layers[0][1].sum[1]
    report = shown.view.readout.report
    assert report is not None
    assert report.values is not None
    np.testing.assert_array_equal(report.values.vector, vector)
    assert "(2)" in shown.said
    assert f"norm {np.linalg.norm(vector):.4g}" in shown.said
    assert f"{len(session.trace.source_tokens)} × 16" in shown.said
    assert session.options.architecture_box == "encoder.0.feed_forward_residual.add"


def test_an_attention_block_selects_its_heads_for_all_views(shown: Shown) -> None:
    shown.click("decoder.1")
    assert "decoder.1.cross_attention" in shown.view.canvas.diagram.nodes
    shown.click("decoder.1.cross_attention")
    assert shown.session.selection.heads == tuple(Head(C, 1, head) for head in range(4))
    wanted: list[bool] = []
    shown.view.mapWanted.connect(lambda: wanted.append(True))
    shown.press(Qt.Key.Key_Return)
    assert wanted == [True]
    shown.session.select(kind=E, layer=1, head=1)
    assert shown.view.chosen == "encoder.1.self_attention", "a head selected elsewhere"
    shown.click("encoder.1.self_attention.softmax")
    assert shown.session.selection.heads == (Head(E, 1, 1),), "the current head stays"
    assert "head 2: weights" in shown.said


def test_the_keys_walk_change_the_token_and_zoom(shown: Shown) -> None:
    canvas = shown.view.canvas
    shown.click(BLOCK)
    shown.press(Qt.Key.Key_Up)
    assert shown.view.chosen == f"{BLOCK}_residual.add"
    shown.press(Qt.Key.Key_Down, Qt.Key.Key_Right)
    assert shown.view.chosen == "decoder.0.self_attention"
    shown.press(Qt.Key.Key_PageDown)
    assert shown.view.place.index == 1
    assert shown.session.pointed is not None
    assert shown.session.pointed.index == 1, "pinned for all views"
    shown.press(Qt.Key.Key_PageUp, Qt.Key.Key_PageUp)
    assert shown.view.place.index == 0
    before = canvas.zoom
    shown.press(Qt.Key.Key_Z)
    inside = canvas.in_viewport(canvas.diagram.inside_frame)
    assert QRectF(canvas.viewport().rect()).adjusted(-2, -2, 2, 2).contains(inside)
    assert canvas.zoom > before
    shown.press(Qt.Key.Key_0)
    size = canvas.drawing_size() * canvas.zoom
    assert size.width() <= canvas.viewport().width()
    assert size.height() <= canvas.viewport().height()


def test_dragging_pans_and_chooses_nothing(shown: Shown) -> None:
    canvas, viewport = shown.view.canvas, shown.view.canvas.viewport()
    canvas.set_zoom(3.0)
    chosen, before = shown.view.chosen, canvas.offset()
    start = QPoint(200, 200)
    shown.bot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    shown.bot.mouseMove(viewport, start - QPoint(30, 40))
    shown.bot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=start - QPoint(30, 40))
    assert canvas.offset() == before + QPointF(30, 40)
    assert shown.view.chosen == chosen


def test_it_follows_typing_and_records_only_while_it_is_seen(shown: Shown) -> None:
    controller = shown.stage.controller
    controller.translate("The animal slept and slept.")
    shown.bot.waitUntil(shown.stage.shows("The animal slept and slept."))
    shown.wait()
    assert f"{len(shown.session.trace.source_tokens)} × 16" in shown.said
    shown.view.hide()
    assert controller.states.found is None
    controller.translate("The dog slept.")
    shown.bot.waitUntil(shown.stage.shows("The dog slept."))
    assert controller.states.found is None
    shown.view.show()
    shown.wait()
    assert f"{len(shown.session.trace.source_tokens)} × 16" in shown.said


def test_a_file_has_every_box_as_text_and_the_readout(shown: Shown) -> None:
    shown.click(BLOCK)
    said = " ".join(shown.drawn())
    for text in ("tiny", "Multi-head attention", "Layer 3", "Softmax", "SoftMax", "Concat"):
        assert text in said
    assert "1,088 parameters, 1,024 without biases" in said  # 4 · 16² weights, 4 · 16 biases
    size = shown.view.export_size()
    assert size.width() >= shown.view.canvas.diagram.size.width()
    light = shown.view.grab().toImage()
    shown.view.apply_theme(DARK)
    QApplication.processEvents()
    assert shown.view.grab().toImage() != light


def test_boxes_without_a_vector_say_why(shown: Shown) -> None:
    view = shown.view
    view.choose("probabilities")
    trace = shown.session.trace
    assert f"{np.exp(trace.log_probabilities[0]):.3f}" in shown.said
    view.choose("output_embedding")
    assert "not kept" in shown.said
    view.choose("decoder.0.feed_forward")
    view.choose("decoder.0.feed_forward.inner")
    assert "after the activation" in shown.said
    view.choose("no.such box")
    assert view.chosen in view.canvas.diagram.nodes


def test_another_model_is_drawn_at_once_and_its_numbers_follow(
    shown: Shown, tmp_path: Path
) -> None:
    other = save_tiny_model(
        tmp_path / "other.safetensors", norm="pre", encoder_layers=1, decoder_layers=1
    )
    shown.view.choose("decoder.2.feed_forward")
    before = shown.session.trace
    shown.stage.controller.open(other)
    shown.bot.waitUntil(lambda: shown.session.trace is not before)
    shown.wait()
    nodes = shown.view.canvas.diagram.nodes
    assert "encoder_norm" in nodes
    assert "decoder.2" not in nodes
    assert "norm" in shown.said


def test_without_a_model_it_says_what_to_do(qtbot: QtBot) -> None:
    stage = Stage()
    view = Architecture(Session(), stage.controller.states)
    qtbot.addWidget(view)
    view.show()
    assert not view.has_picture
    view.hide()
    stage.controller.close()
