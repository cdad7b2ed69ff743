"""What a colour stands for: how a weight becomes a level, and what to write beside the colour bar.

A level is a place on the colour bar, 0 to 1.
"""

import math
from dataclasses import dataclass

import numpy as np

from transformer_viz.state.options import Quantity, Scale

SMALLEST = 1e-4
"""The weight at the lower end of the logarithmic scale; smaller ones look like it."""

_GAMMA = 0.5


def scale_name(scale: Scale, quantity: Quantity) -> str:
    match scale:
        case Scale.ABSOLUTE if quantity is Quantity.WEIGHT:
            return "absolute 0–1"
        case Scale.ABSOLUTE:
            return f"across {quantity.each}s"
        case Scale.ROW:
            return "per row"
        case Scale.HEAD:
            return f"per {quantity.each}"
        case Scale.LOG:
            return "logarithmic"
        case Scale.GAMMA:
            return "gamma 0.5"


def explain_scale(scale: Scale, quantity: Quantity) -> str:
    noun, each, weights = quantity.noun, quantity.each, quantity is Quantity.WEIGHT
    match scale:
        case Scale.ABSOLUTE if weights:
            return (
                "The weight itself, from 0 to 1: the same colour means the same weight in every "
                "head and every text."
            )
        case Scale.ABSOLUTE:
            return (
                f"From 0 to the largest {noun} of all {each}s of this kind: the same colour means "
                f"the same {noun} in every {each} for this text."
            )
        case Scale.ROW:
            return (
                f"{noun.capitalize()} / largest {noun} of its row: shows where each row is "
                "strongest. Rows cannot be compared with each other."
            )
        case Scale.HEAD:
            return (
                f"{noun.capitalize()} / largest {noun} of the map: makes faint {each}s visible. "
                f"{each.capitalize()}s cannot be compared with each other."
            )
        case Scale.LOG:
            span = "0.0001 to 1" if weights else "1/10,000 of the largest upwards"
            return (
                f"log₁₀ of the {noun}, from {span}: equal steps in colour mean equal factors in "
                f"{noun}."
            )
        case Scale.GAMMA:
            return f"The square root of the {noun}, {noun}^0.5: brings out small values."


@dataclass(frozen=True, slots=True)
class Measure:
    """What a map measures.

    Attributes:
        name: beside the colour bar.
        noun: in sentences.
        top: the value at the upper end of the scales that are the same for all maps.
        each: what has a map of its own.
    """

    name: str = "weight"
    noun: str = "weight"
    top: float = 1.0
    each: str = "head"


WEIGHT = Measure()


@dataclass(frozen=True, slots=True)
class Legend:
    """What stands beside a colour bar.

    Attributes:
        caption: lines below it.
        ticks: a level and a text each.
        threshold: weights below it are blank; 0 for none.
        blank: the level of the threshold, where the scale has one for all rows.
        hatched: what hatched cells are.
    """

    caption: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    threshold: float = 0.0
    blank: float = 0.0
    hatched: str = "masked"


def to_levels(weights: np.ndarray, scale: Scale, top: float = 1.0) -> np.ndarray:
    """Return levels, float32 [..., R, C], of weights [..., R, C] in 0 … `top`; on the scales of a
    row or a head the largest weight is 1."""
    if top != 1:
        weights = weights / np.float32(top)
    weights = np.clip(weights, 0, 1, dtype=np.float32)
    match scale:
        case Scale.ABSOLUTE:
            return weights
        case Scale.ROW:
            return _to_largest(weights, axes=(-1,))
        case Scale.HEAD:
            return _to_largest(weights, axes=(-2, -1))
        case Scale.LOG:
            return 1 - np.log10(np.maximum(weights, SMALLEST)) / math.log10(SMALLEST)
        case Scale.GAMMA:
            return weights**_GAMMA


def _to_largest(weights: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    largest = weights.max(axis=axes, keepdims=True, initial=0)
    return np.divide(weights, largest, where=largest > 0, out=np.zeros_like(weights))


def legend(
    scale: Scale, largest: float | None, threshold: float = 0.0, measure: Measure = WEIGHT
) -> Legend:
    """Return the legend of a scale; `largest` is the largest weight of the map, which ends the
    scale of a head, and None for maps of several heads, each with its own."""
    caption, ticks = _words(scale, largest, measure)
    blank = 0.0
    if scale is Scale.HEAD and largest:
        blank = min(1.0, threshold / largest)
    elif scale not in (Scale.HEAD, Scale.ROW):
        blank = float(to_levels(np.array([threshold]), scale, measure.top)[0])
    return Legend(caption, ticks, threshold, blank)


def _words(
    scale: Scale, largest: float | None, measure: Measure
) -> tuple[tuple[str, ...], tuple[tuple[float, str], ...]]:
    """Caption and ticks."""
    name, top = measure.name, measure.top
    match scale:
        case Scale.ABSOLUTE:
            span = "absolute 0–1" if top == 1 else f"0–{top:.3g}, all {measure.each}s"
            return (name, span), ((1, f"{top:.3g}"), (0.5, f"{top / 2:.3g}"), (0, "0"))
        case Scale.ROW:
            return (f"{name} per row", "0 – row maximum"), (
                (1, "row max"),
                (0.5, "half"),
                (0, "0"),
            )
        case Scale.HEAD:
            end, half = "map max", "half"
            if largest is not None:
                end, half = f"{largest:.3g}", f"{largest / 2:.3g}"
            caption = (f"{name} per {measure.each}", "0 – map maximum")
            return caption, ((1, end), (0.5, half), (0, "0"))
        case Scale.LOG:
            least = SMALLEST * top
            decades = tuple((1 - n / 4, f"{top / 10**n:.3g}") for n in range(4))
            span = f"{least:.2g}–{top:.3g}"
            return (f"{name}, log₁₀", span), (*decades, (0, f"≤ {least:.2g}"))
        case Scale.GAMMA:
            shares = (1.0, 0.5, 0.25, 0.1, 0.0)
            ticks = tuple((share**_GAMMA, f"{top * share:.3g}") for share in shares)
            return (f"{name}^0.5", f"gamma, 0–{top:.3g}"), ticks
