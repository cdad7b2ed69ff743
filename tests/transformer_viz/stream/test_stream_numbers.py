"""The numbers of the Stream view, where its keys and clicks lead, and its pictures in a file."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage, QPainter
from pytestqt.qtbot import QtBot

from core.heads import AttentionKind, Head
from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.stage import texts
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.engine import Engine
from transformer_viz.engine.recorded_states import FROM_A_FILE, Recorded
from transformer_viz.engine.worker import Context
from transformer_viz.shell.controller import Controller
from transformer_viz.state.linking import Place
from transformer_viz.state.session import Search, Session
from transformer_viz.state.settings import Settings, SettingsFile
from transformer_viz.stream.draw_pushes import logit_shares
from transformer_viz.stream.draw_token_stream import source_rects
from transformer_viz.stream.stream import LENS, NO_DECODER, STREAM, WORDS, StreamView
from transformer_viz.stream.token_canvas import step_lines
from transformer_viz.stream.token_stream import token_stream

TEXT = "The animal didn't cross the street."
CONTEXT = Context(stale=lambda: False, report=lambda text: None)
E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS


class Desk:
    """The view on a controller with a real model, which has translated `TEXT`."""

    def __init__(self, qtbot: QtBot, folder: Path, **changes: object) -> None:
        self.qtbot = qtbot
        self.session = Session()
        self.engine = Engine(TorchBackend(threads=1))
        self.controller = Controller(self.session, self.engine, Settings(), SettingsFile(None))
        self.controller.effect._start.setInterval(10**8)  # no process by itself
        desk = self.controller
        self.view = StreamView(self.session, desk.states, desk.readouts, desk.decoding.walk)
        qtbot.addWidget(self.view)
        self.view.resize(900, 600)
        desk.translate(TEXT)
        desk.open(save_tiny_model(folder / "tiny.safetensors", **changes))
        qtbot.waitUntil(lambda: self.session.is_answered, timeout=20_000)
        self.view.show()
        qtbot.waitUntil(lambda: self.view.has_picture)

    def quiet(self) -> None:
        states, readouts = self.controller.states, self.controller.readouts
        self.qtbot.waitUntil(lambda: not states.asking and not readouts.asking)

    def page(self, page: int) -> None:
        self.view.show_page(page)
        self.qtbot.waitUntil(lambda: self.view.has_picture)
        self.quiet()

    def exported(self) -> QImage:
        size = self.view.export_size()
        image = QImage(size, QImage.Format.Format_RGB32)
        with QPainter(image) as painter:
            self.view.paint_export(painter, QRect(QPoint(0, 0), size))
        return image


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path) -> Iterator[Desk]:
    made = Desk(qtbot, tmp_path)
    yield made
    made.view.close()
    made.controller.close()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_each_step_has_the_vectors_of_the_formulas(tmp_path: Path, norm: str) -> None:
    backend = TorchBackend(threads=1)
    backend.load(save_tiny_model(tmp_path / "tiny.safetensors", norm=norm), CONTEXT)
    trace = backend.explain(TEXT, Search(), CONTEXT)
    found = Recorded(trace, backend.states(trace, range(3), range(3), CONTEXT))
    for side, sublayers in (("source", 2), ("target", 3)):
        stream = token_stream(found, Place(side, 1), scaled_by=16)
        assert stream is not None
        layers = len(found.stack(side).layers)
        assert len(stream.steps) == 1 + layers * sublayers + (norm == "pre")
        first, *steps = stream.steps
        assert [vector.name for vector in first.vectors] == [
            "embedding × √16",
            "+ position",
            "= sum",
        ]
        x = first.vectors[2].values.astype(float)
        np.testing.assert_allclose(x, sum(v.values for v in first.vectors[:2]), atol=1e-5)
        for step in steps:
            if step.layer is None:
                continue
            by_name = {vector.name: vector.values.astype(float) for vector in step.vectors}
            assert next(iter(by_name)) == ("norm" if norm == "pre" else "+ adds")
            np.testing.assert_allclose(by_name["= sum"], x + by_name["+ adds"], atol=1e-4)
            after = by_name["= sum" if norm == "pre" else "norm"]
            cosine = x @ after / np.linalg.norm(x) / np.linalg.norm(after)
            assert step.angle == pytest.approx(np.degrees(np.arccos(cosine)), abs=0.02)
            lengths = [np.linalg.norm(one) for one in (x, by_name["= sum"], after)]
            assert (step.before, step.total, step.after) == pytest.approx(lengths, rel=1e-4)
            x = after
    assert token_stream(found, Place("target", 5), scaled_by=None) is None


def test_keys_go_through_steps_and_tokens_and_a_bar_selects_its_head(desk: Desk) -> None:
    canvas, qtbot, session = desk.view.token, desk.qtbot, desk.session
    session.select(kind=C, layer=1, head=0, query=2, key=None)
    desk.quiet()
    assert canvas.stream is not None
    qtbot.keyClick(canvas, Qt.Key.Key_Home)
    qtbot.keyClick(canvas, Qt.Key.Key_Up)
    assert canvas.current == 1
    assert "Self-attention, layer 1" in canvas.accessibleDescription()
    assert all(
        line in canvas.accessibleDescription() for line in step_lines(canvas.stream.steps[1])
    )
    qtbot.keyClick(canvas, Qt.Key.Key_Right)
    desk.quiet()
    assert canvas.stream.place == Place("target", 3)
    band, step = canvas._bands()[1], canvas.stream.steps[1]
    bar = source_rects(band, step, canvas.font())[2].center().toPoint() - canvas.offset()
    qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=bar)
    assert session.selection.primary == Head(D, 0, 2)
    assert session.selection.query == 3
    qtbot.mouseClick(desk.view.sides.button(0), Qt.MouseButton.LeftButton)
    desk.quiet()
    assert canvas.stream.place == Place("source", 0)
    qtbot.keyClick(canvas, Qt.Key.Key_Left)
    assert session.selection.query == 0, "there is none before the first"
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert session.selection.query is None


def test_the_lens_names_the_layer_in_which_the_final_word_takes_the_lead(desk: Desk) -> None:
    desk.session.select(kind=C, layer=0, head=0, query=1, key=None)
    desk.page(LENS)
    canvas, trace = desk.view.lens, desk.session.trace
    lens = canvas.lens
    assert lens is not None
    assert trace is not None
    assert lens.best(3, 1)[0] == trace.predicted_tokens[1]
    lead = int(lens.lens.leads()[1])
    said = canvas.accessibleDescription()
    assert ("already at the input" if lead == 0 else f"in layer {lead}") in said
    layout = canvas.layout_for(canvas.viewport().width())
    point = layout.cell(2, 0).center().toPoint() - canvas.offset()
    assert canvas.explanation(point + canvas.offset()).startswith("layer 2, row 1\n")
    desk.qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert desk.session.selection.query == 0
    assert canvas.column == 0
    desk.qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert canvas.column == 1


def test_the_shares_of_the_logit_sum_to_it_above_the_mean(desk: Desk) -> None:
    desk.session.select(kind=C, layer=1, head=2, query=1, key=None)
    desk.page(WORDS)
    pushes = desk.view.words.pushes
    assert pushes is not None
    assert pushes.heads == (Head(C, 1, 2),)
    shares = logit_shares(pushes)
    above = pushes.logit - float(pushes.means.sum())
    assert sum(one.change for one in shares) == pytest.approx(above, rel=1e-4, abs=1e-4)
    chosen = [one for one in shares if one.chosen]
    assert [one.name for one in chosen] == ["layer 2 cross-attention, head 3"]
    index = pushes.parts.index(Head(C, 1, 2))
    assert chosen[0].change == pytest.approx(pushes.above_mean[index])
    desk.qtbot.keyClick(desk.view.words, Qt.Key.Key_Down)
    desk.quiet()
    assert desk.view.words.pushes is not None
    assert desk.view.words.pushes.heads == (Head(C, 1, 3),)
    desk.session.select(kind=E, layer=0, head=0, query=1, key=None)
    desk.quiet()
    assert desk.view.words.pushes.heads == tuple(Head(C, 2, head) for head in range(4))
    assert any("Heads of the encoder contribute" in text for text in texts(desk.view))


def test_what_has_no_states_or_no_decoder_says_so(desk: Desk, make_trace) -> None:
    trace = make_trace(["?a", "</s>"])
    object.__setattr__(trace.source_tokens[0], "id", -1)
    desk.controller.show_trace(trace, Path("one.npz"))
    assert FROM_A_FILE in texts(desk.view)
    assert not desk.view.has_picture
    desk.controller.translate(TEXT)
    desk.qtbot.waitUntil(lambda: desk.view.has_picture)
    both = desk.session.trace
    assert both is not None
    desk.session.set_trace(replace(both, attention={E: both.attention[E]}))
    for page in (LENS, WORDS):
        desk.view.show_page(page)
        assert NO_DECODER in texts(desk.view)
        assert not desk.view.has_picture
    desk.page(STREAM)
    assert desk.view.place.side == "source"


def test_every_page_is_exported_in_both_themes_whole(desk: Desk) -> None:
    desk.session.select(kind=C, layer=1, head=2, query=1, key=None)
    for page in (STREAM, LENS, WORDS):
        desk.page(page)
        canvas = desk.view.canvas
        assert desk.view.export_size().height() > canvas.size_now.height()
        desk.view.apply_theme(LIGHT)
        light = desk.exported()
        desk.view.apply_theme(DARK)
        dark = desk.exported()
        desk.view.apply_theme(LIGHT)
        assert light.pixelColor(0, 0) == LIGHT.color("paper")
        assert dark.pixelColor(0, 0) == DARK.color("paper")
        assert desk.exported() == light
        assert canvas.accessibleName()
