"""The weights in a Marian `.npz`: their names, and how they lie there.

Names are those of Marian's ``src/models/transformer.h``, layers counted from 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.checkpoints.assembly import Parts
from core.checkpoints.refusal import RefusedError
from core.config import ModelConfig
from core.npz_file import NpzArrays

OPTIONS = "special:model.yml"
POSITIONS = "Wpos"
_OUTPUT = "decoder_ff_logit_out"
_LEGACY_OUTPUT = f"{_OUTPUT}_W"  # [D, V]; later files have [V, D] as _Wt
_OUTPUT_BIAS = f"{_OUTPUT}_b"
_BY_PIECE = frozenset(
    {"Wemb", "encoder_Wemb", "decoder_Wemb", f"{_OUTPUT}_Wt", _LEGACY_OUTPUT, _OUTPUT_BIAS}
)


class MarianWeights:
    """A Marian model's weights in the layout of our model.

    Matrices are transposed, because Marian computes x W and our model x Wᵀ. The padding, for which
    Marian has no embedding, gets a row of zeros.
    """

    def __init__(self, arrays: NpzArrays, pad_id: int) -> None:
        self._arrays = arrays
        self._pad_id = pad_id
        self.names = parameter_names(arrays)

    def shape(self, name: str) -> Sequence[int]:
        rows, columns = self._arrays.layout(name).shape
        if name == _OUTPUT_BIAS:
            return [rows * columns + 1]
        if _is_multiplied(name) or name == _LEGACY_OUTPUT:
            rows, columns = columns, rows
        return [rows + (name in _BY_PIECE), columns]

    def take(self, name: str) -> Tensor:
        tensor = torch.from_numpy(self._arrays.read(name).astype(np.float32, copy=False))
        if _is_multiplied(name):
            return tensor.T
        if name not in _BY_PIECE:
            return tensor
        if name == _LEGACY_OUTPUT:
            tensor = tensor.T
        elif name == _OUTPUT_BIAS:
            tensor = tensor.flatten()
        zeros = torch.zeros_like(tensor[:1])
        return torch.cat([tensor[: self._pad_id], zeros, tensor[self._pad_id :]])


def parameter_names(arrays: NpzArrays) -> frozenset[str]:
    """Return the names of all arrays except the options."""
    return arrays.names - {OPTIONS}


def require_matrices(arrays: NpzArrays) -> None:
    """Check that the weights are plain float32 or float16 matrices.

    Raises:
        RefusedError: the weights are quantised, of another type than float32 and float16, or no
            matrices.
    """
    for name in sorted(parameter_names(arrays)):
        shape, dtype = arrays.layout(name)
        if dtype.kind in "iu" or "QuantMult" in name:
            raise RefusedError(
                f"its weights are quantised ({name} is {dtype}); open the original model"
            )
        if dtype not in (np.float32, np.float16):
            raise RefusedError(f"{name} has type {dtype}, not float32 or float16")
        if len(shape) != 2:
            raise RefusedError(f"{name} has shape {list(shape)}, not two dimensions")


def positions(arrays: NpzArrays) -> dict[str, Any]:
    """Return the part of ``ModelConfig`` on positions.

    Marian scales embeddings up for sinusoids only, whose last wavelength is exactly 10000·2π."""
    if POSITIONS in arrays.names:
        count = arrays.layout(POSITIONS).shape[0]
        return {"positions": "learned", "max_positions": count, "scale_embedding": False}
    return {"position_layout": "halves", "position_denominator": "d_model-2"}


def parts(config: ModelConfig, names: frozenset[str]) -> Parts:
    """Return the arrays that make up each of our parameters."""
    found = dict(_embeddings(config, names))
    for stack, layers in (
        ("encoder", config.encoder_layers),
        ("decoder", config.decoder_layers),
    ):
        for number in range(layers):
            found |= _layer(stack, number, "_pre" if config.norm == "pre" else "")
        if config.has_top_norm:
            found |= _norm(f"{stack}_norm", f"{stack}_top")
    return found


def _embeddings(config: ModelConfig, names: frozenset[str]) -> Iterator[tuple[str, Sequence[str]]]:
    shared = config.shared_embeddings
    if shared in ("all", "inputs"):
        yield "source_embedding.weight", ["Wemb"]
    else:
        yield "source_embedding.weight", ["encoder_Wemb"]
        yield "target_embedding.weight", ["decoder_Wemb"]
    if shared in ("inputs", "none"):
        matrix = _LEGACY_OUTPUT if _LEGACY_OUTPUT in names else f"{_OUTPUT}_Wt"
        yield "output_embedding.weight", [matrix]
    if config.output_bias:
        yield "output_bias", [_OUTPUT_BIAS]
    if config.positions == "learned":
        yield "positions.weight", [POSITIONS]


def _layer(stack: str, number: int, suffix: str) -> dict[str, Sequence[str]]:
    ours, theirs = f"{stack}.{number}", f"{stack}_l{number + 1}"
    found = {
        **_attention(f"{ours}.self_attention", f"{theirs}_self", {"query_key_value": "qkv"}),
        **_norm(f"{ours}.self_attention_residual.norm", f"{theirs}_self_Wo", suffix),
        **_linear(f"{ours}.feed_forward.inner", f"{theirs}_ffn", "1"),
        **_linear(f"{ours}.feed_forward.outer", f"{theirs}_ffn", "2"),
        **_norm(f"{ours}.feed_forward_residual.norm", f"{theirs}_ffn_ffn", suffix),
    }
    if stack == "decoder":
        projections = {"query": "q", "key_value": "kv"}
        found |= _attention(f"{ours}.cross_attention", f"{theirs}_context", projections)
        found |= _norm(f"{ours}.cross_attention_residual.norm", f"{theirs}_context_Wo", suffix)
    return found


def _attention(ours: str, theirs: str, projections: dict[str, str]) -> dict[str, Sequence[str]]:
    return {
        name: arrays
        for projection, letters in {**projections, "output": "o"}.items()
        for name, arrays in _linear(f"{ours}.{projection}", theirs, letters).items()
    }


def _linear(ours: str, theirs: str, letters: str) -> dict[str, Sequence[str]]:
    """``letters``: of the products that one of ours computes together."""
    return {
        f"{ours}.weight": [f"{theirs}_W{letter}" for letter in letters],
        f"{ours}.bias": [f"{theirs}_b{letter}" for letter in letters],
    }


def _norm(ours: str, theirs: str, suffix: str = "") -> dict[str, Sequence[str]]:
    return {
        f"{ours}.weight": [f"{theirs}_ln_scale{suffix}"],
        f"{ours}.bias": [f"{theirs}_ln_bias{suffix}"],
    }


def _is_multiplied(name: str) -> bool:
    return name[-3:-1] == "_W" and name[-1] in "qkvo12"
