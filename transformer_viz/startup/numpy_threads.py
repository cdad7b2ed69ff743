"""How many threads a matrix product of NumPy takes."""

import ctypes
import sys
from contextlib import suppress

import numpy as _loads_its_library  # noqa: F401

_SETTERS = (
    "scipy_openblas_set_num_threads64_",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)


def use_one_thread() -> None:
    """Let each product be computed by the thread that asks for it, from now on.

    OpenBLAS would divide even a small one among all cores and wait, spinning, for the slowest of
    its threads, while the engine or another picture computes there. Pictures of long texts are
    made several at a time instead. Where NumPy comes with another library, nothing changes.
    """
    for core in ("_core", "core"):  # of NumPy 2 and 1
        module = sys.modules.get(f"numpy.{core}._multiarray_umath")
        if module is None or module.__file__ is None:
            continue
        with suppress(OSError):
            library = ctypes.CDLL(module.__file__)
            for name in _SETTERS:
                if hasattr(library, name):
                    getattr(library, name)(ctypes.c_int(1))
