"""The time and memory of one layer, measured on this machine.

Legend: n positions, D d_model.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from core.counted import counted
from core.errors import UserError
from core.lab.path_formula import path_formula
from core.lab.paths import influence_by_distance, path_length
from core.lab.report import LayerCost, LengthCost
from core.model.mixers.kinds import MixerKind, MixerShape
from core.model.mixers.mixer import Mixer

MOST_BYTES = 1 << 30
"""Memory that a row may be expected to need; a longer one is left out."""
MOST_SECONDS = 5.0
"""Time that a training step may be expected to take, likewise."""
MOST_STEPS = 1024
"""Positions up to which decoding is measured, since each needs all before it."""

_RUNS = 3
_ENOUGH = 0.05  # seconds in all, after which short runs are not repeated
_GROWTH = 4  # at most, of time and memory, when n doubles


class PeakMemory(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of all tensors that operations return while they are alive.

    What a kernel uses inside itself is not seen. `peak` is the largest sum so far.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.peak = 0
        self._now = 0
        self._alive: set[int] = set()

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for part in result if isinstance(result, tuple | list) else (result,):
            if isinstance(part, Tensor) and not _is_given(part, args):
                self._count(part)
        return result

    def _count(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._alive:
            return
        size = storage.nbytes()
        self._alive.add(key)
        self._now += size
        self.peak = max(self.peak, self._now)
        weakref.finalize(storage, self._forget, key, size)

    def _forget(self, key: int, size: int) -> None:
        self._alive.discard(key)
        self._now -= size


def _is_given(part: Tensor, args: Sequence[Any]) -> bool:
    """Whether a result shares the numbers of an argument, as views and changes in place do."""
    pointer = part.untyped_storage().data_ptr()
    given = (one for one in args if isinstance(one, Tensor))
    return any(one.untyped_storage().data_ptr() == pointer for one in given)


def peak_bytes(run: Callable[[], object]) -> int:
    """Return the most that new tensors took at a time while `run` ran."""
    memory = PeakMemory()
    with memory:
        run()
    return memory.peak


def seconds_of(run: Callable[[], object]) -> float:
    """Return the shortest time of a few runs, after one that is not counted."""
    run()
    times: list[float] = []
    while len(times) < _RUNS or (sum(times) < _ENOUGH and len(times) < 5 * _RUNS):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
        if times[0] > 1:
            break
    return min(times)


def measured(
    kind: MixerKind, shape: MixerShape, lengths: Sequence[int], *, causal: bool, path_positions: int
) -> Iterator[LayerCost]:
    """Yield what is known of a kind after its path length and after each length, shortest first."""
    shape = replace(shape, longest=max(lengths))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        mixer = kind.build(shape, causal=causal)
        x = torch.randn(1, max(lengths), shape.d_model)
    known = LayerCost(
        kind.name,
        kind.title,
        sum(weight.numel() for weight in mixer.parameters()),
        kind.order,
        kind.path,
        path_length(kind, shape, path_positions, causal=causal),
        path_formula(kind.name, shape, path_positions, causal=causal),
        (),
        influence=influence_by_distance(kind, shape, path_positions, causal=causal),
    )
    yield known
    steps = _StepTimes(mixer, x) if causal else None
    for n in sorted(lengths):
        if reason := _too_much(known.costs, n):
            known = replace(known, left_out=reason)
            yield known
            return
        cost = _cost(mixer, x[:, :n])
        if steps is not None and n <= MOST_STEPS:
            cost = replace(cost, step_seconds=steps.at(n))
        known = replace(known, costs=(*known.costs, cost))
        yield known


def _too_much(costs: Sequence[LengthCost], n: int) -> str:
    """Say why a row of n positions is left out; "" if it is not."""
    if not costs:
        return ""
    last = costs[-1]
    growth = _GROWTH ** ((n / last.n) / 2)
    where = f"{counted(n, 'position')} and more were left out: "
    if last.training_bytes * growth > MOST_BYTES:
        return f"{where}a training step would take more than {MOST_BYTES >> 30} GiB."
    if last.training_seconds * growth > MOST_SECONDS:
        return f"{where}a training step would take more than {MOST_SECONDS:.0f} seconds."
    return ""


def _cost(mixer: Mixer, x: Tensor) -> LengthCost:
    """Measure one row x [1, n, D]; the weights stay as they are."""
    n = x.shape[1]
    trainer = torch.optim.SGD(mixer.parameters(), lr=0.0)

    def forward() -> None:
        with torch.no_grad():
            mixer(x)

    def train() -> None:
        trainer.zero_grad()
        mixer(x).square().mean().backward()
        trainer.step()

    train_bytes = peak_bytes(train)
    return LengthCost(
        n,
        mixer.multiply_adds(n),
        mixer.sequential(n),
        seconds_of(forward),
        seconds_of(train),
        peak_bytes(forward),
        train_bytes,
    )


class _StepTimes:
    """Decodes a row token by token, as far as it is asked to, with a clock."""

    def __init__(self, mixer: Mixer, x: Tensor) -> None:
        self._mixer, self._x = mixer, x
        self._state = mixer.start_state(1)
        self._done = 0

    def at(self, n: int) -> float:
        """Return the median time of the last steps up to position n."""
        times = []
        with torch.no_grad():
            while self._done < n:
                begun = time.perf_counter()
                _y, self._state = self._mixer.step(self._x[:, self._done], self._state)
                times.append(time.perf_counter() - begun)
                self._done += 1
        last = sorted(times[-16:])
        return last[len(last) // 2]


def lengths_up_to(longest: int) -> list[int]:
    """Return 16, 32, 64, … up to `longest`.

    Raises:
        UserError: there would be fewer than two, so that nothing could be fitted.
    """
    if longest < 32:
        raise UserError(f"--longest {longest} is too short; choose 32 or more.")
    return [1 << power for power in range(4, longest.bit_length())]
