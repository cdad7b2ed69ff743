"""How well each head finds the word that is needed, at each distance: a row of numbers each."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QResizeEvent

from core.trace.trace import Head
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.shading import shaded
from transformer_viz.drawing.theme import GRID, scaled_font
from transformer_viz.reach.distance_report import Relation
from transformer_viz.reach.probe_curves import MARGIN, column, gutter
from transformer_viz.widgets.row_list import ChoosingList
from transformer_viz.words.wording import head_name

ROW = 6 * GRID


class ProbeHeads(ChoosingList):
    """A list of heads, best first; ↑ ↓ move from head to head and select each."""

    def __init__(self) -> None:
        super().__init__(ROW)
        self.setAccessibleName("Heads by accuracy, best first")
        self.heads: tuple[Head, ...] = ()
        self._relation: Relation | None = None
        self._pushed_in: tuple[int, ...] = ()
        self._selected: Head | None = None

    def show_relation(self, relation: Relation, pushed_in: tuple[int, ...], selected: Head) -> None:
        if relation is not self._relation:
            self._relation, self._pushed_in = relation, pushed_in
            self.heads = relation.ranked
            self._selected = None
            self.set_rows(len(self.heads), 0)
        if selected != self._selected:
            self._selected = selected
            if selected in self.heads:
                self.set_current(self.heads.index(selected))
        self.viewport().update()

    def describe(self, row: int) -> str:
        head = self.heads[row]
        assert self._relation is not None
        numbers = ", ".join(
            f"{words}: {percent(share)}"
            for words, share in zip(self._pushed_in, self._relation.heads[head], strict=True)
        )
        return f"{head_name(head)}\nfinds the word, by number of inserted words: {numbers}"

    def draw(self, painter: QPainter, row: int, rect: QRect) -> None:
        head, theme, relation = self.heads[row], self.theme, self._relation
        assert relation is not None
        selected = head == self._selected
        if selected or row == self.pointed:
            painter.fillRect(rect, theme.color("accent_soft" if selected else "hover"))
        painter.setFont(scaled_font(self.font(), 0.9, bold=selected))
        painter.setPen(theme.color("accent" if selected else "ink"))
        name = QRectF(MARGIN, rect.top(), gutter(self.font()) - MARGIN, rect.height())
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(name, middle, head_name(head))
        painter.setFont(scaled_font(self.font(), 0.9))
        for number, share in enumerate(relation.heads[head]):
            left, pitch = column(self.width(), len(self._pushed_in), number, self.font())
            cell = QRectF(left + 1, rect.top() + 1, pitch - 2, rect.height() - 2)
            painter.fillRect(cell, shaded(theme, share))
            painter.setPen(theme.color("ink"))
            painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, percent(share))
        if self.hasFocus() and row == self.current:
            painter.setPen(theme.color("accent"))
            painter.drawRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """With more room, bring the better heads into view again, over the selected one."""
        super().resizeEvent(event)
        self.verticalScrollBar().setValue(0)
        self.set_current(self.current)

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()  # it takes the room that is left, not that of all rows

    def minimumSizeHint(self) -> QSize:
        return QSize(120 * GRID, 3 * self.row_height)
