"""The three maps of a comparison: one large, the other two small, marked at the same places."""

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from transformer_viz.compare.compare_pictures import ComparePictures, Shown
from transformer_viz.drawing.marks import Marks
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.widgets.matrix_canvas import MatrixCanvas
from transformer_viz.widgets.readout import Reading, ReadoutCard
from transformer_viz.widgets.small_map import SmallMap
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel
from transformer_viz.words.wording import plain_tooltip

_SMALL, _LARGE = 1, 4  # shares of the width


class CompareMaps(QWidget):
    """The maps of A, B and their difference; signals carry row and column of the common axes."""

    cellHovered = Signal(object, object)  # row, column
    cellClicked = Signal(object, object, bool)  # …, whether beside what is pinned
    enlargeWanted = Signal(object)  # Shown

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas = MatrixCanvas()
        self.canvas.setAccessibleName("Comparison")
        self.readout = ReadoutCard(self.canvas)
        self.small = (_Titled(self), _Titled(self))
        beside = QVBoxLayout()
        beside.setContentsMargins(4 * GRID, 0, 0, 2 * GRID)
        beside.setSpacing(2 * GRID)
        for titled in self.small:
            beside.addWidget(titled, 1)
        self._scales = PlainLabel()
        self._scales.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._scales.setWordWrap(True)
        set_role(self._scales, "faint")
        beside.addWidget(self._scales)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addLayout(beside, _SMALL)
        row.addWidget(self.canvas, _LARGE)
        self._maps: tuple[MatrixCanvas | SmallMap, ...] = (
            self.canvas,
            *(titled.map for titled in self.small),
        )
        for view in self._maps:
            view.cellHovered.connect(self.cellHovered)
            view.cellClicked.connect(self.cellClicked)

    def show_pictures(
        self,
        pictures: ComparePictures,
        large: Shown,
        tables: Mapping[Shown, np.ndarray],
        theme: Theme,
    ) -> None:
        """Show maps; `tables` are RGBA uint8 [256, 4] by code."""
        maps = pictures.maps
        self.canvas.set_theme(theme, tables[large])
        self.canvas.set_picture(maps[large])
        others = [shown for shown in Shown if shown is not large]
        for titled, shown in zip(self.small, others, strict=True):
            titled.shown = shown
            titled.set_name(pictures.names[shown])
            titled.map.show_picture(maps[shown], tables[shown], theme)
        scales = {maps[shown].legend.caption[-1]: None for shown in others}
        self._scales.setText("\n".join(scales))

    def set_marks(self, marks: Marks) -> None:
        for view in self._maps:
            view.set_marks(marks)

    def set_stale(self, stale: bool) -> None:
        for view in self._maps:
            view.set_stale(stale)

    def hide_reading(self) -> None:
        self.readout.hide()

    def show_reading(self, reading: Reading, row: int, column: int) -> None:
        """Show a reading beside its cell of the large map, if that is in sight."""
        cell = self.canvas.cell_rect(row, column)
        if self.canvas.matrix_rect().contains(cell.center()):
            self.readout.show_reading(reading, cell.toRect())
        else:
            self.readout.hide()


class _Titled(QWidget):
    """A small map under its title; a double click enlarges it."""

    def __init__(self, maps: CompareMaps) -> None:
        super().__init__(maps)
        self.shown = Shown.A
        self._name = ""
        self.title = PlainLabel()
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        set_role(self.title, "soft")
        self.map = SmallMap()
        self.map.setToolTip("Double-click to see this map large")
        self.map.doubleClicked.connect(lambda: maps.enlargeWanted.emit(self.shown))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.title)
        column.addWidget(self.map, 1)

    def set_name(self, name: str) -> None:
        self._name = name
        self.title.setToolTip(plain_tooltip(name))
        self.map.setAccessibleName(name)
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        metrics, end = self.title.fontMetrics(), Qt.TextElideMode.ElideRight
        self.title.setText(metrics.elidedText(self._name, end, self.width()))
