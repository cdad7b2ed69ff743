"""A model put together from the tensors of a foreign file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import torch
from torch import Tensor

from core.checkpoints.weights import Weights
from core.config import ModelConfig
from core.errors import UserError
from core.model.layout import column_major
from core.model.positions import SinusoidalPositions
from core.model.transformer import Transformer

Parts = Mapping[str, Sequence[str]]
"""For each parameter of ours, the foreign tensors that it is, one below the other."""


def assemble(config: ModelConfig, parts: Parts, weights: Weights, origin: str) -> Transformer:
    """Every tensor of the file goes into exactly one parameter, and every parameter is filled.

    Memory stays near that of the weights: each tensor becomes a parameter as it is read.

    Raises:
        UserError: a tensor is missing, left over or of another shape; it names the first few.
    """
    wanted = [name for names in parts.values() for name in names]
    require_all_used(weights.names, wanted, origin)
    with torch.device("meta"):
        model = Transformer(config)
    parameters = dict(model.named_parameters())
    assert parameters.keys() == parts.keys(), parameters.keys() ^ parts.keys()
    filled = {
        name: _stacked([weights.take(one) for one in names], parameters[name].shape, names, origin)
        for name, names in parts.items()
    }
    model.load_state_dict(filled, strict=False, assign=True)
    if isinstance(model.positions, SinusoidalPositions):
        model.positions = SinusoidalPositions(config)  # its table was without memory
    column_major(model)
    return model.eval()


def require_all_used(present: Collection[str], wanted: Collection[str], origin: str) -> None:
    """
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
                f"{origin} {problem} {len(names)} tensor(s){unknown}: {shown}{more}. It is damaged "
                "or of another kind."
            )


def _stacked(
    tensors: Sequence[Tensor], shape: torch.Size, names: Sequence[str], origin: str
) -> Tensor:
    """One below the other; a row [1, n] serves as a vector [n]."""
    if len(shape) == 1:
        tensors = [one[0] if one.dim() == 2 and len(one) == 1 else one for one in tensors]
    needed = [shape[0] // len(tensors), *shape[1:]]
    for one, name in zip(tensors, names, strict=True):
        if list(one.shape) != needed:
            raise UserError(
                f"{origin}: {name} has shape {list(one.shape)}; the model that its configuration "
                f"describes needs {needed}."
            )
    return tensors[0] if len(tensors) == 1 else torch.cat(list(tensors))
