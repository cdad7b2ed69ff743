"""How fast each kernel is on this machine: measured once, and kept in the user's cache.

Legend: N rows, D inputs, V outputs.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from core.errors import UserError
from core.files import atomic_write_text
from core.model.kernels import PRESENT, Prepared, onednn
from core.model.processor import processor
from core.model.product import choose
from core.model.product_choice import AUTO, ONEDNN, ROWS, TORCH, ProductChoice, forced, wished
from core.model.timings import Timings, agree, choice_of
from core.remote.cache import cache_folder

BUDGET = 0.05
"""Seconds that measuring may take at a time; what is not known by then is measured next time."""
_LEAST_ROUNDS, _MOST_ROUNDS = 6, 30
_EXACT = sys.platform != "win32"  # there, processor time is counted in steps of 16 ms
_SMALL, _LARGE = (256, 1024), (512, 2048)  # D and V
_TRAINING_ROWS = 128
_QUIET = 0.8  # of the processor's time was ours
_METHOD = 2  # of measuring; what another one found is not read
_MOST_BYTES = 1 << 20

_Key = TypeVar("_Key", str, int)


class _NotNowError(Exception):
    """The time is over, or no result was confirmed."""


def best_choice(
    setting: str = AUTO, *, limit: int | None = None, measures: bool = True
) -> ProductChoice:
    """The kernels to use: those that are asked for, or the fastest.

    Args:
        setting: a kernel; "auto" for the one that ``TRANSFORMER_VIZ_PRODUCT`` names in the
            environment, or else the fastest.
        limit: threads that may be used at most; as many as torch uses if None.
        measures: whether to measure what is not known yet.

    Raises:
        UserError: the kernel does not exist or is not in this build of torch.
    """
    wish = wished(setting)
    if wish != AUTO:
        require_present(wish)
        return forced(wish)
    limit = limit or torch.get_num_threads()
    kept = Kept.of_this_machine(limit)
    timings = kept.read()
    if measures and not timings.complete:
        known, timings = timings, measured(timings, limit, BUDGET)
        if timings != known:
            kept.write(timings)
    return choice_of(timings, PRESENT)


def use_best(
    setting: str = AUTO, *, limit: int | None = None, measures: bool = True
) -> ProductChoice:
    """Use what ``best_choice`` finds, from now on."""
    choice = best_choice(setting, limit=limit, measures=measures)
    choose(choice)
    return choice


def require_present(kernel: str) -> None:
    """Raise UserError if this build of torch lacks the kernel."""
    if kernel not in PRESENT:
        raise UserError(
            f"PyTorch {torch.__version__} lacks the kernel {kernel} on this machine; use auto or "
            f"one of {', '.join(PRESENT)}."
        )


@torch.no_grad()
def measured(known: Timings, limit: int, budget: float) -> Timings:
    """Add what is not known yet, in the order in which it matters, as far as the time goes.

    Only what ``_confirmed`` confirms is kept, and kernels whose numbers differ from torch's by
    more than rounding are left out. Torch's random generator stays where it is.

    Args:
        limit: the most threads.
        budget: seconds.
    """
    deadline = time.perf_counter() + budget
    before = torch.get_num_threads()
    small, large = _Trial(*_SMALL, deadline), _Trial(*_LARGE, deadline)
    counts = sorted({1, max(1, limit // 2), limit}, reverse=True)
    timings = known
    try:
        if timings.threads is None:
            seconds = _by_threads(counts, lambda: small.product(4) + large.product(4))
            timings = timings.with_(threads=seconds)
        torch.set_num_threads(timings.best_threads or limit)
        for table, trial in (("large", large), ("small", small)):
            for rows in timings.missing_rows(table):
                timings = timings.with_row(table, trial.times(rows))
        if timings.training_threads is None:
            seconds = _by_threads(counts, lambda: small.product(_TRAINING_ROWS))
            timings = timings.with_(training_threads=seconds)
        torch.set_num_threads(timings.best_training_threads or limit)
        for _ in timings.missing_rows("training"):
            timings = timings.with_row("training", small.training_times())
    except _NotNowError:
        pass
    finally:
        torch.set_num_threads(before)
    return timings


def _confirmed(timed: Mapping[_Key, Callable[[], float]]) -> dict[_Key, float]:
    """The least of several timings of each, taken in turn so that a disturbance meets all alike.

    Even and odd rounds give two independent results, which have to agree; until they do, there
    are more rounds.

    Raises:
        _NotNowError: they do not, even after the most rounds, or the time is over.
    """
    halves: tuple[dict[_Key, float], ...] = tuple(dict.fromkeys(timed, math.inf) for _ in range(2))
    for number in range(_MOST_ROUNDS):
        half = halves[number % 2]
        for key, seconds in timed.items():
            half[key] = min(half[key], seconds())
        if number + 1 >= _LEAST_ROUNDS and agree(*halves):
            return {key: min(half[key] for half in halves) for key in timed}
    raise _NotNowError


def _by_threads(counts: Iterable[int], seconds: Callable[[], float]) -> dict[int, float]:
    """The seconds for each number of threads."""

    def with_threads(count: int) -> float:
        torch.set_num_threads(count)
        seconds()  # the threads start
        return seconds()

    return _confirmed({count: partial(with_threads, count) for count in counts})


class _Trial:
    """Products with one W [V, D]."""

    def __init__(self, inputs: int, outputs: int, deadline: float) -> None:
        random = torch.Generator().manual_seed(0)
        self._x = torch.rand(max(ROWS), inputs, generator=random).sub_(0.5)
        self._weight = self._x.repeat(outputs // max(ROWS), 1)
        self._deadline = deadline

    @cached_property
    def _prepared(self) -> dict[str, Prepared]:
        return {name: kernel.prepare(self._weight) for name, kernel in PRESENT.items()}

    def product(self, rows: int) -> float:
        """Seconds of torch's own, on all threads.

        Threads that wait for each other keep their cores busy, so that on a quiet machine the
        processor's time is the seconds times the threads.
        """
        kernel, x = PRESENT[TORCH], self._x[:rows]
        return self._seconds(
            lambda: kernel.multiply(x, self._weight, self._weight, None),
            cores=torch.get_num_threads(),
        )

    def times(self, rows: int) -> dict[str, float]:
        """The seconds of each kernel with so many rows."""
        x, weight = self._x[:rows], self._weight

        def action(name: str) -> Callable[[], Tensor]:
            return lambda: PRESENT[name].multiply(x, self._prepared[name], weight, None)

        return self._fair({name: action(name) for name in PRESENT})

    def training_times(self) -> dict[str, float]:
        """Of a product and its two gradients, by each kernel that serves in training."""
        x, weight = self._x[:_TRAINING_ROWS], self._weight
        error = x @ weight.t()  # [N, V]

        def all_three(multiply: Callable[[Tensor, Tensor], Tensor]) -> Callable[[], Tensor]:
            """``multiply`` computes a bᵀ."""

            def action() -> Tensor:
                products = (
                    multiply(x, weight),
                    multiply(error, weight.t()),
                    multiply(error.t(), x.t()),
                )
                return torch.stack([one[0, 0] for one in products])

            return action

        actions = {TORCH: all_three(lambda a, b: torch.mm(a, b.t()))}
        if ONEDNN in PRESENT:
            actions[ONEDNN] = all_three(onednn)
        return self._fair(actions)

    def _fair(self, actions: Mapping[str, Callable[[], Tensor]]) -> dict[str, float]:
        """The seconds of each whose result is right."""
        expected = actions[TORCH]()
        tolerance = 1e-4 * float(expected.abs().max())
        right = {}
        for name, action in actions.items():
            self._check()
            if torch.allclose(action(), expected, rtol=1e-4, atol=tolerance):
                right[name] = partial(self._seconds, action)
        return _confirmed(right)

    def _seconds(self, action: Callable[[], object], cores: int = 1) -> float:
        """The thread's processor time if torch uses no other thread, since that does not count
        other programs; else the time that passes, or infinity if fewer cores were ours for a part
        of it."""
        self._check()
        alone = _EXACT and torch.get_num_threads() == 1
        clock = time.thread_time if alone else time.perf_counter
        own, start = time.process_time(), clock()
        action()
        seconds, own = clock() - start, time.process_time() - own
        disturbed = _EXACT and not alone and own < _QUIET * cores * seconds
        return math.inf if disturbed else seconds

    def _check(self) -> None:
        if time.perf_counter() > self._deadline:
            raise _NotNowError


class Kept:
    """What was measured, by processor, version of torch and threads, in one small file."""

    def __init__(self, path: Path, key: str) -> None:
        self.path = path
        self.key = key

    @classmethod
    def of_this_machine(cls, limit: int) -> Kept:
        """Return the file of this machine, for at most so many threads."""
        key = f"{processor()}; torch {torch.__version__}; {limit} threads; method {_METHOD}"
        return cls(cache_folder(None) / "products.json", key)

    def read(self) -> Timings:
        """Return what is known: nothing where the file is missing or damaged."""
        try:
            return Timings.from_dict(self._all()[self.key])
        except (KeyError, ValueError):
            return Timings()

    def write(self, timings: Timings) -> None:
        """A folder that cannot be written costs a measurement each time, and nothing else."""
        values = self._all() | {self.key: timings.to_dict()}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write_text(self.path, json.dumps(values, indent=1) + "\n")
        except (OSError, UserError):
            pass

    def _all(self) -> dict[str, object]:
        try:
            with self.path.open("rb") as file:
                values = json.loads(file.read(_MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        return values if isinstance(values, dict) else {}
