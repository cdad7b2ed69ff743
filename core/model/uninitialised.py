"""A model made to be filled: no random weights are drawn for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch import nn
from torch.overrides import TorchFunctionMode

from core.config import ModelConfig
from core.model.product import chosen
from core.model.transformer import Transformer


def uninitialised(config: ModelConfig) -> Transformer:
    """Build a model whose weights hold whatever was in memory, stored as ``store_as_chosen`` does.

    The system hands out memory as it is written to, so that they cost none before.
    """
    with _WithoutInitialising():
        model = Transformer(config)
    if chosen().columns:
        for module in model.modules():
            if isinstance(module, nn.Linear):
                module.weight.data = module.weight.data.new_empty(module.weight.shape[::-1]).t()
    return model


class _WithoutInitialising(TorchFunctionMode):
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", "") == "torch.nn.init":
            return kwargs["tensor"]
        return func(*args, **kwargs)
