"""What exact resumption needs, in one file that is replaced whole: state/state.safetensors.

Tensors: ``weights.NAME``, ``adam.mean.NAME`` and ``adam.square.NAME`` (Adam's two moments) of each
parameter, ``rng.cpu`` and ``rng.device`` (which draw the dropout), ``tokenizer`` (bytes). The
place in the data and what was summed since the last logged step are JSON in the metadata. Adam
counts its own steps, which are the applied updates, and the schedule is a function of those.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor

from core.checkpoints.native import fill
from core.errors import UserError
from core.files import atomic_write
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer

FORMAT = "transformer-viz-state"


@dataclass(slots=True, kw_only=True)
class Sums:
    """What was summed over the updates since the last logged step."""

    loss: float = 0.0
    tokens: int = 0
    gloss: float = 0.0
    glosses: int = 0
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Position:
    """Where a run stands: after ``update`` applied updates, before batch ``batch`` of ``epoch``.

    ``seconds`` is the time the updates took, validation and saving not counted.
    """

    update: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    since_log: Sums = field(default_factory=Sums)

    @classmethod
    def from_json(cls, text: str) -> Position:
        values = json.loads(text)
        return cls(**values | {"since_log": Sums(**values["since_log"])})


def save_state(
    path: Path,
    model: Transformer,
    tokenizer: Tokenizer,
    optimizer: torch.optim.Adam,
    position: Position,
) -> None:
    """Raises UserError if the file cannot be written; the state before stays."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in model.named_parameters():
        tensors[f"weights.{name}"] = parameter.detach()
        moments = optimizer.state.get(parameter)
        if moments:
            tensors[f"adam.mean.{name}"] = moments["exp_avg"]
            tensors[f"adam.square.{name}"] = moments["exp_avg_sq"]
    tensors["rng.cpu"] = torch.get_rng_state()
    device = next(model.parameters()).device
    if device.type != "cpu":
        tensors["rng.device"] = _device_module(device).get_rng_state()
    model_bytes = np.frombuffer(tokenizer.model_bytes, dtype=np.uint8)
    tensors["tokenizer"] = torch.from_numpy(model_bytes.copy())
    tensors = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
    metadata = {"format": FORMAT, "position": json.dumps(dataclasses.asdict(position))}
    atomic_write(
        path, lambda temporary: safetensors.torch.save_file(tensors, temporary, metadata=metadata)
    )


@dataclass(frozen=True, slots=True)
class SavedState:
    """A state as read; ``restore`` puts it into a model and its optimizer."""

    path: Path
    tensors: dict[str, Tensor]
    position: Position
    tokenizer: Tokenizer

    def restore(self, model: Transformer, optimizer: torch.optim.Adam) -> None:
        """Weights, moments and random generators, in place.

        Raises:
            UserError: the state is that of another model.
        """
        fill(model, self._named("weights."), str(self.path))
        means, squares = self._named("adam.mean."), self._named("adam.square.")
        names = [name for name, _ in model.named_parameters()]
        state = optimizer.state_dict()
        if means:
            state["state"] = {
                index: {
                    "step": torch.tensor(float(self.position.update)),
                    "exp_avg": means[name],
                    "exp_avg_sq": squares[name],
                }
                for index, name in enumerate(names)
            }
        optimizer.load_state_dict(state)
        torch.set_rng_state(self.tensors["rng.cpu"])
        device = next(model.parameters()).device
        if device.type != "cpu" and "rng.device" in self.tensors:
            _device_module(device).set_rng_state(self.tensors["rng.device"])

    def _named(self, prefix: str) -> dict[str, Tensor]:
        return {
            name.removeprefix(prefix): tensor
            for name, tensor in self.tensors.items()
            if name.startswith(prefix)
        }


def load_state(path: Path) -> SavedState:
    """Raises UserError if the file is missing, damaged or something else."""
    if not path.is_file():
        raise UserError(f"{path} is missing, so the run cannot be resumed; start it anew.")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, OSError) as error:
        raise UserError(f"{path} is damaged, so the run cannot be resumed.") from error
    if metadata.get("format") != FORMAT:
        raise UserError(f"{path} is not the state of a run.")
    tokenizer = Tokenizer(tensors.pop("tokenizer").numpy().tobytes())
    return SavedState(path, tensors, Position.from_json(metadata["position"]), tokenizer)


def _device_module(device: torch.device) -> Any:
    """The module that holds the device's random generator."""
    return torch.mps if device.type == "mps" else torch.cuda
