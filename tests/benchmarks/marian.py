"""The peer: MarianMTModel of `transformers` with the shape, and the weights, of a model of ours."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from core.config import ModelConfig
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from tests.benchmarks.figure import UnavailableError

_POSITIONS = 512


def benchmark_model() -> Transformer:
    """4 + 4 layers, 8 heads, d_model 256, d_ff 1024, vocabulary 8000: 7.9 million parameters."""
    config = ModelConfig(
        vocab_size=8000,
        d_model=256,
        encoder_layers=4,
        decoder_layers=4,
        encoder_heads=8,
        decoder_heads=8,
        encoder_d_ff=1024,
        decoder_d_ff=1024,
    )
    model = Transformer(config)
    initialise(model, seed=1, scale=0.5)
    return model


def marian_twin(model: Transformer) -> Any:
    """A MarianMTModel that computes the same function, in the same mode.

    The model must be as the paper has it: post-norm, one shared embedding, sinusoids, biases.
    """
    try:
        from transformers import MarianConfig, MarianMTModel
    except ImportError as error:
        raise UnavailableError("the package transformers is missing") from error
    config = model.config
    twin = MarianMTModel(
        MarianConfig(
            vocab_size=config.vocab_size,
            d_model=config.d_model,
            encoder_layers=config.encoder_layers,
            decoder_layers=config.decoder_layers,
            encoder_attention_heads=config.encoder_heads,
            decoder_attention_heads=config.decoder_heads,
            encoder_ffn_dim=config.encoder_d_ff,
            decoder_ffn_dim=config.decoder_d_ff,
            activation_function=config.activation,
            dropout=config.dropout,
            scale_embedding=config.scale_embedding,
            max_position_embeddings=_POSITIONS,
            pad_token_id=config.pad_id,
            bos_token_id=config.bos_id,
            eos_token_id=config.eos_id,
            decoder_start_token_id=config.bos_id,
            forced_eos_token_id=None,
        )
    )
    with torch.no_grad():
        twin.model.shared.weight.copy_(model.source_embedding.weight)
        if model.output_bias is not None:
            twin.final_logits_bias.copy_(model.output_bias[None])
        for stack in (twin.model.encoder, twin.model.decoder):
            stack.embed_positions.weight.copy_(model.positions(0, _POSITIONS))
        for ours, theirs in zip(model.encoder, twin.model.encoder.layers, strict=True):
            _copy_self_attention(ours, theirs)
            _copy_feed_forward(ours, theirs)
        for ours, theirs in zip(model.decoder, twin.model.decoder.layers, strict=True):
            _copy_self_attention(ours, theirs)
            cross = ours.cross_attention
            _copy_linear(theirs.encoder_attn.q_proj, cross.query.weight, cross.query.bias)
            _copy_parts(cross.key_value, cross.widths, theirs.encoder_attn, ("k_proj", "v_proj"))
            theirs.encoder_attn.out_proj.load_state_dict(cross.output.state_dict())
            theirs.encoder_attn_layer_norm.load_state_dict(
                ours.cross_attention_residual.norm.state_dict()
            )
            _copy_feed_forward(ours, theirs)
    return twin.train(model.training)


def _copy_self_attention(ours: Any, theirs: Any) -> None:
    attention = ours.self_attention
    names = ("q_proj", "k_proj", "v_proj")
    _copy_parts(attention.query_key_value, attention.widths, theirs.self_attn, names)
    theirs.self_attn.out_proj.load_state_dict(attention.output.state_dict())
    theirs.self_attn_layer_norm.load_state_dict(ours.self_attention_residual.norm.state_dict())


def _copy_feed_forward(ours: Any, theirs: Any) -> None:
    theirs.fc1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.fc2.load_state_dict(ours.feed_forward.outer.state_dict())
    theirs.final_layer_norm.load_state_dict(ours.feed_forward_residual.norm.state_dict())


def _copy_parts(
    fused: nn.Linear, widths: tuple[int, ...], block: nn.Module, names: tuple[str, ...]
) -> None:
    weights, biases = fused.weight.split(widths), fused.bias.split(widths)
    for name, weight, bias in zip(names, weights, biases, strict=True):
        _copy_linear(getattr(block, name), weight, bias)


def _copy_linear(linear: nn.Linear, weight: torch.Tensor, bias: torch.Tensor) -> None:
    linear.weight.copy_(weight)
    linear.bias.copy_(bias)
