"""The canvas of the beam tree: scroll, zoom, and walk with the arrow keys."""

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QToolTip

from core.decoding.beam_tree import BeamTree
from transformer_viz.decoding.beam_layout import BeamLayout, lay_out_beam
from transformer_viz.decoding.beam_picture import LEGEND, paint_beam
from transformer_viz.drawing.labels import display_text
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import LIGHT, Theme
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.zoom_canvas import ZoomCanvas
from transformer_viz.words.wording import plain_tooltip, token_name


class BeamCanvas(ZoomCanvas):
    """A click or Enter chooses a node; ← → lead along a hypothesis, ↑ ↓ through a step;
    Ctrl+wheel, + and − zoom, 0 shows the whole tree."""

    chosen = Signal(int)  # index of a node

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme = LIGHT
        self._tree: BeamTree | None = None
        self._layout = BeamLayout((), {}, 0, 0)
        self._pruned = True
        self._current: int | None = None
        self._shown: int | None = None
        self.setAccessibleName("Beam search tree")

    @property
    def current(self) -> int | None:
        """The node with the keyboard."""
        return self._current

    def set_tree(self, tree: BeamTree | None) -> None:
        if tree is self._tree:
            return
        self._tree = tree
        self._current = None if tree is None else tree.winner
        self._shown = None
        self._arrange()

    def set_pruned(self, pruned: bool) -> None:
        """Whether hypotheses that fell out of the beam are shown."""
        self._pruned = pruned
        self._arrange()

    def set_shown(self, ids: tuple[int, ...]) -> None:
        """Mark the node of this hypothesis, if there is one."""
        self._shown = None
        if self._tree is not None and ids:
            step = len(ids) - 1
            column = self._layout.columns[step] if step < len(self._layout.columns) else ()
            self._shown = next((node for node in column if self._tree.ids(node) == ids), None)
        if self._shown is not None:
            self._go_to(self._shown)
        self.viewport().update()

    def box_of(self, node: int) -> QRectF:
        """Return a node's box in the viewport."""
        return self.in_viewport(self._layout.boxes[node])

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.viewport().update()

    def drawing_size(self) -> QSizeF:
        return QSizeF(self._layout.width, self._layout.height)

    def paint_whole(self, painter: QPainter) -> None:
        """The tree at its own size, on any device."""
        if self._tree is not None:
            self._paint(painter, QRectF(QPointF(0, 0), QSizeF(self.whole_size())), None)

    def describe(self, node: int) -> str:
        """A node in words, for tooltips and screen readers."""
        assert self._tree is not None
        one = self._tree.nodes[node]
        text = " ".join(display_text(self._tree.nodes[i].token) for i in self._tree.path(node))
        lines = [
            f"step {one.step + 1}: {token_name(one.token)}, {LEGEND[one.status]}",
            text,
            f"log P {signed(one.log_probability, 3)} of {one.step + 1} tokens",
        ]
        if one.score is not None:
            lines.append(f"score {signed(one.score, 3)} = log P / length penalty")
        lines.append("Click or press Enter to show the attention of this hypothesis.")
        return "\n".join(lines)

    def _arrange(self) -> None:
        tree = self._tree
        empty = BeamLayout((), {}, 0, 0)
        self._layout = empty if tree is None else lay_out_beam(tree, pruned=self._pruned)
        if self._current not in self._layout.boxes:
            self._current = None if tree is None else tree.winner
        self.fit_scroll_bars()
        self.viewport().update()

    def _go_to(self, node: int) -> None:
        self._current = node
        announce(self, self.describe(node).replace("\n", ", "))
        self.reveal(self._layout.boxes[node])
        self.viewport().update()

    def _node_at(self, point: QPoint) -> int | None:
        return self._layout.node_at(self.drawing_point(QPointF(point)))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._tree is None:
            return
        offset = self.offset()
        visible = QRectF(event.rect()).translated(offset)
        with QPainter(self.viewport()) as painter:
            painter.translate(-offset)
            painter.scale(self.zoom, self.zoom)
            seen = QRectF(visible.topLeft() / self.zoom, visible.size() / self.zoom)
            self._paint(painter, seen, self._current if self.hasFocus() else None)

    def _paint(self, painter: QPainter, visible: QRectF, current: int | None) -> None:
        assert self._tree is not None
        paint_beam(
            painter,
            self._tree,
            self._layout,
            self.theme,
            self.font(),
            visible=visible,
            current=current,
            shown=self._shown,
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        node = self._node_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and node is not None:
            self._go_to(node)
            self.chosen.emit(node)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            node = self._node_at(event.pos())
            text = "" if node is None else plain_tooltip(self.describe(node))
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        return super().viewportEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._current is not None:
            self._go_to(self._current)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        tree, current = self._tree, self._current
        if tree is None or current is None:
            event.ignore()
            return
        match event.key():
            case Qt.Key.Key_Left:
                parent = tree.nodes[current].parent
                self._go_to(current if parent is None else parent)
            case Qt.Key.Key_Right:
                self._go_to(self._layout.after(tree, current))
            case Qt.Key.Key_Up:
                self._go_to(self._layout.beside(tree, current, -1))
            case Qt.Key.Key_Down:
                self._go_to(self._layout.beside(tree, current, 1))
            case Qt.Key.Key_Home:
                self._go_to(tree.path(current)[0])
            case Qt.Key.Key_End:
                self._go_to(tree.winner)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.chosen.emit(current)
            case _:
                if not self.take_zoom_key(event):
                    event.ignore()
