from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from core.model.initialisation import initialise
from core.model.transformer import Transformer
from tests.core.model.small import random_ids, small_config


def initialised(seed: int = 0, scale: float = 1.0, **changes: object) -> Transformer:
    model = Transformer(small_config(**changes)).eval()
    initialise(model, seed, scale)
    return model


def branches(model: Transformer) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The separate matrices of all layers: those that make scores, those of the residual branch."""
    scores, residual = {}, {}
    for stack, layers in (("encoder", model.encoder), ("decoder", model.decoder)):
        for i, layer in enumerate(layers):
            name = f"{stack}.{i}"
            attention = layer.self_attention
            query, key, value = attention.query_key_value.weight.split(attention.widths)
            scores |= {f"{name}.self.query": query, f"{name}.self.key": key}
            residual |= {
                f"{name}.self.value": value,
                f"{name}.self.output": attention.output.weight,
            }
            residual |= {f"{name}.W_1": layer.feed_forward.inner.weight}
            residual |= {f"{name}.W_2": layer.feed_forward.outer.weight}
            if stack == "decoder":
                attention = layer.cross_attention
                key, value = attention.key_value.weight.split(attention.widths)
                scores |= {f"{name}.cross.query": attention.query.weight, f"{name}.cross.key": key}
                residual |= {f"{name}.cross.value": value}
                residual |= {f"{name}.cross.output": attention.output.weight}
    return scores, residual


def test_each_matrix_fills_its_own_xavier_bound_although_some_are_fused() -> None:
    model = initialised(d_model=48, d_k=4, d_v=40, encoder_d_ff=200, decoder_d_ff=200)
    scores, residual = branches(model)
    for name, weight in (scores | residual).items():
        bound = math.sqrt(6 / sum(weight.shape))
        assert weight.abs().max() <= bound, name
        assert weight.abs().max() > 0.97 * bound, name
        assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.1), name


def test_the_scale_multiplies_the_residual_branch_only() -> None:
    scores, residual = branches(initialised(scale=1.0))
    scaled_scores, scaled_residual = branches(initialised(scale=0.5))
    for name, weight in scores.items():
        assert torch.equal(scaled_scores[name], weight), name
    for name, weight in residual.items():
        assert torch.equal(scaled_residual[name], 0.5 * weight), name


@pytest.mark.parametrize("shared", ["all", "none"])
def test_scaled_embeddings_have_variance_1(shared: str) -> None:
    model = initialised(vocab_size=500, d_model=48, shared_embeddings=shared, positions="learned")
    tables = [model.source_embedding, model.target_embedding, model.output_embedding]
    for weight in (*(table.weight for table in tables), model.positions.weight):
        assert (weight * math.sqrt(48)).std().item() == pytest.approx(1.0, rel=0.05)


def test_norms_start_as_the_identity_and_biases_at_zero_even_in_a_trained_model() -> None:
    model = Transformer(small_config(norm="pre", output_bias=True))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(7.0)
    initialise(model, seed=0)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert (parameter == 0).all(), name
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            assert (module.weight == 1).all()
    assert not [name for name, parameter in model.named_parameters() if (parameter == 7).any()]


def test_the_same_seed_gives_the_same_weights_whatever_happened_before() -> None:
    first = initialised(seed=3).state_dict()
    torch.manual_seed(99)
    again, other = initialised(seed=3).state_dict(), initialised(seed=4).state_dict()
    for name, tensor in first.items():
        assert torch.equal(again[name], tensor), name
    assert not torch.equal(other["source_embedding.weight"], first["source_embedding.weight"])


def test_a_scale_below_1_keeps_encoder_positions_apart() -> None:
    """Mean cosine between the encoder's outputs at different positions of one sentence."""

    def cosine(scale: float) -> float:
        heads = {"encoder_heads": 4, "decoder_heads": 4}
        model = initialised(scale=scale, d_model=128, encoder_d_ff=512, encoder_layers=4, **heads)
        with torch.no_grad():
            memory = model.encode(random_ids(16, 16))
        unit = nn.functional.normalize(memory, dim=-1)
        pairs = unit @ unit.transpose(1, 2)  # [B, S, S]
        return pairs[:, ~torch.eye(16, dtype=torch.bool)].mean().item()

    assert cosine(0.5) < 0.5 * cosine(1.0)
