"""A chart of lines over steps: zoomed and panned, and read off under the pointer or by keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPixmap, QWheelEvent

from transformer_viz.drawing.axis import AxisScale, places, value_at
from transformer_viz.drawing.chart import draw_chart, draw_reading, reading
from transformer_viz.drawing.chart_layout import (
    ChartLayout,
    Line,
    Mark,
    Window,
    fitted,
    lay_out_chart,
)
from transformer_viz.theme import GRID, Theme
from transformer_viz.views.accessibility import announce
from transformer_viz.views.picture import Picture

_ZOOM = 1.25  # of a notch of the wheel or a key
_PAN = 0.1  # of the plot, by a key
_FAR = 10  # points, by Page Up and Page Down
_MOVES = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_PageUp: -_FAR,
    Qt.Key.Key_PageDown: _FAR,
}
_PANS = {
    Qt.Key.Key_Left: (-_PAN, 0.0),
    Qt.Key.Key_Right: (_PAN, 0.0),
    Qt.Key.Key_Up: (0.0, _PAN),
    Qt.Key.Key_Down: (0.0, -_PAN),
}
KEYS = (
    "The wheel zooms (Shift: steps only, Ctrl: values only), dragging pans, a double-click shows "
    "everything. Keys: ← → move between points, + − zoom, Shift+arrows pan, 0 shows everything."
)


class Chart(Picture):
    """A chart that follows its lines until it is zoomed or panned."""

    stepChosen = Signal(float)  # by a click or Enter, the step that is read off
    zoomedChanged = Signal(bool)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setToolTip(KEYS)
        self.lines: tuple[Line, ...] = ()
        self.marks: tuple[Mark, ...] = ()
        self.step: float | None = None
        self._unit = ""
        self._x_scale = self._y_scale = AxisScale.LINEAR
        self._y_range: tuple[float, float] | None = None
        self._window: Window | None = None  # None: all
        self._steps = np.zeros(0)  # of all lines
        self._plot = QPixmap()  # all that stays the same while the pointer moves
        self._grip: QPointF | None = None
        self._dragged = False

    # What is shown

    @property
    def window_now(self) -> Window:
        if self._window is not None:
            return self._window
        return fitted(self.lines, self._x_scale, self._y_scale, self._y_range)

    @property
    def zoomed(self) -> bool:
        return self._window is not None

    def minimumSizeHint(self) -> QSize:
        """Return a low size, so that the panel leaves room for the explorer in a small window."""
        return QSize(super().minimumSizeHint().width(), 20 * GRID)

    def layout_now(self) -> ChartLayout:
        return lay_out_chart(QRectF(self.rect()).adjusted(0, GRID, 0, 0), self.lines, self.font())

    def show_lines(
        self,
        lines: Sequence[Line],
        *,
        marks: Sequence[Mark] = (),
        unit: str = "",
        y_range: tuple[float, float] | None = None,
    ) -> None:
        """Show lines; `y_range` gives the natural limits of the values, if any."""
        self.lines, self.marks, self._unit, self._y_range = (
            tuple(lines),
            tuple(marks),
            unit,
            y_range,
        )
        self._steps = np.unique(np.concatenate([line.x for line in lines] or [np.zeros(0)]))
        if self.step is not None and not len(self._steps):
            self.step = None
        self._redraw()
        self._announce()

    def set_scales(self, x: AxisScale, y: AxisScale) -> None:
        """Change the scales; another scale shows all again."""
        if (x, y) != (self._x_scale, self._y_scale):
            self._x_scale, self._y_scale = x, y
            self.fit()

    def fit(self) -> None:
        self._set_window(None)

    def zoom(self, across: float, up: float, point: QPointF | None = None) -> None:
        """Magnify about a point, else about the step that is read off."""
        if not self.lines:
            return
        layout, window = self.layout_now(), self.window_now
        if point is None:
            plot = layout.plot
            point = plot.center()
            if self.step is not None:
                at = float(layout.x(places(self.step, window.x_scale), window))
                point.setX(min(max(at, plot.left()), plot.right()))
        self._set_window(window.zoomed(across, up, *layout.shares(point)))

    def pan(self, across: float, up: float) -> None:
        """Move the window by shares of the plot."""
        if self.lines:
            self._set_window(self.window_now.moved(across, up))

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._redraw()

    def _set_window(self, window: Window | None) -> None:
        was_zoomed = self.zoomed
        self._window = window
        self._redraw()
        if self.zoomed is not was_zoomed:
            self.zoomedChanged.emit(self.zoomed)

    def _redraw(self) -> None:
        self._plot = QPixmap()
        self.update()

    # Painting

    def frame(self) -> QRectF | None:
        return self.layout_now().plot if self.lines else None

    def paint(self, painter: QPainter) -> None:
        self._draw(painter)
        self._draw_reading(painter)

    def paint_screen(self, painter: QPainter) -> None:
        ratio = self.devicePixelRatioF()
        if self._plot.size() != self.size() * ratio:
            self._plot = QPixmap(self.size() * ratio)
            self._plot.setDevicePixelRatio(ratio)
            self._plot.fill(self.theme.color("paper"))
            with QPainter(self._plot) as onto:
                self._draw(onto)
        painter.drawPixmap(0, 0, self._plot)
        self._draw_reading(painter)

    def _draw(self, painter: QPainter) -> None:
        draw_chart(
            painter,
            self.lines,
            self.window_now,
            self.layout_now(),
            self.theme,
            self.font(),
            self.marks,
            self._unit,
        )

    def _draw_reading(self, painter: QPainter) -> None:
        window, layout = self.window_now, self.layout_now()
        draw_reading(painter, self.lines, window, layout, self.theme, self.font(), self.step)

    # Reading off

    def read_off(self, step: float | None) -> None:
        """The step whose values the legend gives; the closest one that some line has."""
        if step is not None and len(self._steps):
            step = float(self._steps[np.abs(self._steps - step).argmin()])
        if step != self.step:
            self.step = step
            self.update()
            self._announce()

    def _announce(self) -> None:
        if self.step is None:
            names = ", ".join(line.label for line in self.lines)
            announce(self, f"Lines: {names}" if names else "Nothing to show yet")
        else:
            values = "; ".join(f"{line.label} {reading(line, self.step)}" for line in self.lines)
            announce(self, f"Step {self.step:,.0f}: {values}")

    def _read_off_at(self, point: QPointF) -> None:
        if self.lines:
            window, layout = self.window_now, self.layout_now()
            across, _ = layout.shares(point)
            place = window.left + across * (window.right - window.left)
            inside = -0.02 <= across <= 1.02
            self.read_off(value_at(place, window.x_scale) if inside else None)

    def _move(self, points: int) -> None:
        if not len(self._steps):
            return
        if self.step is None:
            at = len(self._steps) - 1 if points < 0 else 0
        else:
            at = int(np.searchsorted(self._steps, self.step)) + points
        self.read_off(float(self._steps[min(max(at, 0), len(self._steps) - 1)]))

    # Events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if shifted and key in _PANS:
            self.pan(*_PANS[key])
        elif key in _MOVES:
            self._move(_MOVES[key])
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(_ZOOM, _ZOOM)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / _ZOOM, 1 / _ZOOM)
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home):
            self.fit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.step is not None:
            self.stepChosen.emit(self.step)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        factor = _ZOOM ** ((delta.y() or delta.x()) / 120)
        across = 1.0 if event.modifiers() & Qt.KeyboardModifier.ControlModifier else factor
        up = 1.0 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else factor
        self.zoom(across, up, event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._grip, self._dragged = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position()
        if self._grip is None:
            self._read_off_at(point)
        elif self._dragged or (point - self._grip).manhattanLength() > 2 * GRID:
            plot, moved = self.layout_now().plot, point - self._grip
            self._dragged = True
            self._grip = point
            self.pan(-moved.x() / plot.width(), moved.y() / plot.height())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._grip is not None:
            self._grip = None
            if not self._dragged:
                self._read_off_at(event.position())
                if self.step is not None:
                    self.stepChosen.emit(self.step)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.fit()

    def leaveEvent(self, event: QEvent) -> None:
        self.read_off(None)
