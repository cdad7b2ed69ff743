"""The heaviest keys of one query as bars; click or arrow keys pin a key."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from transformer_viz.drawing.labels import display_text
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.heads_map.bars import Bar, draw_bars, row_height
from transformer_viz.widgets.accessibility import announce


class WeightBars(QWidget):
    chosen = Signal(int)  # key
    pointed = Signal(object)  # key: int | None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._bars: Sequence[Bar] = ()
        self._marked: int | None = None
        self._full = 1.0
        self.setAccessibleName("Heaviest keys")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)

    def sizeHint(self) -> QSize:
        return QSize(50 * GRID, len(self._bars) * row_height(self.font()))

    def minimumSizeHint(self) -> QSize:
        return QSize(30 * GRID, len(self._bars) * row_height(self.font()))

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def set_bars(self, bars: Sequence[Bar], marked: int | None, full: float = 1.0) -> None:
        """Show bars; `marked`: the key shown as chosen, `full`: what a full bar is."""
        if len(bars) != len(self._bars):
            self.updateGeometry()
        self._bars, self._marked, self._full = bars, marked, full
        said = (f"{display_text(bar.token)} ({bar.place}) {bar.weight:.3f}" for bar in bars)
        announce(self, ", ".join(said))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            area = QRectF(self.rect())
            draw_bars(
                painter,
                area,
                self._bars,
                self._theme,
                self.font(),
                marked=self._marked,
                full=self._full,
            )
            if self.hasFocus() and self._bars:
                painter.setPen(QPen(self._theme.color("accent"), 1))
                row = row_height(self.font())
                top = (self._marked_row() or 0) * row  # the arrow keys begin at the first
                painter.drawRoundedRect(QRectF(0.5, top + 0.5, self.width() - 1, row - 1), 3, 3)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        key = self._key_at(event)
        if key is not None:
            self.chosen.emit(key)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()  # the press was ours

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointed.emit(self._key_at(event))

    def leaveEvent(self, event: object) -> None:
        self.pointed.emit(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() not in steps or not self._bars:
            event.ignore()
            return
        row = self._marked_row()
        target = 0 if row is None else row + steps[Qt.Key(event.key())]
        self.chosen.emit(self._bars[max(0, min(target, len(self._bars) - 1))].key)

    def _marked_row(self) -> int | None:
        keys = [bar.key for bar in self._bars]
        return keys.index(self._marked) if self._marked in keys else None

    def _key_at(self, event: QMouseEvent) -> int | None:
        row = int(event.position().y()) // row_height(self.font())
        return self._bars[row].key if 0 <= row < len(self._bars) else None
