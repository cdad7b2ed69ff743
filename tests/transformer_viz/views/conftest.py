"""What the tests of the views share: showing one, and reading its pixels."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor
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
def pixel(qtbot: QtBot) -> Callable[[QWidget, QPoint], QColor]:
    """The colour a widget shows at a point."""
    return lambda widget, point: widget.grab().toImage().pixelColor(point)


@pytest.fixture
def pixels() -> Callable[[QWidget], np.ndarray]:
    """RGBA uint8 [height, width, 4] of a widget."""
    return lambda widget: to_array(widget.grab().toImage())
