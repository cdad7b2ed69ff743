"""What was measured of the kinds of layers, as values, without torch."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from core.errors import UserError
from core.fields import from_mapping
from core.model.mixers.kinds import MixerShape

QUANTITIES = {
    "forward_seconds": "time, forward",
    "training_seconds": "time, training step",
    "step_seconds": "time per token, decoding",
    "forward_bytes": "memory, forward",
    "training_bytes": "memory, training step",
    "multiply_adds": "multiply-adds",
    "sequential": "sequential operations",
}
"""What is known of a layer at each length, with its title."""
INFLUENCE = "influence"
"""The name of what `LayerCost.influence` holds, beside those of quantities."""
SECONDS = ("forward_seconds", "training_seconds", "step_seconds")
BYTES = ("forward_bytes", "training_bytes")

_FITTED = 4  # of the longest rows: shorter ones cost what does not depend on their length


@dataclass(frozen=True, slots=True)
class LengthCost:
    """What one layer costs for one row of n positions.

    Attributes:
        step_seconds: for position n when decoding token by token; None of a kind that cannot.
        forward_bytes, training_bytes: the most that tensors took at a time, weights left out.
    """

    n: int
    multiply_adds: int
    sequential: int
    forward_seconds: float
    training_seconds: float
    forward_bytes: int
    training_bytes: int
    step_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class LayerCost:
    """What one kind costs over lengths, and how far it reaches.

    Attributes:
        path: steps that connect all of `path_positions`, found by impulses; None if none do.
        path_formula: the same by formula.
        influence: the mean norm of the gradient of output i by input j, by |i − j| from 0 on, of
            one layer with random weights.
        left_out: why the longest rows were not measured; "" if they were.
    """

    kind: str
    title: str
    parameters: int
    order: str
    path_order: str
    path: int | None
    path_formula: int | None
    costs: tuple[LengthCost, ...]
    left_out: str = ""
    influence: tuple[float, ...] = ()

    def values(self, quantity: str) -> list[tuple[int, float]]:
        """Return (n, value) where there is a value; of the influence, (distance, value)."""
        if quantity == INFLUENCE:
            return list(enumerate(self.influence))
        found = [(cost.n, getattr(cost, quantity)) for cost in self.costs]
        return [(n, float(value)) for n, value in found if value is not None]

    def slope(self, quantity: str) -> float | None:
        """Return the exponent p of value ≈ c·n^p, fitted to the four longest rows; None of
        the influence."""
        if quantity == INFLUENCE:
            return None
        return slope(self.values(quantity)[-_FITTED:])


@dataclass(frozen=True, slots=True)
class LayersReport:
    """All kinds that were measured, and how."""

    shape: MixerShape
    causal: bool
    threads: int
    processor: str
    path_positions: int
    layers: tuple[LayerCost, ...]

    def to_json(self) -> str:
        """Return the report as one JSON object, with the fitted slopes."""
        whole = asdict(self)
        for layer, cost in zip(whole["layers"], self.layers, strict=True):
            layer["slopes"] = {quantity: cost.slope(quantity) for quantity in QUANTITIES}
        return json.dumps(whole, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> LayersReport:
        """Raises ValueError for what ``to_json`` does not write."""
        try:
            whole = json.loads(text)
            for layer in whole["layers"]:
                layer.pop("slopes", None)
            return from_mapping(cls, whole)
        except (UserError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError("this is no report about layers") from error


def slope(points: Sequence[tuple[float, float]]) -> float | None:
    """Fit a line to log₂ y over log₂ x by least squares; None for fewer than two points."""
    pairs = [(math.log2(x), math.log2(y)) for x, y in points if x > 0 and y > 0]
    if len(pairs) < 2:
        return None
    mean_x, mean_y = (sum(part) / len(pairs) for part in zip(*pairs, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _y in pairs)
    return float(sum((x - mean_x) * (y - mean_y) for x, y in pairs) / spread)
