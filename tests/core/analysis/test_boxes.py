from __future__ import annotations

from typing import Any

import pytest

from core.analysis.boxes import boxes
from core.config import ModelConfig
from core.model.transformer import Transformer
from core.model.uninitialised import uninitialised
from tests.core.model.small import small_config
from tests.core.model.test_reference import VARIANTS

PRUNED = {"pruned_heads": ("encoder_self.0.1", "cross.1.0", "cross.1.1", "cross.1.2")}


def by_name(config: ModelConfig) -> dict[str, Any]:
    return {box.name: box for box in boxes(config).every()}


def test_the_papers_base_model_box_by_box() -> None:
    found = by_name(ModelConfig(vocab_size=37_000))
    expected = {
        "source_embedding": (18_944_000, 18_944_000),
        "target_embedding": (0, 0),
        "output_embedding": (0, 0),
        "positions": (0, 0),
        "encoder.5.self_attention.query": (262_656, 262_144),
        "decoder.0.cross_attention": (1_050_624, 1_048_576),
        "encoder.0.feed_forward.inner": (1_050_624, 1_048_576),
        "encoder.0.feed_forward.outer": (1_049_088, 1_048_576),
        "decoder.3.feed_forward": (2_099_712, 2_097_152),
        "encoder.0.self_attention_residual.norm": (1_024, 1_024),
        "encoder.0": (3_152_384, 3_147_776),
        "decoder.0": (4_204_032, 4_197_376),
        "model": (63_082_496, 63_014_912),
    }
    counted = {name: (found[name].parameters, found[name].without_biases) for name in expected}
    assert counted == expected


@pytest.mark.parametrize("heads", [1, 8, 64])
def test_more_heads_cost_nothing(heads: int) -> None:
    config = ModelConfig(vocab_size=37_000, encoder_heads=heads, decoder_heads=heads)
    block = by_name(config)["encoder.0.self_attention"]
    assert (block.parameters, block.without_biases) == (1_050_624, 1_048_576)


@pytest.mark.parametrize(
    ("changes", "parameters"),
    [
        ({"bias": False}, 63_045_632),
        ({"norm": "pre"}, 63_084_544),
        ({"output_bias": True}, 63_119_496),
        ({"shared_embeddings": "target"}, 82_026_496),
        ({"shared_embeddings": "none"}, 100_970_496),
    ],
)
def test_variants_of_the_base_model(changes: dict[str, Any], parameters: int) -> None:
    assert boxes(ModelConfig(vocab_size=37_000, **changes)).parameters == parameters


@pytest.mark.parametrize("changes", [*VARIANTS.values(), PRUNED], ids=[*VARIANTS, "pruned"])
def test_each_box_has_the_parameters_of_the_model(changes: dict[str, Any]) -> None:
    config = small_config(**changes)
    model = uninitialised(config)
    assert isinstance(model, Transformer)
    assert boxes(config).parameters == model.parameter_count()
    tensors = dict(model.named_parameters())
    for box in boxes(config).every():
        if box.name == "model" or box.name.endswith((".query", ".key", ".value")):
            continue  # stored as one
        own = [each for name, each in tensors.items() if name.startswith(f"{box.name}.")]
        bias = model.output_bias
        if box.name == "output_embedding" and bias is not None:
            own.append(bias)
        assert box.parameters == sum(each.numel() for each in own), box.name


def test_a_tied_matrix_names_its_owner() -> None:
    found = by_name(small_config(shared_embeddings="target"))
    assert found["output_embedding"].tied_to == "target_embedding"
    assert found["source_embedding"].tied_to is None
    assert found["target_embedding"].to_dict() == {
        **{"name": "target_embedding", "inputs": 23, "outputs": 12},
        **{"parameters": 276, "without_biases": 276},
    }
