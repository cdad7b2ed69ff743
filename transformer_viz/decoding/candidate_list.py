"""What else might have come at a step."""

import math

from PySide6.QtCore import QRect, QRectF, QSize
from PySide6.QtGui import QPainter

from transformer_viz.decoding.candidate_rows import ROW, CandidateRow, draw_candidate
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID
from transformer_viz.state.hypotheses import Candidate
from transformer_viz.widgets.row_list import RowList
from transformer_viz.words.wording import token_name

MOST = 9
"""Rows: the most probable candidates, and below them the token taken if it is none of them."""


class CandidateList(RowList):
    def __init__(self) -> None:
        super().__init__(ROW)
        self.rows: tuple[CandidateRow, ...] = ()
        self.setAccessibleName("Candidates of this step")
        self.setMaximumHeight(MOST * self.row_height)

    def show_rows(self, rows: tuple[CandidateRow, ...]) -> None:
        self.rows = rows
        taken = next((number for number, row in enumerate(rows) if row.taken), 0)
        self.set_rows(len(rows), taken)

    def candidate(self, row: int) -> Candidate:
        return Candidate(self.rows[row].token, self.rows[row].log_probability)

    def draw(self, painter: QPainter, row: int, rect: QRect) -> None:
        draw_candidate(
            painter,
            QRectF(rect),
            self.rows[row],
            self.theme,
            self.font(),
            current=self.rows[row].taken,
            hovered=row == self.pointed,
            focused=self.hasFocus() and row == self.current,
        )

    def describe(self, row: int) -> str:
        one = self.rows[row]
        value = one.log_probability
        place = f"candidate {row + 1}" if one.listed else "not among the most probable"
        what = (
            "taken"
            if one.taken
            else "Click or press Enter to choose it; decoding continues greedily."
        )
        return (
            f"{token_name(one.token)}, {place}: p {math.exp(value):.4f}, "
            f"log p {signed(value, 3)}\n{what}"
        )

    def sizeHint(self) -> QSize:
        return QSize(56 * GRID, 8 * self.row_height)

    def minimumSizeHint(self) -> QSize:
        return QSize(56 * GRID, 4 * self.row_height)
