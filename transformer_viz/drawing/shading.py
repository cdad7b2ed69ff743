"""The ground of a token that is looked at."""

from PySide6.QtGui import QColor

from transformer_viz.drawing.theme import Theme

STRONGEST = 0.45
"""How much of the accent weight 1 mixes in; the text stays readable on it in both themes."""


def shaded(theme: Theme, weight: float, ground: str = "paper") -> QColor:
    """The ground, a token of the theme, shaded towards the accent by a weight in 0 … 1."""
    part = STRONGEST * max(0.0, min(weight, 1.0))
    below, above = theme.color(ground), theme.color("accent")
    pairs = zip(below.getRgb()[:3], above.getRgb()[:3], strict=True)  # type: ignore[index]
    return QColor(*(round(low + part * (high - low)) for low, high in pairs))
