"""Attention weights to colours: weight 0 is the first colour of the map and weight 1 the last,
whatever the head or the text, unless another scale is asked for (`scales`).

Weights travel as *codes*, one uint8 per cell: 0 is a masked cell, 1 … 255 are levels 0 … 1. So
a picture of 2 000 × 2 000 cells takes 4 MB, a change of colours is a change of 256 table entries,
and the maximum over a block of cells is masked only where the whole block is.

Shapes: Q queries, K keys.
"""

from functools import lru_cache

import numpy as np

from core.trace.trace import BLOCK, row_blocks, without_repetition
from transformer_viz.drawing.gradient import even_lightness
from transformer_viz.drawing.hatch import rgba
from transformer_viz.drawing.scales import to_levels
from transformer_viz.drawing.theme import Theme
from transformer_viz.state.options import ColorMap, Scale

MASKED = 0
BLANK = 1  # level 0, and whatever lies below a threshold
_BY_PART = set(Scale) - {Scale.HEAD}  # which needs the largest weight of the whole map
LEVELS = 254  # steps between level 0 (code 1) and level 1 (code 255)


def encode(
    weights: np.ndarray,
    allowed: np.ndarray,
    scale: Scale = Scale.ABSOLUTE,
    threshold: float = 0.0,
    top: float = 1.0,
) -> np.ndarray:
    """Return codes, uint8 [..., Q, K], of weights [..., Q, K] in 0 … `top` (clipped); masked where
    not allowed, bool [Q, K]. With a threshold, code 1 is for the weights below it alone."""
    if scale in _BY_PART and weights.ndim == 2 and len(weights) > BLOCK:
        parts = zip(row_blocks(weights), row_blocks(allowed), strict=True)
        return np.concatenate([encode(*part, scale, threshold, top) for part in parts])
    levels = to_levels(weights, scale, top)
    levels *= np.float32(LEVELS)
    levels += np.float32(1.5)  # truncation then rounds to the nearest level
    codes = levels.astype(np.uint8)
    if threshold > 0:
        codes = np.where(weights < threshold, np.uint8(BLANK), np.maximum(codes, BLANK + 1))
    if not without_repetition(allowed).all():
        codes *= allowed
    return codes  # [..., Q, K]


def lookup_table(color_map: ColorMap, theme: Theme, *, blank: bool = False) -> np.ndarray:
    """Return RGBA uint8 [256, 4], indexed by code; masked cells are transparent, for the hatch
    below, and with `blank` those below a threshold have the colour of the paper."""
    colors = np.empty((256, 4), dtype=np.uint8)
    colors[1:, :3] = _colors(color_map, theme)
    colors[1:, 3] = 255
    colors[MASKED] = 0
    if blank:
        colors[BLANK] = rgba(theme, "paper")
    return colors


def _colors(color_map: ColorMap, theme: Theme) -> np.ndarray:
    """sRGB uint8 [255, 3], from weight 0 to weight 1."""
    if color_map is ColorMap.PAPER:
        saturated, end = ("#3f8cff", "#e9f5ff") if theme.dark else ("#2468d0", "#0a1f5c")
        return even_lightness((theme.paper, saturated, end), LEVELS + 1)
    if color_map is ColorMap.GREY:
        return even_lightness((theme.paper, "#f4f4f4" if theme.dark else "#101010"), LEVELS + 1)
    return _packaged(color_map.value)


@lru_cache
def _packaged(name: str) -> np.ndarray:
    """A map that pyqtgraph ships (CC0: viridis and its family)."""
    import pyqtgraph  # only here: the default map needs no table

    return pyqtgraph.colormap.get(name).getLookupTable(nPts=LEVELS + 1)[:, :3]
