"""Permissions that count for the administrator too: on Linux a thread may give up its privilege to
pass over them, and take it back."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_VERSION_3 = 0x20080522  # of the interface of capget and capset, linux/capability.h
_PASSING_OVER = (1 << 1) | (1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


def _call(name: str, data: ctypes.Array[_Data]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    header = _Header(_VERSION_3, 0)  # 0: this thread
    if getattr(libc, name)(ctypes.byref(header), data) != 0:
        raise OSError(ctypes.get_errno(), f"{name} failed")


@contextmanager
def counting_permissions() -> Iterator[None]:
    """Within it this thread, and those and the processes that it starts, heed permissions."""
    if not hasattr(os, "geteuid"):
        pytest.skip("this system has no such permissions")
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("the administrator may read and write everything here")
    data = (_Data * 2)()
    _call("capget", data)
    before = data[0].effective, data[0].permitted
    data[0].effective &= ~_PASSING_OVER
    _call("capset", data)
    try:
        yield
    finally:
        data[0].effective, data[0].permitted = before
        _call("capset", data)
