"""How many steps the literature's formulas say that something needs from one position to another.

Legend: n positions, k width of a kernel, r neighbours.
"""

from __future__ import annotations

from itertools import count

from core.model.mixers.kinds import MixerShape, dilation


def path_formula(name: str, shape: MixerShape, n: int, *, causal: bool) -> int | None:
    """Return the steps that connect all n ≥ 2 positions by the kind of this name; None if none do.

    A step is a layer; in a recurrent layer or a state space, it is an update of the state.
    """
    far = n - 1
    if name in ("lstm", "gru", "s4d", "mamba"):
        return far
    if name == "restricted":
        return _evenly(far, *_sides(shape.neighbours, causal))
    if name in ("convolution", "convs2s"):
        return _evenly(far, *_sides(shape.kernel, causal))
    if name == "bytenet":
        return _dilated(far, shape.kernel, causal)
    if name == "longformer":
        return 1 if far <= (shape.neighbours - 1) // 2 or shape.globals >= far else 2
    if name == "bigbird":
        blocks = -(-n // shape.blocks)
        # A block reads its neighbours, the global blocks and one other.
        return 1 if blocks - shape.globals <= 3 else 2
    return 1


def _sides(width: int, causal: bool) -> tuple[int, int]:
    """Return how far a centred, or causal, neighbourhood of this width reaches either way."""
    return (width - 1, width - 1) if causal else (width // 2, (width - 1) // 2)


def _evenly(far: int, *sides: int) -> int | None:
    least = min(sides)
    return None if least == 0 else -(-far // least)


def _dilated(far: int, width: int, causal: bool) -> int | None:
    reached = 0
    least = min(_sides(width, causal))
    for layer in count():
        if reached >= far:
            return layer
        if least == 0:
            return None
        reached += least * dilation(layer)
    return None
