"""The layer lens, to point at and to walk through."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter

from transformer_viz.drawing.numbers import share
from transformer_viz.engine.readings import Lens
from transformer_viz.stream.draw_lens import (
    LensDrawing,
    LensLayout,
    column_in_words,
    lay_out_lens,
    layer_name,
)
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.scrolled_picture import ScrolledPicture
from transformer_viz.words.wording import token_name


class LensCanvas(ScrolledPicture):
    """← → go to the decoder rows beside; a click chooses one."""

    tokenMoved = Signal(int)
    rowChosen = Signal(int)  # position

    def __init__(self) -> None:
        super().__init__("What each decoder layer would say")
        self.lens: Lens | None = None
        self.column = 0

    def show_lens(self, lens: Lens | None, position: int) -> None:
        """Show a lens, and the first words at a decoder row."""
        self.lens = lens
        if lens is not None:
            known = position in lens.positions
            self.column = lens.positions.index(position) if known else 0
            self.picture_changed()
            announce(self, f"{column_in_words(lens, self.column)}. {self._words(lens)}")

    def _words(self, lens: Lens) -> str:
        layers = (
            f"{layer_name(layer)} {token_name(word)} {share(probability)}"
            for layer in range(len(lens.lens.ids))
            for word, probability in [lens.best(layer, self.column)]
        )
        return f"First words: {', '.join(layers)}."

    @property
    def has_picture(self) -> bool:
        return self.lens is not None

    def layout_for(self, width: int) -> LensLayout:
        assert self.lens is not None
        return lay_out_lens(self.lens, width, self.font())

    def picture_size(self, width: int) -> QSize:
        return self.layout_for(width).size

    def draw(self, painter: QPainter, size: QSize) -> None:
        if self.lens is not None:
            layout = self.layout_for(size.width())
            LensDrawing(painter, self.lens, self.column, layout, self.theme, self.font()).draw()

    def current_rect(self) -> QRectF | None:
        if self.lens is None:
            return None
        return self.layout_for(self.viewport().width()).column(self.column)

    def press(self, point: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        cell = self._cell_at(point)
        if cell is not None and self.lens is not None:
            self.rowChosen.emit(self.lens.positions[cell[1]])

    def hover(self, point: QPoint | None) -> None:
        inside = point is not None and self._cell_at(point) is not None
        cursor = Qt.CursorShape.PointingHandCursor if inside else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(cursor)

    def explanation(self, point: QPoint) -> str:
        cell = self._cell_at(point)
        if self.lens is None or cell is None:
            return ""
        layer, column = cell
        lens = self.lens.lens
        own = self.lens.trace.predicted_tokens[self.lens.positions[column]]
        words = [
            f"{share(float(probability))}  {token_name(self.lens.tokens[int(id_)])}"
            for id_, probability in zip(
                lens.ids[layer, column], lens.probabilities[layer, column], strict=True
            )
        ]
        return "\n".join(
            [
                f"{layer_name(layer)}, row {self.lens.positions[column] + 1}",
                *words,
                f"{token_name(own)}, the word of the translation: "
                f"{share(float(lens.predicted[layer, column]))}, "
                f"rank {int(lens.ranks[layer, column]):,}",
            ]
        )

    def _cell_at(self, point: QPoint) -> tuple[int, int] | None:
        if self.lens is None:
            return None
        return self.layout_for(self.viewport().width()).cell_at(QPointF(point))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Left:
                self.tokenMoved.emit(-1)
            case Qt.Key.Key_Right:
                self.tokenMoved.emit(1)
            case _:
                event.ignore()
