from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.checkpoints.native import load_checkpoint, save_checkpoint
from core.cli import main
from core.decoding.config import SearchConfig
from core.heads import EVEN, AttentionKind, Head
from core.switches import Scaling, Switches
from core.text.sentence_pieces import train_tokenizer
from core.trace.npz import load_npz
from core.trace.record import trace_text
from tests.core.model.small import small_transformer

TEXT = "the animal was tired"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = train_tokenizer(["das Tier war müde", "the animal was tired"], 60)
    path = tmp_path_factory.mktemp("model") / "small.safetensors"
    save_checkpoint(path, small_transformer(vocab_size=tokenizer.vocab_size), tokenizer, {})
    return path


@pytest.mark.parametrize("target", [None, "das Tier"])
def test_the_file_holds_the_trace(
    target: str | None, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.npz"
    options = [] if target is None else ["--target", target]
    assert main(["trace", TEXT, "-o", str(out), "--model", str(model), *options]) == 0
    shown = capsys.readouterr()
    checkpoint = load_checkpoint(model)
    trace = trace_text(
        checkpoint.model, checkpoint.tokenizer, TEXT, target=target, search=SearchConfig(beam=4)
    )
    assert shown.out == f"{out}\n"
    assert shown.err == f"{trace.translation}\n"
    loaded = load_npz(out)
    assert loaded.translation == trace.translation == (target or trace.translation)
    for kind in trace.kinds:
        np.testing.assert_allclose(
            loaded.layer_weights(kind, 1), trace.layer_weights(kind, 1), atol=1e-6
        )


def test_states_are_saved_beside_the_maps(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.npz"
    options = ["-o", str(out), "--model", str(model), "--target", "das Tier"]
    assert main(["trace", TEXT, "--states", *options]) == 0
    trace = load_npz(out)
    s, t = len(trace.source_tokens), len(trace.target_tokens)
    d, layers, d_ff = 12, 2, 20
    with np.load(out) as arrays:
        shapes = {name: arrays[name].shape for name in arrays if name.startswith(("st", "le"))}
        lens, leads = arrays["lens_tokens"], arrays["lens_leads"]
        added, hidden = arrays["states_decoder_added"], arrays["states_decoder_hidden"]
        first = arrays["states_decoder_before"][0, 0] + added[0, 0]
        np.testing.assert_array_equal(first, arrays["states_decoder_sum"][0, 0])
    expected: dict[str, tuple[int, ...]] = {
        "lens_tokens": (layers + 1, t, 5),
        "lens_probabilities": (layers + 1, t, 5),
        "lens_leads": (t,),
    }
    for stack, n, sublayers in (("encoder", s, 2), ("decoder", t, 3)):
        expected |= {
            f"states_{stack}_{name}": (n, d) for name in ("embedded", "positioned", "output")
        }
        expected |= {
            f"states_{stack}_{name}": (layers, sublayers, n, d)
            for name in ("before", "added", "sum", "normed")
        }
        expected[f"states_{stack}_hidden"] = (layers, n, d_ff)
    assert shapes == expected
    assert (hidden >= 0).all(), "after ReLU"
    for position, layer in enumerate(leads):
        assert (lens[layer:, position, 0] == lens[-1, position, 0]).all()
        assert layer == 0 or lens[layer - 1, position, 0] != lens[-1, position, 0]


@pytest.mark.parametrize(
    ("text", "out", "named"),
    [(" ", "out.npz", "no visible character"), (TEXT, "nowhere/out.npz", "nowhere")],
)
def test_what_cannot_be_done_is_said(
    text: str,
    out: str,
    named: str,
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["trace", text, "-o", str(tmp_path / out), "--model", str(model)]) == 1
    assert named in capsys.readouterr().err
    assert not (tmp_path / out).exists()


def test_a_changed_model_is_recorded_as_it_was_changed(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.npz"
    options = ["--scaling", "off", "--no-mask", "--head", "encoder:1.2=even", "--states"]
    assert main(["trace", TEXT, "-o", str(out), "--model", str(model), *options]) == 0
    trace = load_npz(out)
    assert trace.switches == Switches(scaling=Scaling.OFF, mask=False)
    assert trace.gates == {Head(AttentionKind.ENCODER_SELF, 0, 1): EVEN}
    even = trace.weights(AttentionKind.ENCODER_SELF, 0, 1)
    np.testing.assert_allclose(even, 1 / len(trace.source_tokens), rtol=1e-6)
    assert np.triu(trace.weights(AttentionKind.DECODER_SELF, 0, 0), 1).any()
