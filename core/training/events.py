"""What a run says while it goes; the same events feed the terminal, the metrics file and --json."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, TextIO, TypeAlias


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened in a run; ``step`` is the number of updates applied by then."""

    name: ClassVar[str]
    step: int

    def to_dict(self) -> dict[str, Any]:
        """The fields that have a value, as JSON values."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def to_json(self) -> str:
        """One line: {"event": …, "step": …, …}."""
        return json.dumps({"event": self.name, **self.to_dict()}, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Preparing(Event):
    """The data are being read or encoded: ``done`` of ``total`` bytes or pairs."""

    name = "preparing"
    what: str
    done: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Started(Event):
    """The run has begun or resumed. ``unexpected_end``: the process before was killed.
    ``repeated``: updates after ``step`` that it had logged and that are done again. ``odd_lines``:
    lines of the run's files that no run writes and that were skipped. ``products``: which kernels
    compute matrix products on a CPU, in words."""

    name = "started"
    run: str
    steps: int
    resumed: bool
    parameters: int
    vocabulary: int
    pairs_per_epoch: int
    device: str
    precision: str
    threads: int
    products: str = ""
    data: list[str]
    unexpected_end: bool = False
    repeated: int = 0
    odd_lines: int = 0


@dataclass(frozen=True, kw_only=True)
class Step(Event):
    """The means since the last such event; losses are in nats.

    ``train_loss`` is the smoothed loss of a target token, ``train_nll`` the same without smoothing
    (None for a line that an earlier version began), ``gloss_loss`` that of a glossed word,
    ``tokens_per_second`` counts target tokens without padding. ``position_cosine`` is the mean
    cosine between the encoder's outputs at different positions of a sentence; near 1 the encoder
    has collapsed. ``seconds`` have been spent on updates since the run began, ``other_seconds`` on
    validations and checkpoints.
    """

    name = "step"
    epoch: int
    train_loss: float
    train_nll: float | None = None
    gloss_loss: float | None
    learning_rate: float
    gradient_norm: float
    position_cosine: float
    tokens_per_second: float
    seconds: float
    other_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Validation(Event):
    """The model was validated; ``valid_loss`` is the unsmoothed negative log-likelihood per token,
    in nats."""

    name = "validation"
    valid_loss: float
    perplexity: float
    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str


@dataclass(frozen=True, kw_only=True)
class CheckpointSaved(Event):
    name = "checkpoint"
    path: str


@dataclass(frozen=True, kw_only=True)
class Finished(Event):
    """The run is complete; ``path`` is its model, the mean of ``averaged`` checkpoints, with its
    scores.

    ``stopped_early``: because validations were no longer getting better.
    """

    name = "finished"
    path: str
    stopped_early: bool = False
    averaged: int
    seconds: float
    valid_loss: float
    perplexity: float
    bleu: float
    chrf: float


@dataclass(frozen=True, kw_only=True)
class Interrupted(Event):
    """The run was stopped by a signal or on request, after a whole update and with its state saved.

    ``run`` is None if that was while the data were read, when there was no run yet.
    """

    name = "interrupted"
    run: str | None


@dataclass(frozen=True, kw_only=True)
class Paused(Event):
    """The run waits on request, after a whole update and with its state saved."""

    name = "paused"
    run: str


@dataclass(frozen=True, kw_only=True)
class Continued(Event):
    """The run continues after a pause."""

    name = "continued"


@dataclass(frozen=True, kw_only=True)
class Failed(Event):
    name = "failed"
    message: str


EVENTS: Mapping[str, type[Event]] = MappingProxyType(
    {
        event.name: event
        for event in (
            *(Preparing, Started, Step, Validation, CheckpointSaved, Finished),
            *(Interrupted, Paused, Continued, Failed),
        )
    }
)
"""By the name under which a JSON line tells of them."""

Listener: TypeAlias = Callable[[Event], None]


class JsonLines:
    """Writes each event as one JSON line.

    When nobody reads any more (the window that started the run was closed), it falls silent and
    the run goes on.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream: TextIO | None = stream

    def __call__(self, event: Event) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(event.to_json() + "\n")
            self._stream.flush()
        except BrokenPipeError:
            self._stream = None
