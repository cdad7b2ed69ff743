"""Which kernel computes which matrix product: a value, without torch.

A kernel is one of several ways to compute x Wᵀ + b. Which one is fastest depends on the processor,
on the number of rows of x and on the size of W, so it is measured (``core.model.measuring``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.errors import UserError

VARIABLE = "TRANSFORMER_VIZ_PRODUCT"
"""The environment variable that forces a kernel."""

AUTO = "auto"
TORCH, COLUMNS = "torch", "columns"
MKL_PACKED, ONEDNN, ONEDNN_PACKED = "mkl-packed", "onednn", "onednn-packed"
KERNELS = (TORCH, COLUMNS, MKL_PACKED, ONEDNN, ONEDNN_PACKED)
"""torch: torch's own product. columns: the same, with W stored column by column. mkl-packed and
onednn-packed: with a copy of W in the order that the kernel of MKL or oneDNN reads, made once.
onednn: oneDNN's product with W as it is."""
WISHES = (AUTO, *KERNELS)

ROWS = (1, 4, 32, 128)
"""Rows of x for which kernels are chosen; in between, the nearest by ratio decides."""
_BOUNDS = (2, 11, 64)
LARGE = 1 << 19
"""Numbers of a W that counts as large: half as many bytes as a core's own cache has, or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductChoice:
    """
    Attributes:
        training: the kernel of products that have a gradient, on the way there and back.
        columns: whether an opened model stores its layers' W column by column.
        small, large: the kernel for each of ``ROWS`` rows of x without a gradient, and a small or
            large W.
        training_threads, threads: of the processor, for training and for the rest; None for as
            many as torch takes.
    """

    training: str
    columns: bool
    small: tuple[str, ...]
    large: tuple[str, ...]
    training_threads: int | None = None
    threads: int | None = None

    def kernel(self, rows: int, numbers: int) -> str:
        """Return the kernel for x of so many rows and W of so many numbers."""
        kernels = self.large if numbers >= LARGE else self.small
        return kernels[sum(rows >= bound for bound in _BOUNDS)]

    def names(self) -> set[str]:
        """The names of all its kernels."""
        return {self.training, *self.small, *self.large}

    def summary(self) -> str:
        """One line for people."""
        decoding = "/".join(dict.fromkeys([*self.small, *self.large]))
        layout = "columns" if self.columns else "rows"
        return f"training {self.training}, inference {decoding}, weights by {layout}"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return asdict(self) | {"small": list(self.small), "large": list(self.large)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ProductChoice:
        """Raises ValueError for what is no choice, or one of an unknown kernel."""
        try:
            kernels = {size: tuple(values[size]) for size in ("small", "large")}
            choice = cls(**{**values, **kernels})
            threads = (choice.training_threads, choice.threads)
            sound = len(choice.small) == len(choice.large) == len(ROWS)
            sound &= choice.names() <= set(KERNELS) and isinstance(choice.columns, bool)
            sound &= all(n is None or (isinstance(n, int) and n > 0) for n in threads)
        except (TypeError, KeyError) as error:
            raise ValueError("this is no choice of kernels") from error
        if not sound:
            raise ValueError("this is no choice of kernels")
        return choice


def forced(kernel: str) -> ProductChoice:
    """This kernel wherever it can be: a packed W serves only as long as W stays the same."""
    training = {ONEDNN_PACKED: ONEDNN, ONEDNN: ONEDNN}.get(kernel, TORCH)
    inference = (TORCH if kernel == COLUMNS else kernel,) * len(ROWS)
    return ProductChoice(
        training=training, columns=kernel == COLUMNS, small=inference, large=inference
    )


UNMEASURED = ProductChoice(
    training=TORCH,
    columns=True,
    small=(TORCH,) * len(ROWS),
    large=(TORCH, MKL_PACKED, MKL_PACKED, MKL_PACKED),
)
"""What holds until something is measured, and what runs of earlier versions were trained with."""


def wished(setting: str = AUTO, environment: Mapping[str, str] = os.environ) -> str:
    """The kernel that is asked for: by a setting, or else by the environment.

    Raises:
        UserError: the environment names one that does not exist.
    """
    named = environment.get(VARIABLE) or AUTO
    if named not in WISHES:
        raise UserError(f"{VARIABLE} is {named!r}; allowed are {', '.join(WISHES)}.")
    return setting if setting != AUTO else named
