from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from core.model.product_choice import KERNELS, ROWS, UNMEASURED
from core.model.timings import Timings, choice_of

EVEN = dict.fromkeys(KERNELS, 1.0)
ALL = Timings(
    threads={2: 1.0, 1: 1.0},
    training_threads={2: 1.0, 1: 1.0},
    small=[EVEN] * len(ROWS),
    large=[EVEN] * (len(ROWS) - 1),
    training=[{"torch": 1.0, "onednn": 1.0}],
)


def test_written_and_read() -> None:
    for timings in (Timings(), ALL, Timings(threads={4: 0.5})):
        assert Timings.from_dict(json.loads(json.dumps(timings.to_dict()))) == timings
    assert ALL.complete
    assert not dataclasses.replace(ALL, small=None).complete


@pytest.mark.parametrize(
    "changes",
    [
        {"threads": {"0": 1.0}},
        {"threads": {"two": 1.0}},
        {"threads": {}},
        {"threads": [1.0]},
        {"training": [{"onednn": 1.0}]},
        {"training": [{"torch": -1.0}]},
        {"training": [{"torch": float("nan")}]},
        {"training": [{"torch": "1"}]},
        {"training": [{"torch": 1.0, "magic": 1.0}]},
        {"small": [EVEN]},
    ],
)
def test_what_are_no_timings(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - by whichever part is wrong
        Timings.from_dict(ALL.to_dict() | changes)
    for values in (None, 3, [], {}):
        with pytest.raises(ValueError, match="no timings"):
            Timings.from_dict(values)


def test_what_is_not_known_stays_as_it_was() -> None:
    assert choice_of(Timings(), KERNELS) == UNMEASURED
    only_small = Timings(small=[EVEN | {"onednn": 0.1}] * len(ROWS))
    assert choice_of(only_small, KERNELS) == UNMEASURED


def test_the_simplest_stays_unless_another_gains() -> None:
    choice = choice_of(ALL, KERNELS)
    assert choice.names() == {"torch"}
    assert choice.threads == choice.training_threads == 2
    near = dataclasses.replace(
        ALL, training=[{"torch": 1.0, "onednn": 0.97}], threads={2: 1.0, 1: 0.97}
    )
    assert choice_of(near, KERNELS) == choice
    clear = dataclasses.replace(
        ALL, training=[{"torch": 1.0, "onednn": 0.5}], threads={2: 1.0, 1: 0.5}
    )
    assert choice_of(clear, KERNELS).training == "onednn"
    assert choice_of(clear, KERNELS).threads == 1


def test_one_packed_kernel_and_one_layout_for_all() -> None:
    """As on a processor where a product of one row is faster by columns, one of several with W
    packed, and MKL is better at a few rows, oneDNN at many and by more."""
    one = EVEN | {"columns": 0.5}
    few = EVEN | {"columns": 1.5, "mkl-packed": 0.6, "onednn-packed": 0.7}
    many = EVEN | {"columns": 1.5, "mkl-packed": 0.9, "onednn-packed": 0.4}
    timings = dataclasses.replace(ALL, small=[one, EVEN, EVEN, EVEN], large=[one, few, many])
    choice = choice_of(timings, KERNELS)
    assert choice.columns
    assert choice.large == ("torch", "onednn-packed", "onednn-packed", "onednn-packed")
    assert choice.small == ("torch",) * 4
    without = choice_of(timings, set(KERNELS) - {"onednn-packed"})
    assert without.large == ("torch", "mkl-packed", "mkl-packed", "mkl-packed")
