"""Odd texts, odd models and odd files: each has a right picture or one clear sentence."""

from collections.abc import Iterator
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.text.tokens import TokenKind
from core.trace.trace import AttentionKind
from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.stage import texts
from tests.transformer_viz.startup.odd_window import OTHER_SENTENCE, OddWindow, written
from transformer_viz.compare.compare import Compare
from transformer_viz.decoding.decoding import DecodingView
from transformer_viz.drawing.labels import display_text
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.links.links import Links
from transformer_viz.positions.positions import Positions
from transformer_viz.scores.scores import Scores
from transformer_viz.state.options import Combine, LinksForm, Scale
from transformer_viz.state.session import Phase
from transformer_viz.widgets.stage_view import StageView

E, D, C = AttentionKind
GOOD = "The animal."

OPTIONS = [
    {},
    {"merge_words": True, "hide_specials": True, "scale": Scale.LOG},
    {
        "combine": Combine.SIDE_BY_SIDE,
        "links_form": LinksForm.ARCS,
        "threshold": 0.05,
        "scores_scaled": False,
        "scores_by_weight": True,
    },
]

TEXTS = {
    "one token": ".",
    "from the right": "שלום مرحبا",
    "CJK": "動物は疲れた",
    "emoji": "the 😀 👩‍👩‍👧 🏳️‍🌈",
    "markup": "<b>it</b> &amp; %s",
    "specials": "</s> <s> <unk> <pad>",
    "controls": "the\x00 \x1b\u202eit\u202c \u00ad",
    "half a surrogate": "the \ud800 animal",
    "lines": "the\r\nanimal\u2028was\ttired",
    "a long word": "a" * 40,
    "300 tokens": "The animal was too tired. " * 14,
}

NO_PICTURE = {
    "nothing": ("", Phase.EMPTY, "No sentence yet"),
    "spaces": (" \n\t\u00a0\u3000 ", Phase.EMPTY, "No sentence yet"),
    "only controls": ("\x00\x07\x1b", Phase.EMPTY, "No sentence yet"),
    "nothing to see": ("\u200b\u200b", Phase.FAILED, "There is no visible character"),
    "50 000 characters": ("words " * 8_334, Phase.FAILED, "50,004 characters and the limit is"),
}

