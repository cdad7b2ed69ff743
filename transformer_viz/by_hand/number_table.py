"""A small matrix that is typed into."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractScrollArea, QHeaderView, QTableWidget, QTableWidgetItem

from core.errors import UserError
from core.trace.row_steps import Doubles
from transformer_viz.by_hand.sheet import read_number
from transformer_viz.drawing.theme import GRID


class NumberTable(QTableWidget):
    """Shows numbers; what is typed is read, or refused with a sentence and the number kept."""

    numberTyped = Signal(int, int, float)
    refused = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._numbers: Doubles | None = None
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QAbstractScrollArea.SizeAdjustPolicy.AdjustToContents)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        triggers = QTableWidget.EditTrigger
        self.setEditTriggers(
            triggers.DoubleClicked
            | triggers.SelectedClicked
            | triggers.AnyKeyPressed
            | triggers.EditKeyPressed
        )
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.setTabKeyNavigation(False)  # Tab leaves the table, arrows walk in it
        self.cellChanged.connect(self._on_changed)

    def show_numbers(self, rows: Sequence[str], numbers: Doubles) -> None:
        """Show a matrix with the names of its rows."""
        self._numbers = numbers
        self.blockSignals(True)
        self.setRowCount(numbers.shape[0])
        self.setColumnCount(numbers.shape[1])
        self.setVerticalHeaderLabels(list(rows))
        self.setHorizontalHeaderLabels([str(at + 1) for at in range(numbers.shape[1])])
        for row, line in enumerate(numbers):
            for column, number in enumerate(line):
                item = QTableWidgetItem(f"{number:.6g}".replace("-", "−"))
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(row, column, item)
        width = self.fontMetrics().horizontalAdvance("−0.0000") + 3 * GRID
        self.horizontalHeader().setDefaultSectionSize(width)
        self.blockSignals(False)
        self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        return QSize(40 * GRID, self.sizeHint().height())

    def _on_changed(self, row: int, column: int) -> None:
        item, numbers = self.item(row, column), self._numbers
        if item is None or numbers is None:
            return
        try:
            value = read_number(item.text())
        except UserError as error:
            self.blockSignals(True)
            item.setText(f"{numbers[row, column]:.6g}".replace("-", "−"))
            self.blockSignals(False)
            self.refused.emit(str(error))
            return
        self.numberTyped.emit(row, column, value)
