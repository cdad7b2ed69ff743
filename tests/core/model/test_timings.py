from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest

from core.model.product_choice import KERNELS, ROWS, UNMEASURED
from core.model.timings import Timings, agree, choice_of

EVEN = dict.fromkeys(KERNELS, 1.0)
ALL = Timings(
    threads={2: 1.0, 1: 1.0},
    training_threads={2: 1.0, 1: 1.0},
    small=[EVEN] * len(ROWS),
    large=[EVEN] * (len(ROWS) - 1),
    training=[{"torch": 1.0, "onednn": 1.0}],
)


def test_written_and_read() -> None:
    for timings in (Timings(), ALL, Timings(threads={4: 0.5}, large=[EVEN])):
        assert Timings.from_dict(json.loads(json.dumps(timings.to_dict()))) == timings
    assert ALL.complete
    for part in ({"threads": None}, {"small": [EVEN] * 3}, {"training": []}):
        assert not dataclasses.replace(ALL, **part).complete


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
        {"small": [EVEN] * 5},
        {"small": None},
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
    fast = EVEN | {"onednn": 0.1}
    for partly in (Timings(small=[fast] * 4), Timings(small=[fast] * 4, large=[fast] * 2)):
        assert choice_of(partly, KERNELS) == UNMEASURED


def test_rows_are_learned_one_by_one() -> None:
    timings = Timings()
    assert timings.missing_rows("large") == (1, 4, 32)
    timings = timings.with_row("large", EVEN)
    assert timings.missing_rows("large") == (4, 32)
    assert timings.missing_rows("small") == ROWS
    assert timings.missing_rows("training") == (128,)


def test_agreement_is_by_less_than_what_decides() -> None:
    assert agree({"a": 1.0, "b": 2.0}, {"a": 1.04, "b": 1.95})
    assert not agree({"a": 1.0, "b": 2.0}, {"a": 1.06, "b": 2.0})
    assert not agree({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 3.0})
    assert not agree({"a": math.inf}, {"a": math.inf})


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
