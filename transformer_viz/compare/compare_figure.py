"""A comparison for a file: A, B and A − B side by side, each with all that explains it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QFontMetricsF, QPainter

from transformer_viz.compare.compare_pictures import ComparePictures, Shown
from transformer_viz.drawing.matrix import (
    MARGIN,
    MatrixLayout,
    Style,
    fit_matrix,
    matrix_image,
    paint_matrix,
)
from transformer_viz.drawing.theme import GRID, Theme, scaled_font

MAP = QSizeF(180 * GRID, 180 * GRID)
"""The most that one map takes, in logical pixels."""

LEAST, NARROWEST = 75 * GRID, 100 * GRID
"""The least height and width of a map: room for its labels and its colour bar beside cells."""

RESOLUTION = 4.0
"""Pixels of the cells' image per logical pixel: viewers of SVG and PDF smooth between them."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A comparison as a picture for a file.

    Attributes:
        title: the head of A.
        tables: RGBA uint8 [256, 4] by code.
        room: the most that the whole takes, in logical pixels; 0 where that is not limited.
    """

    pictures: ComparePictures
    title: str
    tables: Mapping[Shown, np.ndarray]
    theme: Theme
    font: QFont
    room: QSize

    @property
    def size(self) -> QSize:
        return QSize(3 * round(self._map.width()), self._header + math.ceil(self._height))

    def paint(self, painter: QPainter, rect: QRect) -> None:
        """Paint into `rect`, of this size."""
        painter.save()
        painter.fillRect(rect, self.theme.color("paper"))
        painter.translate(rect.topLeft())
        painter.setPen(self.theme.color("ink"))
        painter.setFont(scaled_font(self.font, 1.15, bold=True))
        heading = QRectF(MARGIN, 2 * GRID, rect.width() - 2 * MARGIN, self._header)
        painter.drawText(heading, Qt.AlignmentFlag.AlignLeft, self.title)
        painter.translate(0, self._header)
        for shown, layout in self._layouts().items():
            self._paint_map(painter, shown, layout)
            painter.translate(self._map.width(), 0)
        painter.restore()

    def _paint_map(self, painter: QPainter, shown: Shown, layout: MatrixLayout) -> None:
        painter.setFont(scaled_font(self.font, 1.0, bold=True))
        painter.setPen(self.theme.color("ink"))
        name = QFontMetricsF(painter.font()).elidedText(
            self.pictures.names[shown], Qt.TextElideMode.ElideMiddle, self._map.width() - 2 * MARGIN
        )
        painter.drawText(QPointF(MARGIN, -GRID), name)
        painter.setFont(self.font)
        picture = self.pictures.maps[shown]
        style = Style(self.theme, self.tables[shown], self.font)
        image = matrix_image(picture, layout, style, RESOLUTION)
        paint_matrix(painter, layout, picture, style, image, self._height)

    def _layouts(self) -> dict[Shown, MatrixLayout]:
        return {
            shown: fit_matrix(picture, self._map, self.font, 1.0)
            for shown, picture in self.pictures.maps.items()
        }

    @property
    def _height(self) -> float:
        """Of the maps."""
        bottoms = [layout.matrix.bottom() for layout in self._layouts().values()]
        return max(LEAST, *bottoms) + MARGIN

    @property
    def _map(self) -> QSizeF:
        """What one map may take."""
        width = max(NARROWEST, self.room.width() // 3) if self.room.width() else MAP.width()
        height = self.room.height() - self._header - MARGIN if self.room.height() else MAP.height()
        return QSizeF(min(MAP.width(), width), min(MAP.height(), max(LEAST, height)))

    @property
    def _header(self) -> int:
        """The height of the title and of the names of the maps."""
        return 3 * QFontMetrics(self.font).height() + 4 * GRID
