from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from core.errors import UserError
from core.model import measuring
from core.model.kernels import PRESENT, Kernel
from core.model.measuring import Kept, best_choice, measured, use_best
from core.model.product import chosen
from core.model.product_choice import ONEDNN, TORCH, UNMEASURED, VARIABLE, forced
from core.model.timings import Timings, choice_of

LONG = 60.0  # seconds; enough on the busiest machine


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing asked for, a cache of its own, and other programs do not matter."""
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(measuring, "_QUIET", 0.0)
    monkeypatch.setattr(measuring, "cache_folder", lambda _: tmp_path / "cache")


def test_all_kernels_are_measured_and_nothing_else_changes() -> None:
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    timings = measured(Timings(), 2, LONG)
    assert timings.complete
    assert timings.threads is not None
    assert set(timings.threads) == {1, 2}
    assert timings.large is not None
    assert all(set(row) == set(PRESENT) for row in timings.large)
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


def test_a_busy_machine_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_QUIET", 1000.0)
    assert measured(Timings(), 1, LONG) == Timings()


def test_what_computes_something_else_drops_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def rough(x: Tensor, prepared: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return (x.bfloat16() @ prepared.bfloat16().t()).float()

    monkeypatch.setitem(PRESENT, ONEDNN, Kernel(lambda weight: weight, rough, copies=False))
    timings = measured(Timings(), 1, LONG)
    assert timings.small is not None
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
