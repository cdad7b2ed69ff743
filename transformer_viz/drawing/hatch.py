"""The look of masked cells: thin diagonal lines, so that "may not attend" never looks like 0.

The lines follow pixels, not cells: the texture is the same at every zoom.
"""

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QBrush, QTransform

from transformer_viz.drawing.images import to_image
from transformer_viz.drawing.theme import Theme

PERIOD = 6
"""Pixels from one line to the next, along a row."""


def hatch(
    height: int, width: int, theme: Theme, *, period: int = PERIOD, thickness: int = 1
) -> np.ndarray:
    """Return diagonal lines as RGBA uint8 [height, width, 4], which tile seamlessly at multiples of
    period."""
    y, x = np.ogrid[:height, :width]
    line = (x + y) % period < thickness  # [height, width]
    colors = np.array([rgba(theme, "hatch_paper"), rgba(theme, "hatch")], dtype=np.uint8)
    return colors[line.astype(np.intp)]


def rgba(theme: Theme, token: str) -> tuple[int, int, int, int]:
    color = theme.color(token)
    return color.red(), color.green(), color.blue(), color.alpha()


def hatch_tile(theme: Theme, ratio: float) -> np.ndarray:
    """One period of the pattern, RGBA uint8 [period, period, 4], for ``ratio`` pixels per point."""
    period = max(1, round(PERIOD * ratio))
    return hatch(period, period, theme, period=period, thickness=max(1, round(ratio)))


def hatch_brush(theme: Theme, origin: QPointF, ratio: float = 1.0) -> QBrush:
    """The same pattern as a brush with its phase at `origin`, for ``ratio`` pixels per point."""
    brush = QBrush(to_image(hatch_tile(theme, ratio)))
    brush.setTransform(QTransform.fromTranslate(origin.x(), origin.y()).scale(1 / ratio, 1 / ratio))
    return brush
