"""The sentences that show a claim best and worst, one click from the explorer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from core.trace.trace import AttentionKind
from transformer_viz.drawing.labels import isolated
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, grown, scaled_font
from transformer_viz.heads.report import Evidence, Role
from transformer_viz.widgets.row_list import RowList

NOTHING = "No example sentences: the score is not above the baseline."
_ROW = 6 * GRID
_SCORE = 10 * GRID
_CELL = 28 * GRID
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class EvidenceList(RowList):
    """Lists two groups of sentences, each under a heading that the keys skip."""

    wanted = Signal(object)  # Evidence

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_ROW, parent)
        self.setAccessibleName("Sentences that show the role")
        self._rows: list[str | Evidence] = []
        self._kind = AttentionKind.ENCODER_SELF
        self.chosen.connect(self._on_chosen)

    def show_role(self, role: Role | None, kind: AttentionKind) -> None:
        self._kind = kind
        self._rows = []
        if role is not None:
            self._add("Best examples", role.best)
            self._add("Worst examples", role.worst)
            if not self._rows:
                self._rows = [NOTHING]
        self.verticalScrollBar().setValue(0)
        self.set_rows(len(self._rows), 0)

    def _add(self, heading: str, evidence: Sequence[Evidence]) -> None:
        if evidence:
            self._rows += [heading, *evidence]

    def set_current(self, row: int) -> None:
        row = max(0, min(row, self.count - 1))
        if self.count > 1 and isinstance(self._rows[row], str):
            row += -1 if 0 < row < self.current else 1
        super().set_current(row)

    def describe(self, row: int) -> str:
        one = self._rows[row]
        if isinstance(one, str):
            return one
        alone = self._kind is AttentionKind.ENCODER_SELF
        texts = [one.source] if alone else [one.source, one.target]
        cell = f"{self._cell(one)}, score {signed(one.score)}."
        return "\n".join(
            [*texts, f"{cell} Click or press Enter to show it with the head selected."]
        )

    def draw(self, painter: QPainter, row: int, rect: QRect) -> None:
        one, theme = self._rows[row], self.theme
        if isinstance(one, str):
            painter.setFont(scaled_font(self.font(), 0.85, bold=True))
            painter.setPen(theme.color("soft"))
            painter.drawText(rect.adjusted(2 * GRID, 0, 0, 0), _LEFT, one)
            return
        current = row == self.current
        if row == self.pointed or current:
            painter.fillRect(rect, theme.color("accent_soft" if current else "hover"))
        painter.setFont(scaled_font(self.font(), 1.0))
        painter.setPen(theme.color("soft"))
        score = QRectF(rect.left(), rect.top(), grown(_SCORE, self.font()), rect.height())
        painter.drawText(score, _RIGHT, signed(one.score))
        width = grown(_CELL, self.font())
        cell = QRectF(score.right() + 3 * GRID, rect.top(), width, rect.height())
        painter.setPen(theme.color("accent"))
        self._draw_line(painter, cell, self._cell(one), Qt.TextElideMode.ElideMiddle)
        room = QRectF(rect).adjusted(cell.right() + 2 * GRID, 0, -2 * GRID, 0)
        painter.setPen(theme.color("ink"))
        self._draw_line(painter, room, self._text(one))
        if current and self.hasFocus():
            painter.setPen(QPen(theme.color("accent"), 1))
            painter.drawRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5))

    @staticmethod
    def _draw_line(
        painter: QPainter,
        room: QRectF,
        text: str,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        shown = painter.fontMetrics().elidedText(text, elide, int(room.width()))
        painter.drawText(room, _LEFT, shown)

    def _cell(self, one: Evidence) -> str:
        """The words of query and key; a special token stands for an end of the sentence."""
        looks = one.source if self._kind is AttentionKind.ENCODER_SELF else one.target
        looked_at = one.target if self._kind is AttentionKind.DECODER_SELF else one.source
        special = "⟨start⟩" if self._kind is AttentionKind.DECODER_SELF else "⟨end⟩"
        query = special if one.query_span is None else looks[slice(*one.query_span)]
        key = special if one.key_span is None else looked_at[slice(*one.key_span)]
        return f"{isolated(query)} → {isolated(key)}"

    def _text(self, one: Evidence) -> str:
        return one.target if self._kind is AttentionKind.DECODER_SELF else one.source

    def press(self, row: int, point: QPoint) -> None:
        if not isinstance(self._rows[row], str):
            super().press(row, point)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Home:
                self.set_current(0)
            case Qt.Key.Key_End:
                self.set_current(self.count - 1)
            case _:
                super().keyPressEvent(event)

    def _on_chosen(self, row: int) -> None:
        one = self._rows[row]
        if isinstance(one, Evidence):
            self.wanted.emit(one)
