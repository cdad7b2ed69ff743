"""A model put together from the tensors of a foreign file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import torch
from torch import nn

from core.checkpoints.weights import Weights
from core.config import ModelConfig
from core.errors import UserError
from core.model.transformer import Transformer
from core.model.uninitialised import uninitialised

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
    model = uninitialised(config)
    parameters = dict(model.named_parameters())
    assert parameters.keys() == parts.keys(), parameters.keys() ^ parts.keys()
    for name, names in parts.items():
        _fill(parameters[name], names, weights, origin)
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


def _fill(parameter: nn.Parameter, names: Sequence[str], weights: Weights, origin: str) -> None:
    """The tensors one below the other; a row [1, n] serves as a vector [n]."""
    needed = [parameter.shape[0] // len(names), *parameter.shape[1:]]
    tensors = []
    for name in names:
        tensor = weights.take(name)
        if parameter.dim() == 1 and tensor.dim() == 2 and len(tensor) == 1:
            tensor = tensor[0]
        if list(tensor.shape) != needed:
            raise UserError(
                f"{origin}: {name} has shape {list(tensor.shape)}; the model that its "
                f"configuration describes needs {needed}."
            )
        tensors.append(tensor)
    whole = tensors[0] if len(tensors) == 1 else torch.cat(tensors)
    parameter.data = whole if parameter.is_contiguous() else whole.t().contiguous().t()
