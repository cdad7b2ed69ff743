from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeAlias

import pytest
import torch
from torch import Tensor

from core.errors import UserError
from core.model import measuring
from core.model.kernels import PRESENT, Kernel
from core.model.measuring import Kept, best_choice, measured, use_best
from core.model.product import chosen
from core.model.product_choice import ONEDNN, TORCH, UNMEASURED, VARIABLE, forced
from core.model.timings import Timings, agree, choice_of

Confirm: TypeAlias = Callable[..., dict[str, float]]
LONG = 60.0  # seconds; enough on the busiest machine


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing asked for, a cache of its own, and other programs do not matter."""
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(measuring, "_QUIET", 0.0)
    monkeypatch.setattr(measuring, "agree", lambda one, other: True)
    monkeypatch.setattr(measuring, "cache_folder", lambda _: tmp_path / "cache")


def test_all_kernels_are_measured_and_nothing_else_changes() -> None:
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    timings = measured(Timings(), 2, LONG)
    assert timings.complete
    assert timings.threads is not None
    assert set(timings.threads) == {1, 2}
    assert all(set(row) == set(PRESENT) for row in (*timings.large, *timings.small))
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)
    choice = choice_of(timings, PRESENT)
    assert choice.names() <= set(PRESENT)


def test_what_is_known_is_not_measured_again() -> None:
    timings = measured(Timings(), 1, LONG)
    assert measured(timings, 1, LONG) == timings


def test_no_more_time_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured(Timings(), 1, 0.0) == Timings()
    monkeypatch.setattr(measuring, "BUDGET", 0.0)
    assert best_choice() == UNMEASURED


@pytest.mark.skipif(sys.platform == "win32", reason="processor time is not exact there")
def test_a_busy_machine_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_QUIET", 1000.0)
    monkeypatch.setattr(measuring, "agree", agree)
    assert measured(Timings(), 2, LONG) == Timings()


@pytest.mark.skipif(sys.platform == "win32", reason="processor time is not exact there")
def test_one_thread_is_timed_even_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_QUIET", 1000.0)
    assert measured(Timings(), 1, LONG).complete


def test_what_is_confirmed_before_the_time_is_over_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    confirmed, left = measuring._confirmed, iter(range(3))

    def three_times(timed: dict[str, Callable[[], float]]) -> dict[str, float]:
        if next(left, None) is None:
            raise measuring._NotNowError
        return confirmed(timed)

    monkeypatch.setattr(measuring, "_confirmed", three_times)
    timings = measured(Timings(), 1, LONG)
    assert (timings.threads is not None, len(timings.large), timings.small) == (True, 2, [])
    monkeypatch.setattr(measuring, "_confirmed", confirmed)
    later = measured(timings, 1, LONG)
    assert later.complete
    assert later.large[:2] == timings.large


@pytest.fixture
def confirmed(monkeypatch: pytest.MonkeyPatch) -> Confirm:
    """Confirms what these functions say of the number of the round."""
    monkeypatch.setattr(measuring, "agree", agree)

    def run(**timed: Callable[[int], float]) -> dict[str, float]:
        return measuring._confirmed(
            {key: partial(lambda s, n: s(next(n)), s, count()) for key, s in timed.items()}
        )

    return run


@pytest.mark.parametrize("disturbed", range(6))
def test_a_disturbed_timing_decides_nothing(disturbed: int, confirmed: Confirm) -> None:
    kept = confirmed(fast=lambda n: 9.0 if n == disturbed else 1.0, slow=lambda n: 2.0)
    assert kept == {"fast": 1.0, "slow": 2.0}


def test_what_only_one_half_of_the_rounds_says_is_not_kept(confirmed: Confirm) -> None:
    assert confirmed(one=lambda n: 1.0 if n < 9 else 0.5) == {"one": 1.0}
    with pytest.raises(measuring._NotNowError):
        confirmed(one=lambda n: 1.0 + n % 2, other=lambda n: 2.0 - n % 2)
    with pytest.raises(measuring._NotNowError):
        confirmed(one=lambda n: math.inf)


def test_candidates_are_timed_in_turn(confirmed: Confirm) -> None:
    order: list[str] = []
    confirmed(
        one=lambda n: float(order.append("one") or 1.0),
        other=lambda n: float(order.append("other") or 1.0),
    )
    assert order == ["one", "other"] * (len(order) // 2)
    assert len(order) > 2 * 3


def test_what_computes_something_else_drops_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def rough(x: Tensor, prepared: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return (x.bfloat16() @ prepared.bfloat16().t()).float()

    monkeypatch.setitem(PRESENT, ONEDNN, Kernel(lambda weight: weight, rough, copies=False))
    timings = measured(Timings(), 1, LONG)
    assert timings.small
    assert all(ONEDNN not in row for row in timings.small)


def test_measured_once_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "BUDGET", LONG)
    first = best_choice(limit=1)
    monkeypatch.setattr(measuring, "measured", pytest.fail)
    assert best_choice(limit=1) == first
    assert best_choice(limit=7, measures=False) == UNMEASURED
    assert use_best(limit=1) == first
    assert chosen() == first


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"[" * 100_000, b"\xff\xfe", b'{"k": 1}'])
def test_a_damaged_file_is_as_none(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "products.json"
    path.write_bytes(content)
    kept = Kept(path, "k")
    assert kept.read() == Timings()
    kept.write(Timings(threads={1: 0.5}))
    assert kept.read() == Timings(threads={1: 0.5})


def test_machines_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "new" / "products.json"
    Kept(path, "one").write(Timings(threads={1: 0.5}))
    Kept(path, "other").write(Timings(threads={2: 0.5}))
    assert Kept(path, "one").read() == Timings(threads={1: 0.5})
    assert set(json.loads(path.read_text(encoding="utf-8"))) == {"one", "other"}


def test_a_cache_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    Kept(tmp_path / "file" / "products.json", "k").write(Timings())


def test_a_wish_needs_no_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "measured", pytest.fail)
    assert best_choice(TORCH) == forced(TORCH)
    monkeypatch.setenv(VARIABLE, TORCH)
    assert best_choice() == forced(TORCH)
    monkeypatch.delitem(PRESENT, ONEDNN, raising=False)
    with pytest.raises(UserError, match=r"PyTorch .* lacks the kernel onednn on this machine"):
        best_choice(ONEDNN)
