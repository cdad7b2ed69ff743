from __future__ import annotations

import json

import pytest

from core.errors import UserError
from core.model.product_choice import (
    KERNELS,
    LARGE,
    MKL_PACKED,
    ONEDNN,
    ONEDNN_PACKED,
    TORCH,
    UNMEASURED,
    VARIABLE,
    ProductChoice,
    forced,
    wished,
)


@pytest.mark.parametrize("choice", [UNMEASURED, *map(forced, KERNELS)])
def test_written_and_read(choice: ProductChoice) -> None:
    assert ProductChoice.from_dict(json.loads(json.dumps(choice.to_dict()))) == choice


@pytest.mark.parametrize(
    "changes",
    [
        {"training": "magic"},
        {"small": ["torch"]},
        {"large": "torch"},
        {"large": None},
        {"columns": 1},
        {"threads": 0},
        {"threads": "2"},
        {"more": 1},
    ],
)
def test_what_is_no_choice(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no choice"):
        ProductChoice.from_dict(UNMEASURED.to_dict() | changes)


def test_the_nearest_number_of_rows_decides() -> None:
    choice = ProductChoice(
        training=TORCH,
        columns=False,
        small=(TORCH,) * 4,
        large=(TORCH, MKL_PACKED, ONEDNN, ONEDNN_PACKED),
    )
    found = [choice.kernel(rows, LARGE) for rows in (1, 2, 4, 10, 12, 32, 63, 65, 128, 4096)]
    middle, many = [MKL_PACKED] * 3, [ONEDNN_PACKED] * 3
    assert found == [TORCH, *middle, *[ONEDNN] * 3, *many]
    assert choice.kernel(128, LARGE - 1) == TORCH


def test_a_setting_goes_before_the_environment() -> None:
    assert wished("auto", {}) == "auto"
    assert wished("auto", {VARIABLE: ""}) == "auto"
    assert wished("auto", {VARIABLE: "onednn"}) == "onednn"
    assert wished("torch", {VARIABLE: "onednn"}) == "torch"
    with pytest.raises(UserError, match=rf"{VARIABLE} is 'blas'; allowed are auto, torch"):
        wished("auto", {VARIABLE: "blas"})


def test_what_changes_with_training_is_not_packed() -> None:
    assert [forced(name).training for name in KERNELS] == [TORCH, TORCH, TORCH, ONEDNN, ONEDNN]
