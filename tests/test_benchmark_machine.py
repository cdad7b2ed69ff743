from __future__ import annotations

import sys
import types

import pytest

from tests.benchmarks import __main__ as benchmarks
from tests.benchmarks import machine
from tests.benchmarks.figure import Figure, UnavailableError


def test_it_says_how_busy_the_machine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "SECONDS", 0.05)
    assert machine.processor() in machine.machine()
    assert machine.busyness(0.04) == "quiet: others use 4 % of the cores"
    assert machine.busyness(0.5).startswith("BUSY: others use 50 % of the cores")


@pytest.mark.parametrize(
    ("failing", "code"), [(None, 0), (UnavailableError("x"), 0), (OSError(), 1)]
)
def test_a_missed_target_is_no_failure(
    failing: Exception | None, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> list[Figure]:
        if failing is not None:
            raise failing
        return [Figure("slow", 2.0, "s", target="< 1")]

    fake = types.ModuleType("tests.benchmarks.bench_opus")
    fake.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tests.benchmarks.bench_opus", fake)
    monkeypatch.setattr(benchmarks, "machine", lambda: "a machine")
    monkeypatch.setattr(sys, "argv", ["benchmarks", "opus"])
    assert benchmarks.main() == code
