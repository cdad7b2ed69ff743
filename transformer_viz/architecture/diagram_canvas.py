"""The diagram to look at: zoom, pan, point, and walk from box to box with the arrow keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip

from transformer_viz.architecture.diagram import Diagram
from transformer_viz.architecture.draw_diagram import DiagramStyle, draw_diagram
from transformer_viz.widgets.zoom_canvas import ZoomCanvas
from transformer_viz.words.wording import plain_tooltip

_READABLE, _LARGEST = 0.72, 2.4  # zoom at which the diagram opens, at least and at most
_DRAG = 4  # pixels that the pointer moves before it pans
_MOVES = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}
_TOKENS = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


class DiagramCanvas(ZoomCanvas):
    """A click chooses a box, dragging pans; the arrow keys walk, Page Up and Page Down change the
    token, Enter opens what is chosen and Z zooms to the open block; Ctrl+wheel, + and − zoom, 0
    shows all."""

    chosen = Signal(str)  # the name of a box
    opened = Signal(str)  # the same, to be shown elsewhere
    tokenMoved = Signal(int)  # to the token before, −1, or after, 1

    def __init__(self) -> None:
        super().__init__(centered=True)
        self._diagram: Diagram | None = None
        self._style: DiagramStyle | None = None
        self._grip: tuple[QPointF, QPointF] | None = None  # where it is held, and scrolled to
        self._panning = False
        self._arranged = False  # whether the user has zoomed or panned
        self.setAccessibleName("Diagram of the model")
        self.viewport().setMouseTracking(True)

    def drawing_size(self) -> QSizeF:
        return QSizeF() if self._diagram is None else self._diagram.size

    @property
    def diagram(self) -> Diagram | None:
        """What is shown."""
        return self._diagram

    def show_diagram(self, diagram: Diagram | None, style: DiagramStyle | None) -> None:
        """Show a diagram; zoom and place stay, unless it is the first one."""
        if diagram is self._diagram and style == self._style:
            return  # painting takes longer than all the rest of a keystroke
        other = self._diagram is None or diagram is None or diagram.size != self._diagram.size
        moved = style is not None and (self._style is None or style.chosen != self._style.chosen)
        self._diagram, self._style = diagram, style
        if other:
            self.fit_scroll_bars()
            if not self._arranged:
                self.open_readable()
        if moved:
            self.reveal_chosen()
        self.viewport().update()

    def open_readable(self) -> None:
        """Show all of the diagram, or so much of it that its text can be read."""
        self._arranged = False
        self.fit(_LARGEST)
        if self.zoom < _READABLE:
            self.set_zoom(_READABLE)
            self.reveal_chosen()

    def zoom_to_inside(self) -> None:
        """Show the sub-layer that is open as large as it fits, or all again."""
        if self._diagram is not None:
            inside, before = self._diagram.inside_frame, self.zoom
            self.zoom_to(inside.adjusted(-8, -8, 8, 8))
            self._arranged = True
            if abs(self.zoom - before) < 0.01:
                self.open_readable()

    def reveal_chosen(self) -> None:
        """Scroll to the chosen box."""
        if self._diagram is not None and self._style is not None and self._style.chosen:
            self.reveal(self._diagram.nodes[self._style.chosen].rect)

    def box_rect(self, name: str) -> QRectF:
        """Return where a box is in the viewport."""
        assert self._diagram is not None
        return self.in_viewport(self._diagram.nodes[name].rect)

    def paint_whole(self, painter: QPainter) -> None:
        """The whole diagram at its own size, on any device."""
        if self._diagram is not None and self._style is not None:
            whole = QRectF(QPointF(0, 0), self._diagram.size)
            draw_diagram(painter, self._diagram, self._style, whole)

    def paintEvent(self, event: QPaintEvent) -> None:
        diagram, style = self._diagram, self._style
        if diagram is None or style is None:
            return
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), style.theme.color("paper"))
            painter.translate(-self.offset())
            painter.scale(self.zoom, self.zoom)
            view = QRectF(self.viewport().rect())
            corner = self.drawing_point(view.topLeft())
            draw_diagram(painter, diagram, style, QRectF(corner, view.size() / self.zoom))
            if self.hasFocus():
                painter.resetTransform()
                painter.setPen(style.theme.color("accent"))
                painter.drawRect(view.adjusted(0.5, 0.5, -0.5, -0.5))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._arranged and self._diagram is not None:
            self.open_readable()

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._arranged |= bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        super().wheelEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    # The pointer

    def _name_at(self, point: QPointF) -> str | None:
        node = None if self._diagram is None else self._diagram.node_at(self.drawing_point(point))
        return None if node is None else node.name

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._grip, self._panning = (event.position(), self._scrolled()), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        over = self._name_at(event.position()) is not None
        self.viewport().setCursor(
            Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor
        )
        if self._grip is None:
            return
        way = event.position() - self._grip[0]
        self._panning |= way.manhattanLength() > _DRAG
        if self._panning:
            self._arranged = True
            target = self._grip[1] - way
            self.horizontalScrollBar().setValue(round(target.x()))
            self.verticalScrollBar().setValue(round(target.y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        held, self._grip = self._grip is not None, None
        name = self._name_at(event.position())
        if held and not self._panning and name is not None:
            self.chosen.emit(name)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        name = self._name_at(event.position())
        if name is not None:
            self.opened.emit(name)

    def _scrolled(self) -> QPointF:
        return QPointF(self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and self._style is not None:
            name = self._name_at(QPointF(event.pos()))
            text = ""
            if name is not None and self._diagram is not None:
                reading = self._style.readings[name]
                title = self._diagram.nodes[name].title
                text = plain_tooltip(f"{title}\n{reading.shape}\n{reading.parameters}")
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        return super().viewportEvent(event)

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        diagram, style = self._diagram, self._style
        if diagram is None or style is None or style.chosen is None:
            event.ignore()
        elif event.key() in _MOVES:
            self.chosen.emit(diagram.beside(style.chosen, *_MOVES[Qt.Key(event.key())]))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(style.chosen)
        elif event.key() in _TOKENS:
            self.tokenMoved.emit(_TOKENS[Qt.Key(event.key())])
        elif event.key() == Qt.Key.Key_Z:
            self.zoom_to_inside()
        elif self.take_zoom_key(event):
            self._arranged = True
        else:
            event.ignore()
