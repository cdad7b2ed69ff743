"""Attention weights to colours, on an absolute scale: weight 0 is always the first colour of the
map and weight 1 the last, whatever the head or the text.

Weights travel as *codes*, one uint8 per cell: 0 is a masked cell, 1 … 255 are weights 0 … 1. So
a picture of 2 000 × 2 000 cells takes 4 MB, a change of colours is a change of 256 table entries,
and the maximum over a block of cells is masked only where the whole block is.

Shapes: Q queries, K keys.
"""

from enum import StrEnum
from functools import lru_cache

import numpy as np

from transformer_viz.theme import Theme

MASKED = 0
LEVELS = 254  # steps between weight 0 (code 1) and weight 1 (code 255)


class ColorMap(StrEnum):
    PAPER = "paper"  # from the background to a saturated blue; dark: from near-black to ice
    VIRIDIS = "viridis"
    CIVIDIS = "cividis"
    MAGMA = "magma"
    GREY = "grey"


def encode(weights: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Codes, uint8 [..., Q, K], of weights [..., Q, K] in 0 … 1 (clipped); masked where not
    allowed, bool [Q, K]."""
    codes = np.multiply(weights, LEVELS, dtype=np.float32)
    np.clip(codes, 0, LEVELS, out=codes)
    codes += 1.5  # truncation then rounds to the nearest level
    return codes.astype(np.uint8) * allowed  # [..., Q, K]


def lookup_table(color_map: ColorMap, theme: Theme) -> np.ndarray:
    """RGBA uint8 [256, 4], indexed by code; masked cells are transparent, for the hatch below."""
    colors = np.empty((256, 4), dtype=np.uint8)
    colors[1:, :3] = _colors(color_map, theme)
    colors[1:, 3] = 255
    colors[MASKED] = 0
    return colors


def _colors(color_map: ColorMap, theme: Theme) -> np.ndarray:
    """sRGB uint8 [255, 3], from weight 0 to weight 1."""
    if color_map is ColorMap.PAPER:
        saturated, end = ("#3f8cff", "#e9f5ff") if theme.dark else ("#2468d0", "#0a1f5c")
        return _even_lightness((theme.paper, saturated, end))
    if color_map is ColorMap.GREY:
        return _even_lightness((theme.paper, "#f4f4f4" if theme.dark else "#101010"))
    return _packaged(color_map.value)


@lru_cache
def _packaged(name: str) -> np.ndarray:
    """A map that pyqtgraph ships (CC0: viridis and its family)."""
    import pyqtgraph  # only here: the default map needs no table

    return pyqtgraph.colormap.get(name).getLookupTable(nPts=LEVELS + 1)[:, :3]


@lru_cache
def _even_lightness(anchors: tuple[str, ...]) -> np.ndarray:
    """sRGB uint8 [255, 3] through the anchors (``#rrggbb``) in OKLab, lightness in equal steps.

    OKLab: B. Ottosson, "A perceptual color space for image processing", 2020.
    """
    rgb = np.array([[int(a[i : i + 2], 16) for i in (1, 3, 5)] for a in anchors]) / 255
    lab = np.cbrt(_to_linear(rgb) @ _RGB_TO_LMS.T) @ _LMS_TO_LAB.T  # [anchors, 3]
    light = np.linspace(lab[0, 0], lab[-1, 0], LEVELS + 1)
    order = np.argsort(lab[:, 0])
    path = np.stack([np.interp(light, lab[order, 0], lab[order, i]) for i in range(3)], axis=1)
    linear = (path @ np.linalg.inv(_LMS_TO_LAB).T) ** 3 @ np.linalg.inv(_RGB_TO_LMS).T
    return np.rint(255 * _to_srgb(linear.clip(0, 1))).astype(np.uint8)  # [255, 3]


def _to_linear(srgb: np.ndarray) -> np.ndarray:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _to_srgb(linear: np.ndarray) -> np.ndarray:
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


_RGB_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LMS_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
