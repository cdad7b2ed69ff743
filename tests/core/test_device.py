from __future__ import annotations

import os

import pytest
import torch

from core.device import available_threads, choose_device
from core.errors import UserError


def test_the_cpu_is_always_there() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in ("cpu", "cuda", "mps")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpu", "no device 'gpu'; use auto, cpu"),
        ("meta", "meta is not supported"),
        ("cuda:99", r"cuda:99 is not there: .* --device cpu"),
    ],
)
def test_devices_that_are_not_there(name: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        choose_device(name)


def test_threads_are_those_of_this_process() -> None:
    assert 1 <= available_threads() <= (os.cpu_count() or 1)
