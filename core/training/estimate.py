"""What a run will need, by closed formulas: no model is made, and torch is not imported.

Legend: d d_model, h heads, V vocabulary.
"""

from __future__ import annotations

from core.config import ModelConfig
from core.training.config import RunConfig

_BYTES = {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2}
_COPIES = 4  # weights, gradient and Adam's two moments
PROGRAM_BYTES = 400_000_000
"""What a process takes before there is a model: Python, torch and its buffers, the text."""
LOGITS_ROWS = 512  # target positions whose logits exist at a time, see core.training.loss


def parameter_count(config: ModelConfig) -> int:
    """Return the number of trained parameters, counting a shared matrix once (docs/formulas.md,
    "Parameters")."""
    d = config.d_model
    norm = 2 * d
    encoder_attention = _attention(config, config.encoder_heads, "encoder")
    decoder_attention = _attention(config, config.decoder_heads, "decoder")
    encoder_layer = encoder_attention + _feed_forward(d, config.encoder_d_ff) + 2 * norm
    decoder_layer = 2 * decoder_attention + _feed_forward(d, config.decoder_d_ff) + 3 * norm
    matrices = {"all": 1, "target": 2, "inputs": 2, "none": 3}[config.shared_embeddings]
    return (
        config.encoder_layers * encoder_layer
        + config.decoder_layers * decoder_layer
        + matrices * config.vocab_size * d
        + (config.vocab_size if config.output_bias else 0)
        + (config.max_positions * d if config.positions == "learned" else 0)
        + (2 * norm if config.has_top_norm else 0)
    )


def memory_bytes(config: RunConfig) -> int:
    """Estimate the memory of training in bytes.

    It is the sum of the program, weights, gradient, Adam's moments and what one full batch keeps
    for the backward pass. See docs/formulas.md, "Memory of training"."""
    model, training = config.model, config.training
    d = model.d_model
    inner = 1 if model.activation == "relu" else 2  # ReLU overwrites what comes in
    around = (3 if model.dropout > 0 else 2) * d  # mask, sum and norm of each sub-layer
    masks = d if model.dropout > 0 else 0  # on the embeddings
    encoder = _kept_by_attention(model, "encoder") + inner * model.encoder_d_ff + 2 * around
    decoder = _kept_by_attention(model, "decoder") + inner * model.decoder_d_ff + 3 * around
    # The cross-attention keeps queries and output per target token, keys and values per source
    # token.
    cross = model.decoder_heads * (model.decoder_d_k + model.decoder_d_v)
    per_source = model.encoder_layers * encoder + model.decoder_layers * cross + masks
    per_target = model.decoder_layers * (decoder + cross) + masks + d
    kept = training.source_batch_tokens * per_source + training.target_batch_tokens * per_target
    longer = max(training.source_batch_tokens, training.target_batch_tokens)
    gradients = longer * (2 * max(model.encoder_d_ff, model.decoder_d_ff) + 6 * d)  # of one layer
    width = _BYTES[training.precision]
    logits_width = max(4, width)  # the loss is never computed in less than float32
    logits = min(LOGITS_ROWS, training.target_batch_tokens) * model.vocab_size
    numbers = _COPIES * logits_width * parameter_count(model) + logits_width * logits
    return PROGRAM_BYTES + numbers + width * (kept + gradients)


def _attention(config: ModelConfig, heads: int, side: str) -> int:
    d_k: int = getattr(config, f"{side}_d_k")
    d_v: int = getattr(config, f"{side}_d_v")
    inside = heads * (2 * d_k + d_v)
    biases = inside + config.d_model if config.bias else 0
    return config.d_model * inside + heads * d_v * config.d_model + biases


def _feed_forward(d: int, d_ff: int) -> int:
    return 2 * d * d_ff + d_ff + d


def _kept_by_attention(config: ModelConfig, side: str) -> int:
    """Numbers per token: queries, keys, values, and the heads' output."""
    heads: int = getattr(config, f"{side}_heads")
    d_k: int = getattr(config, f"{side}_d_k")
    d_v: int = getattr(config, f"{side}_d_v")
    return heads * (2 * d_k + 2 * d_v)
