"""How large the text of the window is, and what has to follow when that changes.

The size is that of the application's font, which every widget inherits and every picture is painted
with. Three things do not follow by themselves: a font that a widget was given as a multiple of the
inherited one, a height fixed for one line of text, and a width fixed for a certain text. They are
remembered here as dynamic properties of the widget, so that `refit` can set them anew.
"""

import math

from PySide6.QtGui import QFont, QFontInfo, QFontMetricsF
from PySide6.QtWidgets import QApplication, QWidget

from transformer_viz.drawing.theme import scaled_font, taller

SIZES = (9, 10, 11, 12, 13, 14, 16, 18, 20, 22, 24)
"""In points; what Ctrl++ and Ctrl+− go through."""

_SYSTEM, _FACTOR, _BOLD = "system_font", "font_factor", "font_bold"
_HEIGHT, _WIDEST = "line_height", "widest_text"


def text_size() -> float:
    """The size of now, in points."""
    return QFontInfo(QApplication.font()).pointSizeF()


def next_size(points: float, step: int) -> int:
    """The next of `SIZES` in the direction of `step`, or the last one."""
    if step > 0:
        return next((size for size in SIZES if size > points + 0.5), SIZES[-1])
    return next((size for size in reversed(SIZES) if size < points - 0.5), SIZES[0])


def set_text_size(points: int) -> bool:
    """Give all text this size, 0 for the one that the system chose; whether it has changed."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    if app.property(_SYSTEM) is None:  # the first call, before any other size
        app.setProperty(_SYSTEM, app.font())
    font = QFont(app.property(_SYSTEM))
    if points:
        font.setPointSize(max(points, SIZES[0]))
    if font == app.font():
        return False
    sheet = app.styleSheet()
    app.setStyleSheet("")  # under one, a font does not reach the widgets that are there
    app.setFont(font)
    app.setStyleSheet(sheet)
    for widget in app.allWidgets():
        refit(widget)
    return True


def set_font(widget: QWidget, factor: float = 1.0, *, bold: bool = False) -> None:
    """Give a widget the text size times `factor`, with tabular figures, now and later."""
    widget.setProperty(_FACTOR, factor)
    widget.setProperty(_BOLD, bold)
    refit(widget)


def set_height(widget: QWidget, height: int) -> None:
    """Fix a height, in pixels, that suits one line of usual text, and more for larger text."""
    widget.setProperty(_HEIGHT, height)
    refit(widget)


def set_width_of(widget: QWidget, text: str) -> None:
    """Fix the width that a text takes, now and later."""
    widget.setProperty(_WIDEST, text)
    refit(widget)


def refit(widget: QWidget) -> None:
    """Set what the functions above asked for, for the text size of now."""
    font = QApplication.font()
    if (factor := widget.property(_FACTOR)) is not None:
        font = scaled_font(font, factor, bold=widget.property(_BOLD))
        widget.setFont(font)
    if (height := widget.property(_HEIGHT)) is not None:
        widget.setFixedHeight(taller(height, font))
    if (text := widget.property(_WIDEST)) is not None:
        widget.setFixedWidth(math.ceil(QFontMetricsF(font).horizontalAdvance(text)))
