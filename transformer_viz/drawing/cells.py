"""The cells of a map as an image, at the resolution of the device and no finer.

Shapes: R rows, C columns of the map; h × w pixels.
"""

import numpy as np
from PySide6.QtGui import QImage

from transformer_viz.drawing.colormap import MASKED
from transformer_viz.drawing.hatch import hatch_tile
from transformer_viz.drawing.images import to_image
from transformer_viz.drawing.pooling import Pyramid
from transformer_viz.drawing.theme import Theme


def pixel_cells(count: int, first: float, pitch: float, pixels: int) -> np.ndarray:
    """The cell that each of a line of pixels lies in, intp [pixels]; `first` is where cell 0
    begins and `pitch` its size, in pixels, of which the first is at 0."""
    cells = np.floor((np.arange(pixels) + 0.5 - first) / pitch).astype(np.intp)
    return np.clip(cells, 0, count - 1)


def cells_image(
    pyramid: Pyramid,
    rows: np.ndarray,
    columns: np.ndarray,
    cells_per_pixel: float,
    table: np.ndarray,
    theme: Theme,
    ratio: float,
) -> QImage:
    """The image whose pixel [y, x] shows the cell [rows[y], columns[x]] (`pixel_cells`), masked
    ones hatched.

    Where a pixel holds several cells it has the largest of them. `table`: RGBA uint8 [256, 4] by
    code; `ratio`: device pixels per logical one.
    """
    level = pyramid.level(cells_per_pixel)
    codes = pyramid.levels[level]
    shown = codes.take(rows >> level, axis=0).take(columns >> level, axis=1)  # [h, w]
    colors = np.ascontiguousarray(table).view(np.uint32)[:, 0].take(shown)  # [h, w]
    masked = shown == MASKED
    if masked.any():
        tile = hatch_tile(theme, ratio).view(np.uint32)[..., 0]
        y, x = np.nonzero(masked)
        colors[y, x] = tile[y % len(tile), x % len(tile)]
    return to_image(colors.view(np.uint8).reshape(*colors.shape, 4))
