"""What exact resumption needs, in one file that is replaced whole: state/state.safetensors.

Tensors: ``weights.NAME``, ``adam.mean.NAME`` and ``adam.square.NAME`` (Adam's two moments) of each
parameter, ``rng.cpu`` and ``rng.device`` (which draw the dropout), ``tokenizer`` (bytes). Further
processes draw their own dropout, from ``rng.cpu.RANK`` and ``rng.device.RANK``. JSON in the
metadata are the place in the data, with what was summed since the last logged step, the
configuration, the scale of an fp16 loss, and a checksum of everything. Adam counts its own steps,
which are the applied updates, and the schedule is a function of those.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import torch
from torch import Tensor

from core.checkpoints.native import fill
from core.checkpoints.tensor_file import require_intact, write_tensors
from core.errors import UserError
from core.files import is_file
from core.text.sentence_pieces import SentencePieceTokenizer
from core.text.tokenizer import Tokenizer
from core.training.best import Best
from core.training.config import RunConfig
from core.training.updater import Updater
from core.training.workers import Workers

FORMAT = "transformer-viz-state"


@dataclass(slots=True, kw_only=True)
class Sums:
    """The sums over the updates since the last logged step; ``nll`` is None if an earlier version
    began the sum."""

    loss: float = 0.0
    nll: float | None = 0.0
    tokens: int = 0
    gloss: float = 0.0
    glosses: int = 0
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Position:
    """The position of a run: after ``update`` applied updates, before batch ``batch`` of ``epoch``.

    ``seconds`` is the time the updates took, ``other_seconds`` that of validations and checkpoints.
    ``best`` is of the validations so far.
    """

    update: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    other_seconds: float = 0.0
    since_log: Sums = field(default_factory=Sums)
    best: Best = field(default_factory=Best)

    @classmethod
    def from_json(cls, text: str) -> Position:
        """Read a position; states of earlier versions lack the best validation, ``nll`` and some
        seconds."""
        values = json.loads(text)
        values["since_log"] = Sums(**({"nll": None} | values["since_log"]))
        if "best" in values:
            values["best"] = Best.from_dict(values["best"])
        return cls(**values)


def save_state(
    path: Path, updater: Updater, tokenizer: Tokenizer, config: RunConfig, position: Position
) -> None:
    """Save the state; all workers call this, and the first one writes.

    Raises:
        UserError: the file cannot be written; the state before stays.
    """
    tensors = _generators(updater.device, updater.workers)
    if not updater.workers.first:
        return
    for name, parameter in updater.model.named_parameters():
        tensors[f"weights.{name}"] = parameter.detach()
        moments = updater.optimizer.state.get(parameter)
        if moments:
            tensors[f"adam.mean.{name}"] = moments["exp_avg"]
            tensors[f"adam.square.{name}"] = moments["exp_avg_sq"]
    tensors |= {name: torch.tensor(array) for name, array in tokenizer.to_tensors().items()}
    tensors = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
    metadata = {
        "format": FORMAT,
        "position": json.dumps(dataclasses.asdict(position)),
        "config": json.dumps(config.to_dict()),
        "scaler": json.dumps(updater.scaler.state_dict()),
    }
    write_tensors(path, tensors, metadata)


@dataclass(frozen=True, slots=True)
class SavedState:
    """A state as read; ``restore`` copies it into an updater.

    ``config`` and ``scaler`` are None in states of earlier versions.
    """

    path: Path
    tensors: dict[str, Tensor]
    position: Position
    tokenizer: Tokenizer
    config: RunConfig | None
    scaler: dict[str, Any] | None

    @property
    def workers(self) -> int:
        """The number of processes that trained the run."""
        return len(self._named("rng.cpu"))

    def restore(self, updater: Updater) -> None:
        """Restore weights, moments, random generators and the scale of the loss in place.

        Raises:
            UserError: the state is that of another model.
        """
        fill(updater.model, self._named("weights."), str(self.path))
        means, squares = self._named("adam.mean."), self._named("adam.square.")
        names = [name for name, _ in updater.model.named_parameters()]
        state = updater.optimizer.state_dict()
        if means:
            state["state"] = {
                index: {
                    "step": torch.tensor(float(self.position.update)),
                    "exp_avg": means[name],
                    "exp_avg_sq": squares[name],
                }
                for index, name in enumerate(names)
            }
        updater.optimizer.load_state_dict(state)
        if self.scaler and updater.scaler.is_enabled():
            updater.scaler.load_state_dict(self.scaler)
        rank, device = updater.workers.rank, updater.device
        torch.set_rng_state(self.tensors[_generator_name("cpu", rank)])
        own = self.tensors.get(_generator_name("device", rank))
        if device.type != "cpu" and own is not None:
            _device_module(device).set_rng_state(own)

    def _named(self, prefix: str) -> dict[str, Tensor]:
        return {
            name.removeprefix(prefix): tensor
            for name, tensor in self.tensors.items()
            if name.startswith(prefix)
        }


def load_state(path: Path) -> SavedState:
    """Load a state; raises UserError if the file is missing, damaged or something else."""
    if not is_file(path):
        raise UserError(f"{path} is missing, so the run cannot be resumed; start a new run.")
    damaged = (
        f"{path} is damaged, so the run cannot be resumed: restore it from a copy, or start a new "
        "run."
    )
    try:
        require_intact(path)
    except UserError as error:
        raise UserError(damaged) from error
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, OSError) as error:
        raise UserError(damaged) from error
    if metadata.get("format") != FORMAT:
        raise UserError(
            f"{path} is not the state of a run; restore it from a copy, or start a new run."
        )
    try:
        config = json.loads(metadata.get("config", "null"))
        return SavedState(
            path=path,
            tokenizer=SentencePieceTokenizer(tensors.pop("tokenizer").numpy().tobytes()),
            tensors=tensors,
            position=Position.from_json(metadata["position"]),
            config=config and RunConfig.from_dict(config),
            scaler=json.loads(metadata.get("scaler", "null")),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(damaged) from error


def _generators(device: torch.device, workers: Workers) -> dict[str, Tensor]:
    """The random generators of all workers."""
    own = {"cpu": torch.get_rng_state()}
    if device.type != "cpu":
        own["device"] = _device_module(device).get_rng_state()
    return {
        _generator_name(kind, rank): state
        for rank, states in enumerate(workers.gather(own))
        for kind, state in states.items()
    }


def _generator_name(kind: str, rank: int) -> str:
    return f"rng.{kind}.{rank}" if rank else f"rng.{kind}"


def _device_module(device: torch.device) -> Any:
    """The module that holds the device's random generator."""
    return torch.mps if device.type == "mps" else torch.cuda
