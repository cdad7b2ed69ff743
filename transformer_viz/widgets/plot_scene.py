"""Lines drawn by pyqtgraph in the window's theme: axes, curves, marks, and a legend that reads off.

Imported when the first plot is shown, because pyqtgraph takes a quarter of a second to import.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QBrush, QFont, QFontMetricsF, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem

from transformer_viz.drawing.axis import AxisScale, places, tick_texts, ticks, value_at
from transformer_viz.drawing.lines import Line, Mark, Name, Plot, Shaded, Side, Ticks
from transformer_viz.drawing.numbers import compact, position
from transformer_viz.drawing.theme import GRID, LIGHT, Theme, scaled_font
from transformer_viz.widgets.plot_legend import PlotLegend, line_pen

ZOOM = 1.25
"""How much a notch of the wheel magnifies."""
MARGIN = 4 * GRID
SMALL = 0.85  # size of the axes' text, relative to the widget's
_RAW = 0.3  # opacity of the line before smoothing
_BAND = 0.12  # opacity of an interval
_GROUND = 0.7  # opacity of the ground behind a mark's name
_GRID_LINES = 60  # of 255
_TICK_ROOM = 6 * GRID  # px between two numbers of an axis, at least
_WIDEST = "888,888"
# The point of a name's box that lies on its point, right of and below the box's top left corner.
_ANCHORS = {
    Side.LEFT: (1.05, 0.5),
    Side.RIGHT: (-0.05, 0.5),
    Side.ABOVE: (0.5, 1.2),
    Side.BELOW: (0.5, -0.2),
}
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class PlotScene(pg.GraphicsLayoutWidget):
    """The picture of a `Plot`; whoever shows it decides what the keyboard does."""

    hovered = Signal(object)  # the x under the pointer, None beside the plot
    clicked = Signal(float)  # x
    zoomed = Signal(bool)  # whether a part is shown instead of everything

    def __init__(self, *, movable: bool, margins: tuple[float, float] | None = None) -> None:
        """`movable`: the mouse zooms and pans; `margins`: the widths left and right of the lines,
        by default those that the numbers of the axes need."""
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setBackground(None)
        gutter, right = margins or (0.0, 6.0 * GRID)
        self.ci.setContentsMargins(0 if margins else GRID, GRID, right, GRID)
        self.ci.setSpacing(0)
        self.view = _View(movable)
        self.across, self.up = _Axis("bottom"), _Axis("left", gutter)
        self.plot = pg.PlotItem(
            viewBox=self.view, axisItems={"bottom": self.across, "left": self.up}
        )
        self.plot.hideButtons()
        self.legend = PlotLegend(MARGIN if margins else 2 * GRID)
        self.ci.addItem(self.legend, 0, 0)
        self.ci.addItem(self.plot, 1, 0)
        self._rows: list[_Axis] = []  # of names below the first one
        self._shown = Plot()
        self._theme: Theme = LIGHT
        self._font = QFont()
        self._items: list[pg.GraphicsObject] = []
        self._is_zoomed = False
        self._cross = pg.InfiniteLine(angle=90, label="", labelOpts={"position": 0.0})
        self._cross.label.anchors = [(0.5, 1.0), (0.5, 1.0)]
        self._cross.hide()
        self.plot.addItem(self._cross, ignoreBounds=True)
        self.view.clicked.connect(lambda point: self.clicked.emit(self._x_of(point.x())))
        self.view.moved.connect(self._on_moved)

    @property
    def is_zoomed(self) -> bool:
        return self._is_zoomed

    def show_plot(self, plot: Plot, theme: Theme, font: QFont) -> None:
        """Draw everything anew; a part that was zoomed into stays."""
        self._shown, self._theme, self._font = plot, theme, font
        self.setBackground(theme.color("paper"))
        for item in self._items:
            self.plot.removeItem(item)
        self._items = []
        for shaded in plot.shaded:
            self._add(_region(shaded, plot.x_scale, theme))
        for line in plot.lines:
            self._add_line(line)
        for number, mark in enumerate(plot.marks):
            self._add(self._mark(mark, number))
        for name in plot.names:
            self._add(self._name(name))
        self._dress_axes()
        self.legend.show_lines(plot.lines, theme, font)
        if not self._is_zoomed:
            self._fit()

    def read_off(self, x: float | None) -> None:
        """Draw a line at `x`, and its values into the legend."""
        self.legend.read_off(x)
        self._cross.setVisible(x is not None)
        if x is not None:
            self._cross.setValue(float(places(x, self._shown.x_scale)))
            self._cross.label.setText(position(x) if self._shown.whole else compact(x))
            self._cross.label.setVisible(not self._shown.rows)

    def fit(self) -> None:
        """Show everything."""
        self._fit()
        self._set_zoomed(False)

    def zoom(self, across: float, up: float, x: float | None) -> None:
        """Magnify about an x, by default about the middle."""
        (left, right), (bottom, top) = self.view.viewRange()
        at = (left + right) / 2 if x is None else float(places(x, self._shown.x_scale))
        center = pg.Point(min(max(at, left), right), (bottom + top) / 2)
        self.view.scaleBy((1 / across, 1 / up), center)
        self._set_zoomed(True)

    def pan(self, across: float, up: float) -> None:
        """Move by shares of the plot."""
        (left, right), (bottom, top) = self.view.viewRange()
        self.view.translateBy(across * (right - left), up * (top - bottom))
        self._set_zoomed(True)

    def area(self) -> QRectF:
        """Return where the lines are, in the widget."""
        self._settle()
        return self.view.sceneBoundingRect()

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return where a value is, in the widget."""
        self._settle()
        plot = self._shown
        at = pg.Point(float(places(x, plot.x_scale)), float(places(y, plot.y_scale)))
        pixel = self.view.mapViewToScene(at)
        return pixel.x(), pixel.y()

    def paint_on(self, painter: QPainter, rect: QRectF) -> None:
        """Paint lines as lines and texts as texts on any device, without the ground."""
        self._settle()
        self.scene().prepareForPaint()
        self.scene().render(painter, rect, QRectF(self.viewport().rect()))

    def _settle(self) -> None:
        """Give the parts their places now instead of at the next turn of the event loop."""
        if self.viewRect().size() != QSizeF(self.size()):  # not shown yet
            self.range = QRectF(self.rect())
            self.updateMatrix()
        self.ci.layout.activate()
        self.plot.layout.activate()

    # Items

    def _add(self, item: pg.GraphicsObject) -> None:
        self.plot.addItem(item, ignoreBounds=True)
        if isinstance(item, pg.PlotDataItem):
            item.setClipToView(True)  # which needs the view
        self._items.append(item)

    def _add_line(self, line: Line) -> None:
        plot, color = self._shown, line.shade(self._theme)
        x = places(line.x, plot.x_scale)
        if line.band is not None:
            low, high = (pg.PlotDataItem(x, places(ends, plot.y_scale)) for ends in line.band.T)
            ground = pg.mkColor(color)
            ground.setAlphaF(_BAND)
            self._add(pg.FillBetweenItem(low, high, brush=ground))
        if line.raw is not None:
            faint = pg.mkColor(color)
            faint.setAlphaF(_RAW)
            self._add(_curve(x, places(line.raw, plot.y_scale), pg.mkPen(faint, width=1)))
        pen = None if line.scattered else line_pen(line, self._theme)
        curve = _curve(x, places(line.y, plot.y_scale), pen)
        if line.dots and np.isfinite(line.y).any():
            curve.setSymbol("o")
            curve.setSymbolSize(6)
            curve.setSymbolPen(pg.mkPen(color, width=1.5))
            curve.setSymbolBrush(self._theme.color("paper"))
        self._add(curve)

    def _mark(self, mark: Mark, number: int) -> pg.InfiniteLine:
        """A dashed line with its name, each name a row below the one before."""
        plot, color = self._shown, self._theme.color(mark.token)
        scale = plot.x_scale if mark.upright else plot.y_scale
        line = pg.InfiniteLine(
            float(places(mark.value, scale)),
            angle=90 if mark.upright else 0,
            pen=pg.mkPen(color, width=1, style=Qt.PenStyle.DashLine),
            label=mark.text,
            labelOpts={
                "color": color,
                "position": mark.at - 0.09 * number if mark.upright else 0.02,
                "anchors": [(0, 0.5), (1, 0.5)] if mark.upright else [(0, 1), (0, 1)],
            },
        )
        line.label.setFont(scaled_font(self._font, SMALL))
        ground = self._theme.color("paper")
        ground.setAlphaF(_GROUND)
        line.label.fill = QBrush(ground)
        return line

    def _name(self, name: Name) -> pg.TextItem:
        plot = self._shown
        item = pg.TextItem(
            name.text, color=self._theme.color(name.token), anchor=_ANCHORS[name.side]
        )
        item.setFont(scaled_font(self._font, SMALL))
        item.setPos(float(places(name.x, plot.x_scale)), float(places(name.y, plot.y_scale)))
        return item

    def _dress_axes(self) -> None:
        plot, theme = self._shown, self._theme
        small = scaled_font(self._font, SMALL)
        while len(self._rows) < len(plot.rows) - 1:
            axis = _Axis("bottom")
            self.plot.layout.addItem(axis, 4 + len(self._rows), 1)
            axis.linkToView(self.view)
            self._rows.append(axis)
        self.across.scale_of, self.up.scale_of = plot.x_scale, plot.y_scale
        self.across.least = 1.0 if plot.whole else 0.0
        self.up.suffix = plot.suffix
        self.up.dress(plot.y_title, theme, small)
        self.across.dress(plot.x_title, theme, small)
        for axis, row in zip([self.across, *self._rows], plot.rows, strict=False):
            axis.dress("", theme, small, bare=axis is not self.across)
            axis.name_places(row, self.up.gutter)
        self._cross.setPen(pg.mkPen(theme.color("accent"), width=1))
        self._cross.label.fill = QBrush(theme.color("accent"))
        self._cross.label.setColor(theme.color("on_accent"))
        self._cross.label.setFont(scaled_font(self._font, SMALL, bold=True))

    # What is shown

    def _fit(self) -> None:
        across, up = self._shown.range()
        self.view.setRange(xRange=across, yRange=up, padding=0)

    def _on_moved(self) -> None:
        self._set_zoomed(True)

    def _set_zoomed(self, zoomed: bool) -> None:
        if zoomed is not self._is_zoomed:
            self._is_zoomed = zoomed
            self.zoomed.emit(zoomed)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        point = event.position()
        inside = self.area().adjusted(-2 * GRID, 0, 2 * GRID, 0).contains(point)
        self.hovered.emit(self._x_of(self.view.mapSceneToView(point).x()) if inside else None)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        self.fit()

    def _x_of(self, place: float) -> float:
        return value_at(place, self._shown.x_scale)


