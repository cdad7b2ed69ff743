"""The colours of the boxes of the paper's figures 1 and 2, by what a box does."""

from enum import StrEnum

from PySide6.QtGui import QColor

from transformer_viz.drawing.theme import Theme


class Role(StrEnum):
    """What a box does."""

    TEXT = "text"
    EMBEDDING = "embedding"
    POSITIONS = "positions"
    LAYER = "layer"
    ATTENTION = "attention"
    FEED_FORWARD = "feed_forward"
    NORM = "norm"
    ADD = "add"
    LINEAR = "linear"
    MATMUL = "matmul"
    SCALE = "scale"
    MASK = "mask"
    SOFTMAX = "softmax"
    CONCAT = "concat"
    ACTIVATION = "activation"


_ON_LIGHT = {
    Role.EMBEDDING: "#fbe1e0",
    Role.ATTENTION: "#ffe3bd",
    Role.FEED_FORWARD: "#c8e8f6",
    Role.NORM: "#f3f6c6",
    Role.ADD: "#f3f6c6",
    Role.LINEAR: "#dfe0f2",
    Role.MATMUL: "#e6d3ea",
    Role.SCALE: "#faf0bd",
    Role.MASK: "#f8d4e2",
    Role.SOFTMAX: "#cfe9d2",
    Role.CONCAT: "#faf0bd",
    Role.ACTIVATION: "#cfe9d2",
}
_ON_DARK = {
    Role.EMBEDDING: "#4a2f33",
    Role.ATTENTION: "#54401f",
    Role.FEED_FORWARD: "#1d4354",
    Role.NORM: "#3f4420",
    Role.ADD: "#3f4420",
    Role.LINEAR: "#33375a",
    Role.MATMUL: "#45304b",
    Role.SCALE: "#4a4420",
    Role.MASK: "#4f2c3d",
    Role.SOFTMAX: "#244a2d",
    Role.CONCAT: "#4a4420",
    Role.ACTIVATION: "#244a2d",
}


def box_color(theme: Theme, role: Role) -> QColor:
    """Return the ground of a box, on which text in the theme's ink can be read."""
    colors = _ON_DARK if theme.dark else _ON_LIGHT
    return QColor(colors[role]) if role in colors else theme.color("raised")
