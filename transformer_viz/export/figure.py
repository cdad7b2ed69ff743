"""A picture as a figure: without blank margins, in a given shape, saying what it is of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from PySide6.QtCore import QMargins, QPoint, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.matrix import Style
from transformer_viz.drawing.theme import GRID, scaled_font
from transformer_viz.export.picture import Picture, to_image

SLIDE_WIDTH = 1280
"""Logical pixels of a 16:9 slide of 13⅓ inches; text has its size in points on such a slide."""
SLIDE_POINTS = 16
"""The size of text on a slide, unless another one is chosen."""
NARROWEST, WIDEST = 320, 4096
_MARGIN = 4 * GRID
_BLEED = 6 * GRID  # how far beyond its edge a painter may write
_BESIDE = 0.75  # of the room: a picture narrower than this has its caption beside it
_SHARE = 0.64  # of the width, for a picture made to stand beside its caption
_COLUMN = 72 * GRID  # the widest caption beside a picture, with usual text
_WRAPPED = int(Qt.TextFlag.TextWordWrap)


class Shape(StrEnum):
    PICTURE = "as shown"
    SLIDE = "16:9, for slides"


@dataclass(frozen=True, slots=True)
class Figure:
    """The layout of an exported picture.

    Attributes:
        shape: of the whole figure.
        width: of the whole figure in logical pixels, 96 to an inch; 0 for that of the picture, or
            of a slide.
        points: the size of text; 0 for that of the window, or of a slide.
        caption: whether sentence, translation and model stand in it.
    """

    shape: Shape = Shape.PICTURE
    width: int = 0
    points: int = 0
    caption: bool = True

    @property
    def size(self) -> QSize:
        """The size of the whole, in logical pixels; 0 where the picture decides."""
        if self.shape is Shape.SLIDE:
            width = self.width or SLIDE_WIDTH
            return QSize(width, round(width * 9 / 16))
        return QSize(self.width, 0)

    def magnification(self, font: QFont) -> float:
        """Return the factor for all that is drawn with this font, so that its text has the size
        asked for."""
        points = self.points or SLIDE_POINTS * (self.shape is Shape.SLIDE)
        return points / font.pointSizeF() if points else 1.0

    def rooms(self, font: QFont, lines: tuple[str, ...]) -> tuple[QSize, ...]:
        """What a picture in this font may take, before it is magnified; 0 where it decides.

        On a slide there are two ways: above the caption, and beside it.
        """
        size = QSizeF(self.size) / self.magnification(font)
        width = max(0.0, size.width() - 2 * _MARGIN)
        height = max(0.0, size.height() - 2 * _MARGIN)
        if not (lines and height):
            return (QSize(round(width), round(height)),)
        below = _height(lines, font, width) + _MARGIN
        return (
            QSize(round(width), round(max(0.0, height - below))),
            QSize(round(_SHARE * width), round(height)),
        )


def trimmed(picture: Picture, style: Style) -> Picture:
    """The picture without the blank margins around what is painted, some of it beyond its edge."""
    around = picture.size.grownBy(QMargins(_BLEED, _BLEED, _BLEED, _BLEED))
    inked = _inked(_moved(picture, _BLEED, _BLEED, around, style), style)
    rows, columns = (np.flatnonzero(inked.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return picture
    left, top = int(columns[0]), int(rows[0])
    size = QSize(int(columns[-1]) + 1 - left, int(rows[-1]) + 1 - top)
    return _moved(picture, _BLEED - left, _BLEED - top, size, style)


def _moved(picture: Picture, x: int, y: int, size: QSize, style: Style) -> Picture:
    """A part of the picture or more than it, in which its corner is at `x`, `y`."""

    def paint(painter: QPainter, rect: QRect) -> None:
        painter.save()
        painter.setClipRect(rect)
        painter.fillRect(rect, style.theme.color("paper"))
        painter.translate(rect.left() + x, rect.top() + y)
        picture.paint(painter, QRect(QPoint(), picture.size))
        painter.restore()

    return Picture(picture.name, size, paint)


def compose(
    ways: Sequence[Picture], figure: Figure, lines: tuple[str, ...], style: Style
) -> Picture:
    """A picture with its caption in a figure of the shape asked for.

    Args:
        ways: the same picture, made for each of `Figure.rooms`. That one is taken which need not
            be made smaller, and then the one in which most is painted.
        lines: of the caption.
        style: paper, and the font of the window.
    """
    tried = [_set(picture, figure, lines, style) for picture in ways]
    if len(tried) == 1:
        return tried[0][0]
    return max(tried, key=lambda one: (round(min(one[1], 1.0), 1), _share(one[0], style)))[0]


def _set(
    picture: Picture, figure: Figure, lines: tuple[str, ...], style: Style
) -> tuple[Picture, float]:
    """The figure, and how much the picture was made larger or smaller for it."""
    factor = figure.magnification(style.font)
    inner = trimmed(picture, style)
    layout = _lay_out(QSizeF(inner.size), QSizeF(figure.size) / factor, lines, style.font)
    grown = layout.size * factor
    wanted = figure.size
    size = QSize(wanted.width() or round(grown.width()), wanted.height() or round(grown.height()))

    def paint(painter: QPainter, rect: QRect) -> None:
        painter.save()
        painter.fillRect(rect, style.theme.color("paper"))
        painter.translate(rect.topLeft())
        painter.scale(factor, factor)
        _write(painter, layout.caption, lines, style)
        painter.translate(layout.place)
        painter.scale(layout.scale, layout.scale)
        inner.paint(painter, QRect(QPoint(), inner.size))
        painter.restore()

    return Picture(picture.name, size, paint), layout.scale


def _share(picture: Picture, style: Style) -> float:
    """How much of the paper is painted over: the larger all is drawn, the more."""
    return float(_inked(picture, style).mean())


def _inked(picture: Picture, style: Style) -> np.ndarray:
    """Which pixels differ from the paper, bool [height, width]."""
    paper = style.theme.color("paper")
    pixels = to_array(to_image(picture))[..., :3]
    return np.asarray((pixels != [paper.red(), paper.green(), paper.blue()]).any(axis=2))


@dataclass(frozen=True, slots=True)
class _Layout:
    """Before magnification; `scale` is how much the picture alone is made larger or smaller."""

    size: QSizeF
    place: QPointF
    scale: float
    caption: QRectF


def _lay_out(inner: QSizeF, wanted: QSizeF, lines: tuple[str, ...], font: QFont) -> _Layout:
    width = wanted.width() or max(inner.width() + 2 * _MARGIN, _COLUMN * bool(lines))
    across = width - 2 * _MARGIN
    below = _height(lines, font, across) + _MARGIN if lines else 0.0
    if not wanted.height():
        scale = across / inner.width() if wanted.width() else 1.0
        height = inner.height() * scale
        caption = QRectF(_MARGIN, 2 * _MARGIN + height, across, below)
        whole = QSizeF(width, height + below + 2 * _MARGIN)
        return _Layout(whole, QPointF(_MARGIN, _MARGIN), scale, caption)
    down = wanted.height() - 2 * _MARGIN
    beside = min(across / inner.width(), down / inner.height())
    if lines and inner.width() * beside < _BESIDE * across:
        room = across - inner.width() * beside - _MARGIN
        longest = max(
            QFontMetricsF(one).horizontalAdvance(line) for line, one in _paragraphs(lines, font)
        )
        column = min(room, float(_COLUMN), math.ceil(longest) + 1.0)
        gap = (room - column) / 3
        left = _MARGIN + gap
        right = left + inner.width() * beside + gap + _MARGIN
        taken = _height(lines, font, column)
        caption = QRectF(right, _MARGIN + max(0.0, (down - taken) / 2), column, down)
        place = QPointF(left, _MARGIN + (down - inner.height() * beside) / 2)
        return _Layout(wanted, place, beside, caption)
    scale = min(across / inner.width(), (down - below) / inner.height())
    left = _MARGIN + (across - inner.width() * scale) / 2
    top = _MARGIN + (down - below - inner.height() * scale) / 2
    caption = QRectF(_MARGIN, wanted.height() - below, across, below)
    return _Layout(wanted, QPointF(left, top), scale, caption)


def _paragraphs(lines: tuple[str, ...], font: QFont) -> list[tuple[str, QFont]]:
    """The sentence stands out, the rest follows."""
    bold = scaled_font(font, 1.0, bold=True)
    return [(line, font if number else bold) for number, line in enumerate(lines)]


def _height(lines: tuple[str, ...], font: QFont, width: float) -> float:
    room = QRectF(0, 0, width, 1 << 16)
    return sum(
        QFontMetricsF(one).boundingRect(room, _WRAPPED, line).height() + GRID
        for line, one in _paragraphs(lines, font)
    )


def _write(painter: QPainter, rect: QRectF, lines: tuple[str, ...], style: Style) -> None:
    top = rect.top()
    for line, font in _paragraphs(lines, style.font):
        painter.setFont(font)
        painter.setPen(style.theme.color("ink" if font.bold() else "soft"))
        room = QRectF(rect.left(), top, rect.width(), 1 << 16)
        painter.drawText(room, _WRAPPED, line)
        top += QFontMetricsF(font).boundingRect(room, _WRAPPED, line).height() + GRID
