"""Chosen dimensions over position: waves of different length."""

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPixmap
from PySide6.QtWidgets import QVBoxLayout

from transformer_viz.drawing.curves import Curve, PlotLayout, draw_plot, draw_reading, lay_out_plot
from transformer_viz.drawing.extent import Extent
from transformer_viz.drawing.numbers import signed
from transformer_viz.theme import GRID, Theme
from transformer_viz.views.accessibility import announce
from transformer_viz.views.picture import Picture
from transformer_viz.views.position_page import PositionPage, PositionState, dimension_name
from transformer_viz.views.text_line import label

_MOVES = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_PageUp: -10,
    Qt.Key.Key_PageDown: 10,
}


class CurveCanvas(Picture):
    """The position in focus is the one under the pointer, else where the arrow keys went."""

    focusMoved = Signal()

    def __init__(self) -> None:
        super().__init__("Dimensions over position")
        self.position: int | None = None
        self.curves: tuple[Curve, ...] = ()
        self._extent: Extent | None = None
        self._plot = QPixmap()  # all that stays the same while the pointer moves

    def show_curves(self, curves: tuple[Curve, ...], extent: Extent, theme: Theme) -> None:
        self.curves, self._extent, self.theme = curves, extent, theme
        self._plot = QPixmap()
        if self.position is not None and self.position >= extent.present:
            self._move_to(None)
        self.update()

    def layout_now(self) -> PlotLayout:
        assert self._extent is not None
        rect = QRectF(self.rect()).adjusted(0, GRID, 0, 0)
        return lay_out_plot(rect, self.curves, self._extent, self.font())

    def frame(self) -> QRectF | None:
        return None if self._extent is None else self.layout_now().plot

    def paint(self, painter: QPainter) -> None:
        if self._extent is None:
            return
        layout, font = self.layout_now(), self.font()
        draw_plot(painter, self.curves, self._extent, layout, self.theme, font)
        draw_reading(painter, self.curves, layout, self.theme, font, self.position)

    def paint_screen(self, painter: QPainter) -> None:
        if self._extent is None:
            return
        layout, font, ratio = self.layout_now(), self.font(), self.devicePixelRatioF()
        if self._plot.size() != self.size() * ratio:
            self._plot = QPixmap(self.size() * ratio)
            self._plot.setDevicePixelRatio(ratio)
            self._plot.fill(self.theme.color("paper"))
            with QPainter(self._plot) as onto:
                draw_plot(onto, self.curves, self._extent, layout, self.theme, font)
        painter.drawPixmap(0, 0, self._plot)
        draw_reading(painter, self.curves, layout, self.theme, font, self.position)

    def _move_to(self, position: int | None) -> None:
        assert self._extent is not None
        if position is not None and position >= self._extent.present:
            position = None
        if position != self.position:
            self.position = position
            self.update()
            self.focusMoved.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._extent is not None:
            self._move_to(self.layout_now().position_at(event.position().x()))

    def leaveEvent(self, event: QEvent) -> None:
        if self._extent is not None:
            self._move_to(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _MOVES and self._extent is not None:
            step = _MOVES[Qt.Key(event.key())]
            position = 0 if self.position is None else self.position + step
            self._move_to(min(max(position, 0), self._extent.present - 1))
        else:
            super().keyPressEvent(event)


class PositionCurves(PositionPage):
    def __init__(self) -> None:
        super().__init__()
        self._about_end = ""
        self.canvas = CurveCanvas()
        self.canvas.focusMoved.connect(self._show_reading)
        self.reading = label("soft", wrap=True)
        self.reading.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 2 * GRID)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.reading)

    def picture(self) -> Picture:
        return self.canvas

    def show_state(self, state: PositionState, theme: Theme) -> None:
        table, extent = state.table, state.extent
        self._about_end = extent.sentence_about_end()
        curves = tuple(
            Curve(
                values=table.values[: extent.present, dimension],
                label=dimension_name(table, dimension),
                slot=slot,
            )
            for slot, dimension in enumerate(state.dimensions)
        )
        self.canvas.show_curves(curves, extent, theme)
        self._show_reading()

    def _show_reading(self) -> None:
        position = self.canvas.position
        self.reading.setText(self._about_end if position is None else f"Position {position}")
        values = "; ".join(
            f"{curve.label}: {signed(float(curve.values[position]))}"
            for curve in self.canvas.curves
            if position is not None
        )
        announce(self.canvas, f"{self.reading.text()} {values}".strip())
