"""What the tests of the views share: showing one, and reading its pixels."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from transformer_viz.drawing.images import to_array

Show = Callable[..., QWidget]


@pytest.fixture
def show(qtbot: QtBot) -> Show:
    """Show a widget at a size and wait until it is there."""

    def show(widget: QWidget, width: int = 900, height: int = 700) -> QWidget:
        qtbot.addWidget(widget)
        widget.resize(width, height)
        widget.show()
        qtbot.waitExposed(widget)
        return widget

    return show


@pytest.fixture
def pixels() -> Callable[..., np.ndarray]:
    """What a widget shows, or a part of it, RGBA uint8 [height, width, 4], in device pixels."""

    def pixels(widget: QWidget, part: QRect | None = None) -> np.ndarray:
        image = widget.grab().toImage()
        shown = to_array(image)
        if part is None:
            return shown
        ratio = image.devicePixelRatio()
        top, left = round(part.top() * ratio), round(part.left() * ratio)
        bottom, right = round((part.bottom() + 1) * ratio), round((part.right() + 1) * ratio)
        return shown[top:bottom, left:right]

    return pixels


@pytest.fixture
def pixel(pixels) -> Callable[[QWidget, QPoint], list[int]]:
    """The colour, RGBA, that a widget shows at a point."""
    return lambda widget, point: pixels(widget, QRect(point, point))[0, 0].tolist()
