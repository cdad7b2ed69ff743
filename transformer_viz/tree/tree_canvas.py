"""The tree, to point at and to walk through."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter

from transformer_viz.tree.draw_tree import (
    Strip,
    TreeDrawing,
    TreeLayout,
    lay_out_tree,
    node_in_words,
    strips_in_words,
)
from transformer_viz.tree.parsed import Parsed
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.scrolled_picture import ScrolledPicture


class TreeCanvas(ScrolledPicture):
    """↑ goes to the constituent around, ↓ into it, ← → to those beside; a click chooses one."""

    nodeChosen = Signal(int)
    nodePointed = Signal(object)  # int | None

    def __init__(self) -> None:
        super().__init__("Constituency tree")
        self.parsed: Parsed | None = None
        self.current = 0
        self.strips: tuple[Strip, ...] = ()

    def show_tree(self, parsed: Parsed | None, current: int, strips: Sequence[Strip]) -> None:
        """Show a tree, and what the rows of its current node look at; None shows nothing."""
        self.parsed, self.current, self.strips = parsed, current, tuple(strips)
        if parsed is not None:
            self.picture_changed()
            told = strips_in_words(parsed, strips)
            announce(self, f"{node_in_words(parsed, current)}. {told}")

    @property
    def has_picture(self) -> bool:
        return self.parsed is not None

    def layout_for(self, width: int) -> TreeLayout:
        assert self.parsed is not None
        return lay_out_tree(self.parsed, len(self.strips), width, self.font())

    def picture_size(self, width: int) -> QSize:
        return self.layout_for(width).size

    def draw(self, painter: QPainter, size: QSize) -> None:
        if self.parsed is not None:
            layout = self.layout_for(size.width())
            drawing = TreeDrawing(painter, self.parsed, layout, self.theme, self.font())
            drawing.draw(self.current, self.strips)

    def current_rect(self) -> QRectF | None:
        if self.parsed is None:
            return None
        return self.layout_for(self.viewport().width()).nodes[self.current].adjusted(-3, -3, 3, 3)

    def press(self, point: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        if (place := self.node_at(point)) is not None:
            self.nodeChosen.emit(place)

    def hover(self, point: QPoint | None) -> None:
        place = None if point is None else self.node_at(point)
        hand = Qt.CursorShape.PointingHandCursor
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor if place is None else hand)
        self.nodePointed.emit(place)

    def explanation(self, point: QPoint) -> str:
        place = self.node_at(point)
        if self.parsed is None or place is None:
            return ""
        node = self.parsed.nodes[place]
        lines = [node_in_words(self.parsed, place)]
        if node.word is None:
            lines += [
                f"opened by decoder row {node.opened + 1}"
                if node.opened is not None
                else "put around by a repair",
                f"closed by decoder row {node.closed + 1}"
                if node.closed is not None
                else "closed by a repair",
            ]
        elif node.opened is not None:
            lines.append(f"tag by decoder row {node.opened + 1}")
        if node.shared is not None:
            lines.append("in the gold tree" if node.shared else "not in the gold tree")
        return "\n".join(lines)

    def node_at(self, point: QPoint) -> int | None:
        """Return the node at a point of the picture; a word stands for its tag."""
        if self.parsed is None:
            return None
        layout = self.layout_for(self.viewport().width())
        found = layout.node_at(QPointF(point))
        word = layout.word_at(QPointF(point)) if found is None else None
        if word is None:
            return found
        leaves = (at for at, node in enumerate(self.parsed.nodes) if node.word is not None)
        return next(at for at in leaves if self.parsed.nodes[at].first == word)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        target = self._neighbour(event.key())
        if target is None:
            event.ignore()
        else:
            self.nodeChosen.emit(target)

    def _neighbour(self, key: int) -> int | None:
        """The node that a key leads to from the current one."""
        if self.parsed is None:
            return None
        here = self.parsed.nodes[self.current]
        match key:
            case Qt.Key.Key_Up:
                return here.parent
            case Qt.Key.Key_Down:
                fits = [node.parent == self.current for node in self.parsed.nodes]
            case Qt.Key.Key_Left:
                fits = [node.end == here.first for node in self.parsed.nodes]
            case Qt.Key.Key_Right:
                fits = [node.first == here.end for node in self.parsed.nodes]
            case _:
                return None
        return fits.index(True) if True in fits else None
