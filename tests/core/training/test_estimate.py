from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.config import ModelConfig
from core.model.transformer import Transformer
from core.presets import PRESETS, preset
from core.training import loss
from core.training.estimate import LOGITS_ROWS, PROGRAM_BYTES, memory_bytes, parameter_count


def counted(config: ModelConfig) -> int:
    with torch.device("meta"):
        return Transformer(config).parameter_count()


@pytest.mark.parametrize("name", PRESETS)
def test_the_formula_is_the_count_of_every_preset(name: str) -> None:
    config = preset(name).model
    assert parameter_count(config) == counted(config)


@given(st.data())
def test_the_formula_is_the_count_of_any_shape(data: st.DataObject) -> None:
    def choose(*values: object) -> object:
        return data.draw(st.sampled_from(values))

    config = ModelConfig.from_dict(
        {
            "vocab_size": choose(5, 70),
            "d_model": choose(12, 24),
            "encoder_layers": choose(1, 3),
            "decoder_layers": choose(1, 2),
            "encoder_heads": choose(1, 4),
            "decoder_heads": choose(2, 3),
            "encoder_d_ff": choose(8, 20),
            "decoder_d_ff": choose(7, 16),
            "d_k": choose(None, 5),
            "d_v": choose(None, 7),
            "norm": choose("post", "pre"),
            "positions": choose("sinusoidal", "learned", "none"),
            "max_positions": 9,
            "shared_embeddings": choose("all", "target", "none"),
            "bias": choose(True, False),
            "output_bias": choose(True, False),
        }
    )
    assert parameter_count(config) == counted(config)


def test_memory_has_the_program_four_copies_of_the_weights_and_grows_with_the_batch() -> None:
    tiny = preset("tiny")
    small = tiny.with_settings(
        {"max_length": 2, "source_batch_tokens": 2, "target_batch_tokens": 2}
    )
    fixed = PROGRAM_BYTES + 16 * parameter_count(tiny.model)
    assert fixed < memory_bytes(small) < fixed + 0.1 * (fixed - PROGRAM_BYTES)
    double = tiny.with_settings({"source_batch_tokens": 2_000, "target_batch_tokens": 2_000})
    fixed += 4 * LOGITS_ROWS * tiny.model.vocab_size
    assert memory_bytes(double) - fixed == 2 * (memory_bytes(tiny) - fixed)


def test_logits_are_as_many_as_the_loss_computes_at_a_time() -> None:
    assert loss._CHUNK == LOGITS_ROWS


def test_the_program_takes_about_what_is_said() -> None:
    code = "import core.training.run; print(open('/proc/self/statm').read())"
    if not Path("/proc/self/statm").exists():
        pytest.skip("the memory of a process is read from /proc")
    pages = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    resident = int(pages.stdout.split()[1]) * resource.getpagesize()
    assert PROGRAM_BYTES / 4 < resident < 2 * PROGRAM_BYTES


@pytest.mark.parametrize("dropout", [0.1, 0.0])
@pytest.mark.parametrize("activation", ["relu", "gelu", "silu"])
def test_the_formula_counts_what_torch_keeps(activation: str, dropout: float) -> None:
    """All but the numbers of a token that come once for a head or a norm."""
    shape = {"d_model": 64, "encoder_d_ff": 96, "decoder_d_ff": 160, "d_k": 20, "d_v": 20}
    config = preset("tiny").with_settings(
        {**shape, "activation": activation, "dropout": dropout, "max_length": 100}
        | {"source_batch_tokens": 200, "target_batch_tokens": 200}
    )
    model = Transformer(config.model).train()
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        source, target = torch.randint(4, 600, (2, 4, 50))
        model.decode(target, model.encode(source), source)
    kept_bytes = sum(
        tensor.untyped_storage().nbytes() for at, tensor in kept.items() if at not in weights
    )
    told = memory_bytes(config) - PROGRAM_BYTES - 16 * parameter_count(config.model)
    told -= 4 * 200 * (600 + 2 * 160 + 6 * 64)  # logits, and gradients that come later
    assert told < kept_bytes < 1.03 * told
