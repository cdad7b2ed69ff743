"""A plot of lines that is zoomed, panned and read off, with the mouse or the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent, QShowEvent

from transformer_viz.drawing.lines import Line, Plot
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.picture import Picture

if TYPE_CHECKING:
    from transformer_viz.widgets.plot_scene import PlotScene

_ZOOM = 1.25  # by a key
_PAN = 0.1  # of the plot, by a key
_FAR = 10  # points, by Page Up and Page Down
_MOVES = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_PageUp: -_FAR,
    Qt.Key.Key_PageDown: _FAR,
}
_CHOOSE = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_PANS = {
    Qt.Key.Key_Left: (-_PAN, 0.0),
    Qt.Key.Key_Right: (_PAN, 0.0),
    Qt.Key.Key_Up: (0.0, _PAN),
    Qt.Key.Key_Down: (0.0, -_PAN),
}
KEYS = (
    "The wheel zooms (Shift: along x only, Ctrl: values only), dragging pans, a double-click shows "
    "everything. Keys: ← → move between points, + − zoom, Shift+arrows pan, 0 shows everything."
)


class LinePlot(Picture):
    """A plot that follows its lines until a part is zoomed into.

    pyqtgraph draws it (`PlotScene`), from the first time that it is shown or exported.
    """

    stepChosen = Signal(float)  # by a click or Enter, the x that is read off
    stepRead = Signal()  # another x, or none, is read off
    zoomedChanged = Signal(bool)

    def __init__(self, name: str, *, of: str = "Step", movable: bool = True) -> None:
        """`of`: what an x is called; `movable`: the plot can be zoomed and panned."""
        super().__init__(name)
        self._of = of
        self._movable = movable
        if movable:
            self.setToolTip(KEYS)
        self.plot = Plot()
        self._steps = self.plot.steps()
        self.step: float | None = None
        self._scene: PlotScene | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        return self.plot.lines

    @property
    def scene(self) -> PlotScene:
        """What pyqtgraph draws."""
        if self._scene is None:
            from transformer_viz.widgets.plot_scene import PlotScene  # imports pyqtgraph

            scene = self._scene = PlotScene(movable=self._movable, margins=self.margins())
            scene.hovered.connect(self.read_off)
            scene.clicked.connect(self._on_click)
            scene.zoomed.connect(self.zoomedChanged)
            scene.setParent(self)
            scene.setGeometry(self.rect())
            scene.show()
            self._draw()
        return self._scene

    @property
    def zoomed(self) -> bool:
        return self._scene is not None and self._scene.is_zoomed

    def margins(self) -> tuple[float, float] | None:
        """Return the widths left and right of the lines; None for what the numbers need."""
        return None

    def minimumSizeHint(self) -> QSize:
        """Return a low one, so that a panel leaves room for the explorer in a small window."""
        return QSize(super().minimumSizeHint().width(), 20 * GRID)

    def show_plot(self, plot: Plot) -> None:
        """Show lines in place of those before; other scales show everything again."""
        rescaled = (plot.x_scale, plot.y_scale) != (self.plot.x_scale, self.plot.y_scale)
        self.plot = plot
        self._steps = plot.steps()
        if self.step is not None and self.step not in self._steps:
            self.step = None
        if rescaled:
            self.fit()
        self._draw()
        self._announce()

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._draw()
        self.update()

    def fit(self) -> None:
        """Show everything."""
        if self._scene is not None:
            self._scene.fit()

    def zoom(self, across: float, up: float) -> None:
        """Magnify about the x that is read off, else about the middle."""
        if self.lines and self._movable:
            self.scene.zoom(across, up, self.step)

    def pan(self, across: float, up: float) -> None:
        """Move by shares of the plot."""
        if self.lines and self._movable:
            self.scene.pan(across, up)

    def _draw(self) -> None:
        if self._scene is not None:
            self._scene.show_plot(self.plot, self.theme, self.font())
            self._scene.read_off(self.step)

    # The picture

    def frame(self) -> QRectF | None:
        return self.scene.area() if self.lines else None

    def paint(self, painter: QPainter) -> None:
        self.scene.paint_on(painter, QRectF(self.rect()))

    def paint_screen(self, painter: QPainter) -> None:
        """Nothing: the scene lies above."""

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        _ = self.scene

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._scene is not None:
            self._scene.setGeometry(self.rect())

    # Reading off

    def read_off(self, x: float | None) -> None:
        """Give the values at the closest x that some line has."""
        if x is not None:
            x = float(self._steps[np.abs(self._steps - x).argmin()]) if len(self._steps) else None
        if x != self.step:
            self.step = x
            if self._scene is not None:
                self._scene.read_off(x)
            self._announce()
            self.stepRead.emit()

    def describe(self) -> str:
        """Return what a screen reader says: the values that are read off, or the lines."""
        if self.step is None:
            names = ", ".join(line.label for line in self.lines)
            return f"Lines: {names}" if names else "Nothing to show yet"
        return self.describe_at(self.step)

    def describe_at(self, x: float) -> str:
        """Return the values of all lines at an x."""
        values = ", ".join(f"{line.label} {line.reading(x)}" for line in self.lines)
        return f"{self.name_of(x)}: {values}"

    def name_of(self, x: float) -> str:
        """Return what an x is called in `describe`."""
        return f"{self._of} {x:,.0f}"

    def _announce(self) -> None:
        announce(self, self.describe())

    def _on_click(self, x: float) -> None:
        self.read_off(x)
        if self.step is not None:
            self.stepChosen.emit(self.step)

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
        if self._movable and self._show_part(key, shifted):
            return
        if key in _MOVES and not shifted and (self._movable or abs(_MOVES[key]) < _FAR):
            self._move(_MOVES[key])
        elif self._movable and key in _CHOOSE and self.step is not None:
            self.stepChosen.emit(self.step)
        else:
            super().keyPressEvent(event)

    def _show_part(self, key: Qt.Key, shifted: bool) -> bool:
        """Zoom or pan, if this is a key for it."""
        if shifted and key in _PANS:
            self.pan(*_PANS[key])
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(_ZOOM, _ZOOM)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / _ZOOM, 1 / _ZOOM)
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home):
            self.fit()
        else:
            return False
        return True

    def leaveEvent(self, event: QEvent) -> None:
        self.read_off(None)
