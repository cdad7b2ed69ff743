from __future__ import annotations

import subprocess
import sys

_SCRIPT = """
import ctypes
import numpy as np
from transformer_viz.startup.numpy_threads import use_one_thread
use_one_thread()
library = ctypes.CDLL(np._core._multiarray_umath.__file__)
for name in ("scipy_openblas_get_num_threads64_", "openblas_get_num_threads"):
    if hasattr(library, name):
        print(getattr(library, name)())
"""


def test_products_of_numpy_are_computed_by_one_thread() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, encoding="utf-8", check=True
    )
    assert set(run.stdout.split()) <= {"1"}  # empty where NumPy comes without OpenBLAS
