"""A model put together from the tensors of a foreign file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import torch
from torch import nn

from core.checkpoints.weights import Weights
from core.config import ModelConfig
from core.counted import counted
from core.errors import UserError
from core.model.transformer import Transformer
from core.model.uninitialised import uninitialised

Parts = Mapping[str, Sequence[str]]
"""For each parameter of ours, the foreign tensors that it is, one below the other."""


def assemble(config: ModelConfig, parts: Parts, weights: Weights, origin: str) -> Transformer:
    """Fill every parameter from the file, with every tensor going into exactly one of them.

    Memory stays near that of the weights: each tensor becomes a parameter as it is read.

    Raises:
        UserError: a tensor is missing, left over, of another shape or without numbers; it names
            the first few.
    """
    wanted = [name for names in parts.values() for name in names]
    require_all_used(weights.names, wanted, origin)
    for name, size in _sizes(config).items():  # before a model of these sizes takes memory
        _require_shape(size, parts[name], weights, origin)
    model = uninitialised(config)
    parameters = dict(model.named_parameters())
    assert parameters.keys() == parts.keys(), parameters.keys() ^ parts.keys()
    for name, names in parts.items():
        _require_shape(parameters[name].shape, names, weights, origin)
        _fill(parameters[name], names, weights, origin)
    return model.eval()


def require_all_used(present: Collection[str], wanted: Collection[str], origin: str) -> None:
    """Check that the file's tensors are exactly the wanted ones.

    Raises:
        UserError: some are wanted and not present, or the reverse; it names the first few.
    """
    for names, problem in (
        (set(wanted) - set(present), "lacks"),
        (set(present) - set(wanted), "has"),
    ):
        if names:
            shown = ", ".join(sorted(names)[:3])
            more = ", …" if len(names) > 3 else ""
            unknown = " that a model of this kind does not have" if problem == "has" else ""
            raise UserError(
                f"{origin} {problem} {counted(len(names), 'tensor')}{unknown}: {shown}{more}. It "
                "is damaged or of "
                "another kind."
            )


def _sizes(config: ModelConfig) -> dict[str, tuple[int, int]]:
    """The shapes of some parameters, which say how large all others are."""
    return {
        "source_embedding.weight": (config.vocab_size, config.d_model),
        "encoder.0.feed_forward.inner.weight": (config.encoder_d_ff, config.d_model),
        "decoder.0.feed_forward.inner.weight": (config.decoder_d_ff, config.d_model),
    }


def _require_shape(
    shape: Sequence[int], names: Sequence[str], weights: Weights, origin: str
) -> None:
    """Of the tensors one below the other; a row [1, n] serves as a vector [n]."""
    needed = [shape[0] // len(names), *shape[1:]]
    allowed = [needed, [1, *needed]] if len(shape) == 1 else [needed]
    for name in names:
        if list(weights.shape(name)) not in allowed:
            raise UserError(
                f"{origin}: {name} has shape {list(weights.shape(name))}, but the configuration "
                f"needs {needed}; the model is damaged."
            )


def _fill(parameter: nn.Parameter, names: Sequence[str], weights: Weights, origin: str) -> None:
    """The tensors one below the other."""
    tensors = []
    for name in names:
        tensor = weights.take(name)
        if not tensor.sum().isfinite():  # one that is none makes the sum none
            raise UserError(
                f"{origin}: {name} contains NaN or infinite values; the model is damaged."
            )
        tensors.append(tensor.flatten() if parameter.dim() == 1 else tensor)
    whole = tensors[0] if len(tensors) == 1 else torch.cat(tensors)
    parameter.data = whole if parameter.is_contiguous() else whole.t().contiguous().t()
