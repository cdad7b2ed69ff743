"""All heads at a glance: one thumbnail each, every kind with its own depth and width."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from core.trace.trace import Head, Trace
from transformer_viz.drawing.atlas import (
    Atlas,
    AtlasLayout,
    fitting_tile,
    head_counts,
    thumbnails,
)
from transformer_viz.drawing.colormap import ColorMap, lookup_table
from transformer_viz.session import Session
from transformer_viz.theme import GRID, LIGHT, Theme, set_role
from transformer_viz.views.accessibility import announce
from transformer_viz.views.stream import Stream
from transformer_viz.views.wording import head_name, plain_tooltip

INLINE_CELLS = 500_000
"""A trace of so many cells, over all heads, is drawn at once; a larger one fills in."""

T = TypeVar("T")

_EMPTY = AtlasLayout((), 0)


class HeadsMap(QAbstractScrollArea):
    """Click selects a head; arrows move from head to head, also into the next kind."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = LIGHT
        self._color_map = ColorMap.PAPER
        self._tiles: dict[Head, np.ndarray] = {}
        self._layout = _EMPTY
        self._atlas: Atlas | None = None  # drawn when next painted
        self._hovered: Head | None = None
        self._stream = Stream(self)
        self._stream.arrived.connect(self._add_tile)

        self.setAccessibleName("Heads map")
        set_role(self, "paper")
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.setMinimumWidth(50 * GRID)
        session.traceChanged.connect(self._on_trace)
        session.selectionChanged.connect(self._on_selection)
        self._on_trace(session.trace)

    def sizeHint(self) -> QSize:
        return QSize(73 * GRID, 150 * GRID)

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._redraw()

    def set_color_map(self, color_map: ColorMap | str) -> None:
        if color_map != self._color_map:
            self._color_map = ColorMap(color_map)
            self._redraw()

    # From the session

    def _on_trace(self, trace: Trace | None) -> None:
        self._stream.stop()
        self._hovered = None
        self._tiles = {}
        if trace is not None:
            if _cells(trace) <= INLINE_CELLS:
                self._tiles = dict(thumbnails(trace))
            else:
                self._stream.start(thumbnails(trace))
        self._arrange()
        self._on_selection()

    def _add_tile(self, tile: tuple[Head, np.ndarray]) -> None:
        head, codes = tile
        self._tiles[head] = codes
        if self._atlas is not None:
            self._atlas.draw({head: codes})
            self.viewport().update(self._layout.rect(head).translated(-self._offset()))

    def _on_selection(self) -> None:
        head = self._selected()
        if head is not None:
            self._reveal(head)
        announce(self, "Nothing to show yet" if head is None else head_name(head))
        self.viewport().update()

    def _selected(self) -> Head | None:
        if self._session.trace is None:
            return None
        selection = self._session.selection
        return Head(selection.kind, selection.layer, selection.head)

    # Geometry

    def _arrange(self) -> None:
        """Fit the layout to the trace and to the size of the widget."""
        trace = self._session.trace
        heads = () if trace is None else head_counts(trace)
        room = self.width() - self.verticalScrollBar().sizeHint().width()
        tile = fitting_tile(heads, room, self.height())
        self._layout = AtlasLayout(heads, tile)
        visible = self.viewport().size()
        for bar, content, page in (
            (self.horizontalScrollBar(), self._layout.width, visible.width()),
            (self.verticalScrollBar(), self._layout.height, visible.height()),
        ):
            bar.setRange(0, max(0, content - page) if heads else 0)
            bar.setPageStep(page)
            bar.setSingleStep(self._layout.pitch)
        self._redraw()

    def _offset(self) -> QPoint:
        return QPoint(self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def _head_at(self, point: QPoint) -> Head | None:
        point = point + self._offset()
        return self._layout.head_at(point.x(), point.y())

    def _reveal(self, head: Head) -> None:
        """Scroll until the tile is inside, with the number or title beside it."""
        tile, view = self._layout.rect(head), QRect(self._offset(), self.viewport().size())
        before, after = 12 * GRID, 3 * GRID
        for bar, low, high, start, end in (
            (self.horizontalScrollBar(), tile.left(), tile.right(), view.left(), view.right()),
            (self.verticalScrollBar(), tile.top(), tile.bottom(), view.top(), view.bottom()),
        ):
            if low - before < start:
                bar.setValue(low - before)
            elif high + after > end:
                bar.setValue(start + high + after - end)

    # Painting

    def _redraw(self) -> None:
        self._atlas = None
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), self._theme.color("paper"))
            selected = self._selected()
            if selected is None:
                self._paint_empty(painter)
                return
            if self._atlas is None:
                self._atlas = self._draw_atlas()
            painter.translate(-self._offset())
            painter.drawImage(0, 0, self._atlas.image)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            accent = self._theme.color("accent")
            if self._hovered is not None:
                self._frame(painter, self._hovered, QPen(self._theme.color("soft"), 1))
            self._frame(painter, selected, QPen(accent, 2))
            if self.hasFocus():
                self._frame(painter, selected, QPen(accent, 1), distance=2)

    def _paint_empty(self, painter: QPainter) -> None:
        painter.setPen(self._theme.color("faint"))
        area = self.viewport().rect().adjusted(4 * GRID, 4 * GRID, -4 * GRID, -4 * GRID)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(area, flags, "Every head of every layer appears here.")

    def _frame(self, painter: QPainter, head: Head, pen: QPen, *, distance: int = 0) -> None:
        """Around the tile, never over its cells."""
        margin = pen.widthF() / 2 + distance
        painter.setPen(pen)
        rect = self._layout.rect(head).toRectF().adjusted(-margin, -margin, margin, margin)
        painter.drawRoundedRect(rect, 2, 2)

    def _draw_atlas(self) -> Atlas:
        table = lookup_table(self._color_map, self._theme)
        atlas = Atlas(self._layout, self._theme, table, self.devicePixelRatioF(), self.font())
        atlas.draw(self._tiles)
        return atlas

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        head = self._head_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and head is not None:
            self._select(head)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()  # the press was ours

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._head_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)
        super().leaveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            head = self._head_at(event.pos())
            text = plain_tooltip(head_name(head)) if head is not None else ""
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        selected = self._selected()
        target = None if selected is None else self._neighbour(selected, event)
        if target is None:
            event.ignore()  # not ours: the window's shortcuts
        else:
            self._select(target)

    def _hover(self, head: Head | None) -> None:
        if head != self._hovered:
            self._hovered = head
            self.viewport().update()

    def _select(self, head: Head) -> None:
        self._session.select(kind=head.kind, layer=head.layer, head=head.head)

    def _neighbour(self, head: Head, event: QKeyEvent) -> Head | None:
        """Where a key leads from a head; None for keys that do not move."""
        everything = list(self._layout)
        row = [other for other in everything if other[:2] == head[:2]]
        rows = list(dict.fromkeys(other[:2] for other in everything))
        line = row if not event.modifiers() & Qt.KeyboardModifier.ControlModifier else everything
        match event.key():
            case Qt.Key.Key_Left | Qt.Key.Key_Right:
                step = 1 if event.key() == Qt.Key.Key_Right else -1
                return _next(everything, head, step)
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                kind, layer = _next(rows, head[:2], step)
                return self._nearest(Head(kind, layer, head.head))
            case Qt.Key.Key_PageUp | Qt.Key.Key_PageDown:
                step = 1 if event.key() == Qt.Key.Key_PageDown else -1
                kinds = [section.kind for section in self._layout.sections]
                return self._nearest(head._replace(kind=_next(kinds, head.kind, step)))
            case Qt.Key.Key_Home:
                return line[0]
            case Qt.Key.Key_End:
                return line[-1]
        return None

    def _nearest(self, head: Head) -> Head:
        """The head itself, or the last layer or head if the kind has fewer."""
        section = next(s for s in self._layout.sections if s.kind == head.kind)
        layer = min(head.layer, len(section.heads) - 1)
        return Head(head.kind, layer, min(head.head, section.heads[layer] - 1))


def _next(items: Sequence[T], item: T, step: int) -> T:
    """The item `step` places on, or the first or last one."""
    return items[max(0, min(items.index(item) + step, len(items) - 1))]


def _cells(trace: Trace) -> int:
    """How many weights all heads of a trace have together."""
    return sum(
        len(trace.query_tokens(kind)) * len(trace.key_tokens(kind)) * sum(counts)
        for kind, counts in head_counts(trace)
    )