class _Axis(pg.AxisItem):
    """An axis whose places may be logarithms, marked with round values."""

    def __init__(self, side: str, gutter: float = 0.0) -> None:
        """`gutter`: its width; by default that of its numbers."""
        super().__init__(side)
        self.gutter = gutter
        if gutter:
            self.setWidth(gutter)
        self.scale_of = AxisScale.LINEAR
        self.suffix = ""  # behind each number
        self._row: Ticks | None = None  # in place of numbers
        self.least = 0.0  # between two values that are marked
        self.enableAutoSIPrefix(False)
        self._ends = 0.0  # px, by which the first and the last number reach beyond the axis

    def dress(self, title: str, theme: Theme, font: QFont, *, bare: bool = False) -> None:
        """Give the axis its title, colours and font; a `bare` one is texts alone."""
        self.setPen(pg.mkPen(None) if bare else theme.color("border"))
        self.setTickPen(pg.mkPen(None) if bare else theme.color("soft"))
        self.setTextPen(theme.color("soft"))
        self.setTickFont(font)
        self.setGrid(False if bare else _GRID_LINES)
        scale = "" if self.scale_of is AxisScale.LINEAR else ", logarithmic"
        style = {"color": theme.soft, "font-size": f"{font.pointSizeF():g}pt"}
        self.setLabel(html.escape(f"{title}{scale}" if title else ""), **style)
        self.showLabel(bool(title))
        metrics = QFontMetricsF(font)
        lines = metrics.height() * (1 + bool(title))
        if self.orientation == "bottom":
            self._ends = metrics.horizontalAdvance(_WIDEST) / 2
            self.setHeight(lines + 2 * GRID)
            return
        self._ends = metrics.height() / 2
        if not self.gutter:
            self.setWidth(lines + metrics.horizontalAdvance(_WIDEST) - metrics.height() + 3 * GRID)

    def name_places(self, row: Ticks, gutter: float) -> None:
        """Write names in place of numbers, and what they are of into the gutter beside them."""
        self.setTicks([list(enumerate(row.texts))])
        self._row, self.gutter = row, gutter

    def boundingRect(self) -> QRectF:
        beside = max(self._ends, self.gutter if self._row else 0.0)
        return super().boundingRect().adjusted(-beside, -self._ends, self._ends, self._ends)

    def drawPicture(
        self, painter: QPainter, axis: object, ticks: object, texts: list[tuple[QRectF, int, str]]
    ) -> None:
        super().drawPicture(painter, axis, ticks, texts)
        if self._row is not None and texts:
            top, height = texts[0][0].top(), texts[0][0].height()
            beside = QRectF(MARGIN - self.gutter, top, self.gutter, height)
            painter.drawText(beside, _LEFT, self._row.title)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        if self._tickLevels is not None:
            return super().tickValues(low, high, size)
        metrics = QFontMetricsF(self.style["tickFont"] or QFont())
        if self.orientation == "left":
            room = 1.6 * metrics.height()
        else:
            room = metrics.horizontalAdvance("888,888") + _TICK_ROOM
        values = ticks(low, high, self.scale_of, max(2, int(size / room)), self.least)
        inside = 1e-9 * (high - low)  # or rounding would leave out a number at an end
        marked = np.clip(places(values, self.scale_of), low + inside, high - inside)
        return [(1.0, marked.tolist())]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        texts = tick_texts([value_at(place, self.scale_of) for place in values])
        return [f"{text}{self.suffix}" for text in texts]


