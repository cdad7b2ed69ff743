"""Attention of other programs in the real window: what needs no model works, the rest says so."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind
from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.stage import texts
from tests.transformer_viz.startup.odd_window import OddWindow
from transformer_viz.decoding.decoding import DecodingView
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.positions.positions import Positions
from transformer_viz.scores.scores import Scores
from transformer_viz.state.options import Quantity

WORDS = ["[CLS]", "the", "animal", "slept", "[SEP]"]
BERT, GPT = "bert.npz", "gpt.npz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    random = np.random.default_rng(0)
    maps = random.dirichlet(np.ones(5), (3, 4, 5)).astype(np.float32)
    causal = np.tril(maps[:2])
    causal /= causal.sum(axis=-1, keepdims=True)
    np.savez(folder / BERT, source_tokens=WORDS, encoder_self=maps)
    np.savez(folder / GPT, target_tokens=["A", "Ġdog", "Ġsl", "ept", "."], decoder_self=causal)
    save_tiny_model(folder / "tiny.safetensors")
    return folder


@pytest.fixture(scope="module")
def kept(qapp: QApplication) -> Iterator[OddWindow]:
    made = OddWindow(qapp)
    yield made
    made.window.close()
    made.window.deleteLater()


@pytest.fixture(params=[BERT, GPT])
def shown(
    kept: OddWindow, folder: Path, request: pytest.FixtureRequest, qtbot: QtBot
) -> Iterator[OddWindow]:
    kept.show(qtbot)
    if kept.session.model is None:
        kept.load(folder / "tiny.safetensors")
    kept.open(folder / request.param)
    yield kept
    kept.window.hide()


def is_bert(shown: OddWindow) -> bool:
    trace = shown.session.trace
    assert trace is not None
    return trace.kinds == (AttentionKind.ENCODER_SELF,)


def test_maps_links_and_rollout_need_no_model(shown: OddWindow) -> None:
    stage = shown.stage
    for view in ("heatmap", "links", "reach"):
        shown.window.show_view(view)
        shown.bot.waitUntil(lambda: not shown.busy)
        assert stage.view().has_picture
    shown.window.show_view("heatmap")
    shown.options(quantity=Quantity.ROLLOUT)
    shown.bot.waitUntil(lambda: not shown.busy)
    assert stage.of(Heatmap).has_picture
    assert stage.of(Heatmap).canvas.picture is not None
    assert stage.of(Heatmap).canvas.picture.source is None, "nothing is decoded"


def test_what_takes_a_model_says_so(shown: OddWindow) -> None:
    stage = shown.stage
    shown.window.show_view("heatmap")
    for quantity in (Quantity.NORM, Quantity.LAYER_NORM, Quantity.ALTI):
        shown.options(quantity=quantity)
        shown.bot.waitUntil(lambda: not shown.busy)
        assert any("need the model that computed them" in one for one in texts(stage.of(Heatmap)))
    shown.options()
    shown.window.show_view("scores")
    assert "No scores here" in texts(stage.of(Scores))
    shown.window.show_view("positions")
    stage.of(Positions).show_page("grid")
    assert any("Of tiny, not of the picture" in one for one in texts(stage.of(Positions)))
    stage.of(Positions).show_page("what_if")
    shown.controller.what_if.change(positions=False)
    assert any("from a file; edit the text" in one for one in texts(stage.of(Positions)))
    shown.window.show_view("decoding")
    said = texts(stage.of(DecodingView))
    missing = "This trace has no decoder" if is_bert(shown) else "This trace has no cross-attention"
    assert any(missing in one for one in said)


def test_the_texts_are_the_traces_and_name_no_language(shown: OddWindow) -> None:
    captions, session = shown.window.captions, shown.session
    assert (captions.source.text(), captions.choice.isVisible()) == ("Source", False)
    assert session.text == ("the animal slept" if is_bert(shown) else "A dog slept.")
    assert not shown.window.inspector.roles.isVisible(), "roles are of the model's heads"
    shown.type("it was")
    assert captions.source.text() == "English"
    assert shown.window.inspector.roles.isVisible()
