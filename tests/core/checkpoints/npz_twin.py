"""Marian's Transformer in NumPy and float64, from the arrays of its file, one sentence at a time.

After ``src/models/transformer.h``, read as a recipe: x W, not x Wᵀ; the position table is sines,
then cosines, of pos · 10000^(−k / (d/2 − 1)); norms divide by √(variance + 1e-6).

Legend: S source, T target, D d_model, H heads, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.heads import AttentionKind

Numbers = NDArray[np.float64]
E, D, C = AttentionKind


def position_table(length: int, d_model: int) -> Numbers:
    rate = np.exp(-np.arange(d_model // 2) * np.log(10000) / (d_model / 2 - 1))
    angle = np.arange(length)[:, None] * rate
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)


@dataclass
class Twin:
    arrays: Mapping[str, NDArray[Any]]
    options: Mapping[str, Any]
    maps: dict[AttentionKind, list[Numbers]] = field(default_factory=lambda: {E: [], D: [], C: []})

    def scores(self, source: Sequence[int], target: Sequence[int]) -> Numbers:
        """Source ids with the end token; target ids, before the first of which a zero embedding
        stands → [T + 1, V]. Attention is left in ``maps``, [H, Q, K] a layer."""
        tied = self.options["tied-embeddings-all"] or self.options["tied-embeddings-src"]
        encoder_words = self._array("Wemb" if tied else "encoder_Wemb")
        decoder_words = self._array("Wemb" if tied else "decoder_Wemb")
        memory = self._positioned(encoder_words[list(source)])
        for number in range(1, self.options["enc-depth"] + 1):
            layer = f"encoder_l{number}"
            memory = self._attention(f"{layer}_self", memory, memory, E)
            memory = self._feed_forward(f"{layer}_ffn", memory)
        memory = self._top("encoder", memory)
        x = np.zeros((1 + len(target), encoder_words.shape[1]))
        x[1:] = decoder_words[list(target)]
        x = self._positioned(x)
        for number in range(1, self.options["dec-depth"] + 1):
            layer = f"decoder_l{number}"
            x = self._attention(f"{layer}_self", x, x, D)
            x = self._attention(f"{layer}_context", x, memory, C)
            x = self._feed_forward(f"{layer}_ffn", x)
        x = self._top("decoder", x)
        if "decoder_ff_logit_out_Wt" in self.arrays:
            scores = x @ self._array("decoder_ff_logit_out_Wt").T
        elif "decoder_ff_logit_out_W" in self.arrays:
            scores = x @ self._array("decoder_ff_logit_out_W")
        else:
            scores = x @ decoder_words.T
        if "decoder_ff_logit_out_b" in self.arrays:
            scores = scores + self._array("decoder_ff_logit_out_b")
        return scores

    def _array(self, name: str) -> Numbers:
        return self.arrays[name].astype(np.float64)

    def _positioned(self, embedded: Numbers) -> Numbers:
        if "Wpos" in self.arrays:
            return embedded + self._array("Wpos")[: len(embedded)]
        d_model = embedded.shape[1]
        return embedded * np.sqrt(d_model) + position_table(len(embedded), d_model)

    def _attention(self, name: str, x: Numbers, of: Numbers, kind: AttentionKind) -> Numbers:
        inputs = self._before(f"{name}_Wo", x)
        # In self-attention keys and values come from the normed input as queries do.
        of = inputs if kind is not C else of
        query, key, value = (
            self._split(self._affine(name, letter, values))
            for letter, values in (("q", inputs), ("k", of), ("v", of))
        )
        weights = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        if kind is D:
            weights[:, ~np.tri(len(x), dtype=bool)] = -np.inf
        weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        self.maps[kind].append(weights)
        joined = (weights @ value).transpose(1, 0, 2).reshape(len(x), -1)
        return self._after(f"{name}_Wo", self._affine(name, "o", joined), x)

    def _feed_forward(self, name: str, x: Numbers) -> Numbers:
        inner = self._affine(name, "1", self._before(f"{name}_ffn", x))
        if self.options["transformer-ffn-activation"] == "relu":
            inner = np.maximum(inner, 0)
        else:
            inner = inner / (1 + np.exp(-inner))
        return self._after(f"{name}_ffn", self._affine(name, "2", inner), x)

    def _affine(self, name: str, letter: str, x: Numbers) -> Numbers:
        return x @ self._array(f"{name}_W{letter}") + self._array(f"{name}_b{letter}")

    def _split(self, x: Numbers) -> Numbers:
        return x.reshape(len(x), self.options["transformer-heads"], -1).transpose(1, 0, 2)

    def _before(self, name: str, x: Numbers) -> Numbers:
        if "n" in self.options["transformer-preprocess"]:
            return self._norm(name, x, "_pre")
        return x

    def _after(self, name: str, x: Numbers, before: Numbers) -> Numbers:
        x = x + before
        return self._norm(name, x) if "n" in self.options["transformer-postprocess"] else x

    def _top(self, stack: str, x: Numbers) -> Numbers:
        if "n" in self.options["transformer-postprocess-top"]:
            return self._norm(f"{stack}_top", x)
        return x

    def _norm(self, name: str, x: Numbers, suffix: str = "") -> Numbers:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-6)
        gain, bias = (self._array(f"{name}_ln_{one}{suffix}") for one in ("scale", "bias"))
        return scaled * gain + bias
