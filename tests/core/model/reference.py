"""A whole forward pass in NumPy float64: one sentence, one head, one row at a time.

Written from the paper's formulas and sharing nothing with ``core.model`` but the names of its
parameters. It knows no padding: a sentence comes as long as it is.

Legend: S source, T target, Q queries, K keys, D d_model, V vocabulary.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.config import ModelConfig

Array = NDArray[np.float64]
Sublayer = Callable[[Array], Array]


class Reference:
    """After a pass, ``maps[kind][layer][head]`` holds each attention map [Q, K].

    Attributes:
        divisor: of the products q · k, from d_k.
        masked: whether target positions see no later ones.
    """

    def __init__(self, config: ModelConfig, weights: Mapping[str, Array]) -> None:
        """``weights``: the model's parameters by name, matrices as [out, in]."""
        self.config = config
        self.weights = weights
        self.divisor: Callable[[int], float] = math.sqrt
        self.masked = config.decoder_mask
        self.maps: dict[str, list[list[Array]]] = defaultdict(list)

    def logits(self, source: Sequence[int], target_in: Sequence[int]) -> Array:
        """[T, V]; figure 1 from bottom to top."""
        tied = self.config.shared_embeddings
        source_table = self.weights["source_embedding.weight"]
        inputs_tied, output_tied = tied in ("all", "inputs"), tied in ("all", "target")
        target_table = source_table if inputs_tied else self.weights["target_embedding.weight"]
        output = target_table if output_tied else self.weights["output_embedding.weight"]

        x = self.embed(source_table, source)
        for layer in range(self.config.encoder_layers):
            name = f"encoder.{layer}"
            x = self.self_attention_block(name, "encoder_self", x, causal=False)
            x = self.feed_forward_block(name, x)
        memory = self.final_norm("encoder_norm", x)

        x = self.embed(target_table, target_in, start=self.config.decoder_start)
        for layer in range(self.config.decoder_layers):
            name = f"decoder.{layer}"
            x = self.self_attention_block(name, "decoder_self", x, causal=self.masked)
            x = self.cross_attention_block(name, x, memory)
            x = self.feed_forward_block(name, x)
        hidden = self.final_norm("decoder_norm", x)
        logits: Array = hidden @ output.T + self.weights.get("output_bias", 0.0)
        logits[:, list(self.config.suppressed_ids)] = -math.inf
        return logits

    def embed(self, table: Array, ids: Sequence[int], start: str = "bos") -> Array:
        """Sections 3.4 and 3.5: [n, D]."""
        scale = math.sqrt(self.config.d_model) if self.config.scale_embedding else 1.0
        rows = []
        for position, token in enumerate(ids):
            encoding = np.zeros(self.config.d_model)
            if self.config.positions == "learned":
                encoding = self.weights["positions.weight"][position]
            elif self.config.positions == "sinusoidal":
                encoding = self.sinusoid(position)
            known = not (start == "zero" and position == 0)
            rows.append(known * scale * table[token] + encoding)
        return np.array(rows)

    def sinusoid(self, position: int) -> Array:
        """[D], rounded to float32 as the model keeps it."""
        d_model = self.config.d_model
        divisor = d_model if self.config.position_denominator == "d_model" else d_model - 2
        angles = [position / 10000 ** (2 * i / divisor) for i in range(d_model // 2)]
        if self.config.position_layout == "halves":
            row = [*map(math.sin, angles), *map(math.cos, angles)]
        else:
            row = [wave(angle) for angle in angles for wave in (math.sin, math.cos)]
        return np.array(row, dtype=np.float32).astype(np.float64)

    def residual(self, name: str, x: Array, sublayer: Sublayer) -> Array:
        """Section 3.1, or the pre-norm variant."""
        if self.config.norm == "post":
            return self.layer_norm(f"{name}.norm", x + sublayer(x))
        return x + sublayer(self.layer_norm(f"{name}.norm", x))

    def layer_norm(self, name: str, x: Array) -> Array:
        gain, shift = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        rows = []
        for row in x:
            centred = row - row.mean()
            deviation = math.sqrt((centred**2).mean() + self.config.norm_epsilon)
            rows.append(centred / deviation * gain + shift)
        return np.array(rows)

    def final_norm(self, name: str, x: Array) -> Array:
        top_norm = self.config.top_norm
        has_norm = self.config.norm == "pre" if top_norm is None else top_norm
        return self.layer_norm(name, x) if has_norm else x

    def linear(self, name: str, x: Array) -> Array:
        return x @ self.weights[f"{name}.weight"].T + self.weights.get(f"{name}.bias", 0.0)

    def feed_forward_block(self, layer: str, x: Array) -> Array:
        """Equation 2."""

        def sublayer(y: Array) -> Array:
            inner = activation(
                self.config.activation, self.linear(f"{layer}.feed_forward.inner", y)
            )
            return self.linear(f"{layer}.feed_forward.outer", inner)

        return self.residual(f"{layer}.feed_forward_residual", x, sublayer)

    def self_attention_block(self, layer: str, kind: str, x: Array, *, causal: bool) -> Array:
        heads, d_k, _ = self.head_shape(kind)
        name = f"{layer}.self_attention"

        def sublayer(y: Array) -> Array:
            fused = self.linear(f"{name}.query_key_value", y)
            query, key, value = np.split(fused, [heads * d_k, 2 * heads * d_k], axis=1)
            return self.multi_head(name, kind, query, key, value, causal=causal)

        return self.residual(f"{name}_residual", x, sublayer)

    def cross_attention_block(self, layer: str, x: Array, memory: Array) -> Array:
        heads, d_k, _ = self.head_shape("cross")
        name = f"{layer}.cross_attention"

        def sublayer(y: Array) -> Array:
            query = self.linear(f"{name}.query", y)
            key, value = np.split(self.linear(f"{name}.key_value", memory), [heads * d_k], axis=1)
            return self.multi_head(name, "cross", query, key, value, causal=False)

        return self.residual(f"{name}_residual", x, sublayer)

    def multi_head(
        self, name: str, kind: str, query: Array, key: Array, value: Array, *, causal: bool
    ) -> Array:
        """Concat(head_1 … head_h) W^O."""
        heads, d_k, d_v = self.head_shape(kind)
        maps, outputs = [], []
        for head in range(heads):
            of_keys = slice(head * d_k, (head + 1) * d_k)
            of_values = slice(head * d_v, (head + 1) * d_v)
            q, k = query[:, of_keys], key[:, of_keys]
            if self.config.positions == "rotary" and kind != "cross":
                q, k = rotated(q), rotated(k)
            maps.append(attention_map(q, k, self.divisor(d_k), causal=causal))
            outputs.append(maps[-1] @ value[:, of_values])
        self.maps[kind].append(maps)
        return self.linear(f"{name}.output", np.concatenate(outputs, axis=1))

    def head_shape(self, kind: str) -> tuple[int, int, int]:
        """h, d_k, d_v."""
        encoder = kind == "encoder_self"
        heads = self.config.encoder_heads if encoder else self.config.decoder_heads
        d_k = self.config.d_k or self.config.d_model // heads
        return heads, d_k, self.config.d_v or d_k


def rotated(x: Array) -> Array:
    """RoFormer, equation 34: row p of x [n, d_k] times a matrix that turns each pair of columns,
    whose sines and cosines are rounded to float32 as the model keeps them."""
    rows = []
    for position, row in enumerate(x):
        turning = np.zeros((len(row), len(row)))
        for i in range(0, len(row), 2):
            angle = position / 10000 ** (i / len(row))
            sine, cosine = float(np.float32(math.sin(angle))), float(np.float32(math.cos(angle)))
            turning[i : i + 2, i : i + 2] = [[cosine, -sine], [sine, cosine]]
        rows.append(turning @ row)
    return np.array(rows)


def attention_map(query: Array, key: Array, divisor: float, *, causal: bool) -> Array:
    """softmax(QKᵀ / divisor) of one head, cell by cell: query [Q, d_k], key [K, d_k] → [Q, K]."""
    weights = np.zeros((len(query), len(key)))
    for i, q in enumerate(query):
        seen = i + 1 if causal else len(key)
        exponentials = [math.exp(q @ key[j] / divisor) for j in range(seen)]
        for j, exponential in enumerate(exponentials):
            weights[i, j] = exponential / sum(exponentials)
    return weights


def activation(name: str, x: Array) -> Array:
    if name == "relu":
        return np.maximum(x, 0.0)
    if name == "silu":
        return x / (1.0 + np.exp(-x))
    erf = np.vectorize(math.erf)
    return x * (1.0 + erf(x / math.sqrt(2.0))) / 2.0
