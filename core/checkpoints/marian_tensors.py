"""The tensors of a MarianMTModel: what they are called, which are one, and which positions.

Legend: D d_model, V vocabulary, n positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from core.checkpoints.assembly import Parts
from core.checkpoints.weights import Weights
from core.config import ModelConfig
from core.errors import UserError
from core.model.positions import sinusoid_table

_SHARED = "model.shared.weight"
_SOURCE = "model.encoder.embed_tokens.weight"
_TARGET = "model.decoder.embed_tokens.weight"
_OUTPUT = "lm_head.weight"
_OUTPUT_BIAS = "final_logits_bias"
_POSITIONS = tuple(f"model.{stack}.embed_positions.weight" for stack in ("encoder", "decoder"))
_SAME = 1e-3
"""How far a table may be from a formula: half precision moves a sine by up to 2.5e-4."""


class MarianTensors:
    """The weights of a MarianMTModel, each name being one parameter or a part of one.

    A matrix that a file holds under several names is one, and has to be the same under each.

    Attributes:
        settings: what the tensors say of the model's configuration.
        positions_in_words: where the encodings of positions come from.
    """

    def __init__(
        self, weights: Weights, *, shared: bool, tied: bool, d_model: int, origin: str
    ) -> None:
        """
        Args:
            shared, tied: ``share_encoder_decoder_embeddings`` and ``tie_word_embeddings``.

        Raises:
            UserError: matrices that are to be one differ, or the positions are not understood.
        """
        self._weights = weights
        self._origin = origin
        self._taken: dict[str, Tensor] = {}
        self.names = weights.names
        self.settings: dict[str, Any] = {
            "shared_embeddings": self._join_embeddings(shared, tied),
            "output_bias": _OUTPUT_BIAS in weights.names,
        }
        self.positions_in_words = self._settle_positions(d_model)

    def shape(self, name: str) -> Sequence[int]:
        return self._taken[name].shape if name in self._taken else self._weights.shape(name)

    def take(self, name: str) -> Tensor:
        taken = self._taken.pop(name, None)
        return self._weights.take(name) if taken is None else taken

    def _join_embeddings(self, shared: bool, tied: bool) -> str:
        if not shared:
            if not tied:
                return "none"
            self._join((_TARGET, _OUTPUT))
            return "target"
        if tied:
            self._join((_SOURCE, _SHARED, _TARGET, _OUTPUT))
            return "all"
        # Without tied outputs, newer versions of transformers tie no inputs either and leave
        # ``shared`` unused; older ones save it alone.
        if {_SOURCE, _TARGET} <= self.names and not self._same(_SOURCE, _TARGET):
            self.names -= {_SHARED}
            return "none"
        self._join((_SOURCE, _SHARED, _TARGET))
        return "inputs"

    def _join(self, names: Iterable[str]) -> None:
        """These are one matrix, called by the first of the names."""
        first, *others = names
        present = [name for name in (first, *others) if name in self.names]
        if not present:
            return  # the lack is told with all others
        for name in present[1:]:
            if not self._same(present[0], name):
                raise UserError(
                    f"{self._origin}: {present[0]} and {name} differ, although the configuration "
                    "says that they are shared; the model is damaged."
                )
            del self._taken[name]
        if present[0] != first:
            self._taken[first] = self._read(present[0])
            del self._taken[present[0]]
        self.names = (self.names - set(present)) | {first}

    def _same(self, one: str, other: str) -> bool:
        return torch.equal(self._read(one), self._read(other))

    def _read(self, name: str) -> Tensor:
        """As ``take``, and kept for it."""
        if name not in self._taken:
            self._taken[name] = self._weights.take(name)
        return self._taken[name]

    def _settle_positions(self, d_model: int) -> str:
        """Sinusoids by the formula that the tables in the file follow, or the tables themselves."""
        self.settings |= {"position_layout": "halves"}
        present = [name for name in _POSITIONS if name in self.names]
        if not present:
            return "sinusoids as transformers computes them; the file has no table"
        self._join(present)
        name = present[0]
        table = self._read(name)  # [n, D]
        if table.dim() != 2 or table.shape[1] != d_model:
            raise UserError(
                f"{self._origin}: {name} has the unexpected shape {list(table.shape)}; the model "
                "is damaged."
            )
        for denominator in ("d_model", "d_model-2"):
            formula = sinusoid_table(0, len(table), d_model, "halves", denominator)
            if torch.allclose(table, formula, rtol=0.0, atol=_SAME):
                half = torch.equal(table, formula.half().float())
                self.settings |= {
                    "position_denominator": denominator,
                    "position_precision": "float16" if half else "float32",
                }
                self.names -= {name}
                del self._taken[name]
                rounded = ", in half precision" if half else ""
                return (
                    f"sinusoids; the table in the file follows the denominator {denominator}"
                    f"{rounded}"
                )
        self.settings |= {"positions": "learned", "max_positions": len(table)}
        self._taken[_POSITIONS[0]] = self._taken.pop(name)
        self.names = (self.names - {name}) | {_POSITIONS[0]}
        return "the table in the file, which follows no formula"


def parts(config: ModelConfig) -> Parts:
    """Return the tensors of a MarianMTModel that make up each of our parameters."""
    found: dict[str, list[str]] = {"source_embedding.weight": [_SOURCE]}
    if config.shared_embeddings in ("target", "none"):
        found["target_embedding.weight"] = [_TARGET]
    if config.shared_embeddings in ("inputs", "none"):
        found["output_embedding.weight"] = [_OUTPUT]
    if config.output_bias:
        found["output_bias"] = [_OUTPUT_BIAS]
    if config.positions == "learned":
        found["positions.weight"] = [_POSITIONS[0]]
    common = [
        ("self_attention.query_key_value", tuple(f"self_attn.{one}_proj" for one in "qkv")),
        ("self_attention.output", ("self_attn.out_proj",)),
        ("self_attention_residual.norm", ("self_attn_layer_norm",)),
        ("feed_forward.inner", ("fc1",)),
        ("feed_forward.outer", ("fc2",)),
        ("feed_forward_residual.norm", ("final_layer_norm",)),
    ]
    cross = [
        ("cross_attention.query", ("encoder_attn.q_proj",)),
        ("cross_attention.key_value", ("encoder_attn.k_proj", "encoder_attn.v_proj")),
        ("cross_attention.output", ("encoder_attn.out_proj",)),
        ("cross_attention_residual.norm", ("encoder_attn_layer_norm",)),
    ]
    for stack, layers, modules in (
        ("encoder", config.encoder_layers, common),
        ("decoder", config.decoder_layers, [*common, *cross]),
    ):
        for layer in range(layers):
            for ours, theirs in modules:
                for leaf in ("weight", "bias"):
                    found[f"{stack}.{layer}.{ours}.{leaf}"] = [
                        f"model.{stack}.layers.{layer}.{one}.{leaf}" for one in theirs
                    ]
    return found