MODELS: dict[str, dict[str, Any]] = {
    "one layer": {"encoder_layers": 1, "decoder_layers": 1},
    "one head": {"encoder_heads": 1, "decoder_heads": 1},
    "one head alone": {
        **{"encoder_layers": 1, "decoder_layers": 1},
        **{"encoder_heads": 1, "decoder_heads": 1},
    },
    "a deeper decoder": {"encoder_layers": 1, "decoder_layers": 5},
    "a deeper encoder": {"encoder_layers": 5, "decoder_layers": 1, "encoder_heads": 8},
    "pre-norm": {"norm": "pre", "position_layout": "halves"},
    "heads of their own width": {"encoder_heads": 3, "decoder_heads": 5, "d_k": 7, "d_v": 3},
    "the narrowest": {"d_model": 4, "d_k": 1, "encoder_heads": 1},
    "heads and a whole layer pruned": {
        "pruned_heads": ("encoder_self.0.0", *(f"cross.2.{head}" for head in range(4)))
    },
    "a whole kind pruned": {
        "pruned_heads": tuple(f"decoder_self.{n // 4}.{n % 4}" for n in range(12))
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("odd")


@pytest.fixture(scope="module")
def kept(qapp: QApplication) -> Iterator[OddWindow]:
    """One window for all: what is odd comes after what is odd, as it may with a user."""
    made = OddWindow(qapp)
    yield made
    made.window.close()
    made.window.deleteLater()


@pytest.fixture
def odd(kept: OddWindow, qtbot: QtBot) -> Iterator[OddWindow]:
    kept.show(qtbot)
    yield kept
    kept.window.hide()


@pytest.fixture
def plain(odd: OddWindow, folder: Path) -> OddWindow:
    """With a model in which nothing is odd, and the translation of `GOOD`."""
    path = folder / "plain.safetensors"
    if not path.exists():
        save_tiny_model(path)
    if odd.session.model is None or odd.session.model.path != path:
        odd.load(path)
    odd.type(GOOD)
    return odd


def drawings(odd: OddWindow) -> Iterator[StageView]:
    """The views that draw the map of one head."""
    return (view for view in odd.maps() if isinstance(view, Heatmap | Links | Scores))


# Texts


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_an_odd_text_has_its_picture_in_every_view(plain: OddWindow, text: str) -> None:
    plain.type(text)
    session = plain.session
    assert session.status.phase is Phase.READY
    trace = session.trace
    assert trace is not None
    typed = [token for token in trace.source_tokens if token.kind is not TokenKind.SPECIAL]
    assert len(typed) == len(trace.source_tokens) - 1, "what is typed is never the end token"
    for kind, options in zip((E, C, D), OPTIONS, strict=True):
        session.select(kind=kind, layer=1, head=1)
        plain.options(**options)
        session.pin(0, 0)
        for view in plain.maps():
            assert not any("⚠" in said for said in texts(view))
    for view in plain.pages():
        assert not any("⚠" in said for said in texts(view))
    labels = {display_text(token) for token in trace.source_tokens}
    session.select(kind=E)
    plain.options()
    if len(trace.source_tokens) < 12:
        for view in drawings(plain):
            picture = "".join(written(view))  # a label in several fonts is several texts
            assert {label for label in labels if label not in picture} == set()


@pytest.mark.parametrize(("text", "phase", "sentence"), NO_PICTURE.values(), ids=NO_PICTURE)
def test_what_cannot_be_translated_is_said_in_one_sentence(
    plain: OddWindow, text: str, phase: Phase, sentence: str
) -> None:
    plain.type("")
    plain.type(text)
    assert plain.session.status.phase is phase
    assert plain.session.trace is None
    assert plain.session.status.message == "" or sentence in plain.session.status.message
    for view in chain(plain.maps(), plain.pages()):
        assert texts(view), "a view is never empty"
    for view in drawings(plain):
        assert any(sentence in said for said in texts(view))


def test_a_text_that_fails_leaves_the_last_good_picture(plain: OddWindow) -> None:
    before = plain.session.trace
    plain.session.select(kind=E)
    for text, phase, sentence in NO_PICTURE.values():
        if phase is Phase.FAILED:
            plain.type(text)
            assert plain.session.trace is before
            for view in drawings(plain):
                assert any(sentence in said for said in texts(view))
                assert "</s>" in written(view)


# Models


@pytest.mark.parametrize("changes", MODELS.values(), ids=MODELS)
def test_an_odd_model_has_its_picture_in_every_view(
    odd: OddWindow, folder: Path, changes: dict[str, Any]
) -> None:
    odd.load(save_tiny_model(folder / "odd.safetensors", **changes))
    odd.type("it was tired")
    trace = odd.session.trace
    assert trace is not None
    for kind in trace.kinds:
        odd.session.select(kind=kind, layer=99, head=99)
        odd.session.pin(1, 0)
        odd.select_all()
        for view in odd.maps():
            assert not any("⚠" in said for said in texts(view))
    for view in odd.pages():
        assert not any("⚠" in said for said in texts(view))


def test_learned_positions_end_in_a_sentence(odd: OddWindow, folder: Path) -> None:
    learned = {"positions": "learned", "max_positions": 16}
    odd.load(save_tiny_model(folder / "odd.safetensors", **learned))
    odd.type("it was")
    trace = odd.session.trace
    assert trace is not None
    assert len(trace.target_tokens) <= 16
    odd.type("The animal didn't cross the street because it was too tired.")
    assert odd.session.status.phase is Phase.FAILED
    assert "learned 16 positions" in odd.session.status.message
    assert odd.session.trace is trace
    said = [said for view in odd.pages() for said in texts(view)]
    assert any("Learned table of 16 positions" in one for one in said)
    assert any("No fixed rotation" in one for one in said)


# Traces of other programs

SOURCE = np.array(["[CLS]", "the", "cat", "[SEP]"])
TARGET = np.array(["<s>", "die", "Katze"])


def even(layers: int, heads: int, queries: int, keys: int) -> np.ndarray:
    weights = np.ones((layers, heads, queries, keys), np.float32)
    return weights / weights.sum(axis=-1, keepdims=True)


def causal(layers: int, heads: int, length: int) -> np.ndarray:
    weights = np.tril(np.ones((layers, heads, length, length), np.float32))
    return weights / weights.sum(axis=-1, keepdims=True)


TRACES = {
    "an encoder": {"source_tokens": SOURCE, "encoder_self": even(2, 9, 4, 4)},
    "a decoder": {"target_tokens": TARGET, "decoder_self": causal(3, 1, 3)},
    "one cell": {"target_tokens": TARGET[:1], "decoder_self": causal(1, 1, 1)},
    "cross-attention": {
        **{"source_tokens": SOURCE, "target_tokens": TARGET},
        "cross": even(1, 2, 3, 4),
    },
    "odd numbers of heads": {
        **{"source_tokens": SOURCE, "target_tokens": TARGET, "predicted_tokens": TARGET},
        **{"encoder_self": even(1, 7, 4, 4), "decoder_self": causal(4, 1, 3)},
        "cross": even(2, 3, 3, 4),
        "log_probabilities": np.array([-0.5, -np.inf, 0.0], np.float32),
    },
    "odd tokens": {
        "source_tokens": np.array(["", "\n", "\u202e", "x" * 60, "שלום", "\x00y"]),
        "encoder_self": even(1, 1, 6, 6),
    },
}


@pytest.mark.parametrize("arrays", TRACES.values(), ids=TRACES)
def test_an_odd_trace_has_its_picture_in_every_view(
    plain: OddWindow, folder: Path, arrays: dict[str, np.ndarray]
) -> None:
    path = folder / "odd.npz"
    np.savez(path, **arrays)
    plain.open(path)
    trace, stage = plain.session.trace, plain.stage
    assert trace is not None
    assert plain.notices == []
    for kind, options in zip(cycle(trace.kinds), OPTIONS):
        plain.session.select(kind=kind, layer=99, head=99)
        plain.session.pin(0, 0)
        plain.options(**options)
        plain.select_all()
        said = {view: texts(view) for view in plain.maps()}
        assert "No scores here" in said[stage.of(Scores)]
        if not trace.target_tokens:
            assert any("no decoder" in one for one in said[stage.of(DecodingView)])
        elif C not in trace.kinds:
            assert any("no cross-attention" in one for one in said[stage.of(DecodingView)])
    said_of_pages = [said for view in plain.pages() for said in texts(view)]
    assert any("from a file; edit the text" in said for said in said_of_pages)


def test_a_trace_that_is_none_leaves_what_is_shown(plain: OddWindow, folder: Path) -> None:
    before, path = plain.session.trace, folder / "odd.npz"
    np.savez(path, source_tokens=SOURCE, encoder_self=2 * even(1, 1, 4, 4))
    with plain.bot.waitSignal(plain.controller.openFailed) as failed:
        plain.window.files.documents.open(path)
    assert "do not add up to 1" in failed.args[0]
    assert plain.session.trace is before


# A text that changes while something else is computed


def test_a_text_typed_while_something_runs_leaves_nothing_of_the_old_one(
    plain: OddWindow,
) -> None:
    desks, session, stage = plain.controller, plain.session, plain.stage
    new = "it was tired"
    for start in (
        lambda: plain.window.show_view("compare"),
        lambda: desks.comparison.choose_text(OTHER_SENTENCE),
        lambda: stage.of(DecodingView).tree_button.click(),
        lambda: plain.window.show_view("decoding"),
        lambda: desks.decoding.grow_tree(),
        lambda: desks.decoding.type_token(1, "dog"),
        lambda: desks.decoding.score_target("Das Tier."),
        lambda: plain.window.show_view("positions"),
        lambda: stage.of(Positions).show_page("what_if"),
        lambda: desks.what_if.change(positions=False, seed=3),
    ):
        plain.type(GOOD)
        start()
        plain.type(new)
        plain.bot.waitUntil(lambda: not plain.busy)
        assert session.trace is not None
        assert session.trace.text == new
        active = desks.decoding.active
        assert active is not None
        assert active.trace is session.trace
        assert [one.trace.text for one in desks.decoding.hypotheses] == [new]
        sides, variant = desks.comparison.sides, desks.what_if.variant
        assert sides is None or sides.a is session.trace or not stage.of(Compare).isVisible()
        assert variant is None or variant.reference.text == new
