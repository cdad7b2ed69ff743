"""What a sentence costs: multiply-adds by part, comparisons, and bytes of the key-value cache.

All of it follows from the configuration and holds exactly. Legend: n source tokens, m target
tokens, both with their special token; H heads, d_k and d_v their widths.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from core.config import ModelConfig
from core.heads import AttentionKind

FLOAT32 = 4
"""Bytes of a number in the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Multiply-adds of matrix products, by part; a floating-point count is twice as large.

    Attributes:
        embedding: of looking up embeddings, which takes no product.
        projections: W^Q, W^K, W^V and W^O of all blocks.
        scores: q · k, and the weights times the values.
        feed_forward: W_1 and W_2 of all layers.
        output: the scores of the vocabulary.
    """

    embedding: int = 0
    projections: int = 0
    scores: int = 0
    feed_forward: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """The sum of all parts."""
        return sum(asdict(self).values())

    def __add__(self, other: Work) -> Work:
        mine, others = asdict(self), asdict(other)
        return Work(**{part: mine[part] + others[part] for part in mine})

    def to_dict(self) -> dict[str, int]:
        """Return JSON values."""
        return {**asdict(self), "total": self.total}


def pass_work(config: ModelConfig, n: int, m: int) -> Work:
    """Return the work of one pass over n source and m target tokens.

    Each decoder row is counted with all m columns, those that the mask hides among them: what full
    matrix products compute, and what torch's own counter says.
    """
    return encoder_work(config, n) + _rows(config, m, own=m * m, crossed=m * n)


def decoding_work(config: ModelConfig, n: int, m: int) -> Work:
    """Return the work of decoding m tokens one by one with a cache, the encoder's included."""
    return encoder_work(config, n) + _rows(config, m, own=comparisons(m), crossed=m * n)


def step_work(config: ModelConfig, n: int, step: int) -> Work:
    """Return the work of one decoding step with a cache; steps count from 1."""
    return _rows(config, 1, own=step, crossed=n)


def encoder_work(config: ModelConfig, n: int) -> Work:
    """Return the work of encoding n tokens, and of projecting them to each decoder layer's keys and
    values."""
    kind, width = AttentionKind.ENCODER_SELF, config.d_model
    heads, crossed = _kept(config, kind), _kept(config, AttentionKind.CROSS)
    d_k, d_v = config.encoder_d_k, config.encoder_d_v
    block = n * width * heads * 2 * (d_k + d_v)
    memory = n * width * crossed * (config.decoder_d_k + config.decoder_d_v)
    return Work(
        projections=block + memory,
        scores=heads * n * n * (d_k + d_v),
        feed_forward=2 * n * width * config.encoder_d_ff * config.encoder_layers,
    )


def _rows(config: ModelConfig, rows: int, own: int, crossed: int) -> Work:
    """The work of decoder rows whose heads compare ``own`` pairs of query and key in
    self-attention and ``crossed`` pairs in cross-attention."""
    width, d_k, d_v = config.d_model, config.decoder_d_k, config.decoder_d_v
    of_self = _kept(config, AttentionKind.DECODER_SELF)
    of_cross = _kept(config, AttentionKind.CROSS)
    return Work(
        projections=rows * width * (of_self * 2 * (d_k + d_v) + of_cross * (d_k + d_v)),
        scores=(of_self * own + of_cross * crossed) * (d_k + d_v),
        feed_forward=2 * rows * width * config.decoder_d_ff * config.decoder_layers,
        output=rows * width * config.target_vocabulary,
    )


def _kept(config: ModelConfig, kind: AttentionKind) -> int:
    """The number of heads of a kind in all layers."""
    return sum(len(config.kept_heads(kind, layer)) for layer in range(config.layers(kind)))


def comparisons(steps: int) -> int:
    """Return 1 + 2 + … + ``steps``: the comparisons that one head of the decoder's self-attention
    makes in so many steps with a cache. At step i it makes i, one with each position so far."""
    return steps * (steps + 1) // 2


def comparisons_without_cache(steps: int) -> int:
    """Return the same where each step computes all rows so far again: Σ (1 + 2 + … + i)."""
    return steps * (steps + 1) * (steps + 2) // 6


@dataclass(frozen=True, slots=True)
class CacheSize:
    """The bytes of the key-value cache of one hypothesis, in float32.

    Attributes:
        own: those of each target token in each layer's self-attention. The cache is one
            allocation, so that a layer with pruned heads takes as much as the others.
        cross: those of each source token in each layer's cross-attention, once a sentence.
    """

    own: tuple[int, ...]
    cross: tuple[int, ...]

    def of_layer(self, layer: int, n: int, m: int) -> int:
        """The bytes of a layer after m steps."""
        return self.own[layer] * m + self.cross[layer] * n

    def of(self, n: int, m: int) -> int:
        """The bytes of all layers after m steps."""
        return sum(self.own) * m + sum(self.cross) * n


def cache_size(config: ModelConfig) -> CacheSize:
    """Return the bytes of ``core.model.cache.DecoderCache``, without its mask of one byte for each
    slot."""
    each = (config.decoder_d_k + config.decoder_d_v) * FLOAT32
    layers = range(config.decoder_layers)
    return CacheSize(
        own=tuple(config.decoder_heads * each for _ in layers),
        cross=tuple(len(config.kept_heads(AttentionKind.CROSS, layer)) * each for layer in layers),
    )


def cost(config: ModelConfig, n: int, m: int) -> dict[str, Any]:
    """Return all of this for n source and m target tokens, as JSON values."""
    cache = cache_size(config)
    return {
        "source_tokens": n,
        "target_tokens": m,
        "multiply_adds": {
            "whole_pass": pass_work(config, n, m).to_dict(),
            "decoding": decoding_work(config, n, m).to_dict(),
            "last_step": step_work(config, n, m).to_dict(),
        },
        "comparisons": {
            "last_step": m,
            "all_steps": comparisons(m),
            "all_steps_without_cache": comparisons_without_cache(m),
        },
        "cache_bytes": {
            "layers": [cache.of_layer(layer, n, m) for layer in range(config.decoder_layers)],
            "total": cache.of(n, m),
        },
    }
