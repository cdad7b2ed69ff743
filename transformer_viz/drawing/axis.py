"""An axis of numbers, linear or logarithmic: where a value lies, and which values are marked."""

from __future__ import annotations

import itertools
import math
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transformer_viz.drawing.numbers import compact

# Values in a decade, decades from one to the next, and how few of them still make a scale.
_DENSITIES = (
    *(((1, 2, 3, 5, 7), 1, 3), ((1, 2, 5), 1, 3), ((1, 3), 1, 3), ((1,), 1, 3)),
    *(((1,), stride, 2) for stride in range(2, 9)),
)


class AxisScale(StrEnum):
    LINEAR = "linear"
    LOG = "logarithmic"  # log₁₀ x
    LOG_STEP = "logarithmic from 0"  # log₁₀(1 + x): counts, with a place for 0


def places(values: ArrayLike, scale: AxisScale) -> NDArray[np.float64]:
    """Return where values lie on the axis; NaN for those that a logarithm has no place for."""
    numbers = np.asarray(values, dtype=np.float64)
    if scale is AxisScale.LINEAR:
        return numbers
    inside = numbers + (scale is AxisScale.LOG_STEP)
    result: NDArray[np.float64] = np.log10(
        inside, where=inside > 0, out=np.full_like(inside, np.nan)
    )
    return result


def value_at(place: float, scale: AxisScale) -> float:
    """The value that lies there."""
    if scale is AxisScale.LINEAR:
        return place
    return float(10.0**place) - (scale is AxisScale.LOG_STEP)


def ticks(low: float, high: float, scale: AxisScale, most: int, least: float = 0.0) -> list[float]:
    """Round values between two places, at most ``most`` and no closer than ``least``."""
    first, last = value_at(low, scale), value_at(high, scale)
    if scale is not AxisScale.LINEAR:
        for mantissas, stride, fewest in _DENSITIES:
            found = _in_decades(first, last, mantissas, stride)
            with_zero = [0.0, *found] if scale is AxisScale.LOG_STEP and first <= 0 else found
            for values in (with_zero, found):
                if fewest <= len(values) <= most:
                    return values
    return _evenly(first, last, most, least)


def tick_texts(values: list[float]) -> list[str]:
    """Format ticks with as many decimals as tell neighbours apart."""
    gaps = [abs(b - a) for a, b in itertools.pairwise(values)]
    largest = max(map(abs, values), default=0.0)
    even = len(gaps) > 1 and max(gaps) < 1.5 * min(gaps)
    if not even or not 1e-4 <= min(gaps) <= largest < 1e6:
        return [compact(value) for value in values]
    decimals = max(0, -math.floor(math.log10(min(gaps)) + 1e-9))
    return [f"{value:,.{decimals}f}".replace("-", "−") for value in values]


def _in_decades(first: float, last: float, mantissas: tuple[int, ...], stride: int) -> list[float]:
    lowest = math.floor(math.log10(max(first, 1e-300)))
    highest = math.ceil(math.log10(max(last, 1e-300)))
    if first <= 0:
        lowest = 0
    candidates = [
        mantissa * 10.0**power
        for power in range(lowest, highest + 1)
        if power % stride == 0
        for mantissa in mantissas
    ]
    return [value for value in candidates if first <= value * (1 + 1e-12) and value <= last]


def _evenly(first: float, last: float, most: int, least: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    rough = max((last - first) / max(1, most), least, 1e-300)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    start, stop = math.ceil(first / step - 1e-9), math.floor(last / step + 1e-9)
    return [number * step for number in range(start, stop + 1)]