class _View(pg.ViewBox):
    """Zooms about the pointer: along x alone with Shift, along y alone with Ctrl."""

    clicked = Signal(object)  # where, as an x and a y on the axes
    moved = Signal()

    def __init__(self, movable: bool) -> None:
        super().__init__(enableMenu=False)
        self._movable = movable
        self.setMouseEnabled(movable, movable)
        self.disableAutoRange()
        self.sigRangeChangedManually.connect(lambda _axes: self.moved.emit())

    def wheelEvent(self, event: object, axis: int | None = None) -> None:
        if not self._movable:
            event.ignore()  # type: ignore[attr-defined]
            return
        factor = ZOOM ** (-event.delta() / 120)  # type: ignore[attr-defined]
        held = event.modifiers()  # type: ignore[attr-defined]
        across = 1.0 if held & Qt.KeyboardModifier.ControlModifier else factor
        up = 1.0 if held & Qt.KeyboardModifier.ShiftModifier else factor
        self.scaleBy((across, up), self.mapToView(event.pos()))  # type: ignore[attr-defined]
        event.accept()  # type: ignore[attr-defined]
        self.moved.emit()

    def mouseClickEvent(self, event: object) -> None:
        if event.button() is Qt.MouseButton.LeftButton:  # type: ignore[attr-defined]
            self.clicked.emit(self.mapToView(event.pos()))  # type: ignore[attr-defined]


def _curve(x: np.ndarray, y: np.ndarray, pen: QPen | None) -> pg.PlotDataItem:
    """A line that is as fast with a hundred thousand points as with a thousand, peaks kept."""
    curve = pg.PlotDataItem(x, y, pen=pen, connect="finite", antialias=True)
    curve.setDownsampling(auto=True, method="peak")
    return curve


def _region(shaded: Shaded, scale: AxisScale, theme: Theme) -> QGraphicsItem:
    ends = [float(place) for place in places([shaded.start, shaded.stop], scale)]
    color = theme.color(shaded.token)
    brush = QBrush(
        color, Qt.BrushStyle.BDiagPattern if shaded.hatched else Qt.BrushStyle.SolidPattern
    )
    region = pg.LinearRegionItem(ends, brush=brush, pen=pg.mkPen(None), movable=False)
    region.setZValue(-10)
    return region
