"""The card beside a cell: which token looks at which, and the exact numbers."""

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from core.trace.trace import Head, Trace
from transformer_viz.theme import GRID, set_role
from transformer_viz.views.wording import cell_name, predicted_token, token_name

_WIDEST = 80 * GRID
_OFFSET = 3 * GRID
MASKED_NOTE = "masked: not there yet when this row is computed"


@dataclass(frozen=True, slots=True)
class Reading:
    """A title, and lines of a name and a value; a value alone is a remark."""

    title: str
    lines: tuple[tuple[str, str], ...]


def read_cell(trace: Trace, head: Head, query: int, key: int) -> Reading:
    kind, layer, number = head
    title = cell_name(trace, kind, query, key)
    lines: list[tuple[str, str]] = []
    predicted = predicted_token(trace, kind, query)
    if predicted is not None:
        lines.append(("predicts", token_name(predicted)))
    if not trace.allowed(kind)[query, key]:
        return Reading(title, (*lines, ("", MASKED_NOTE)))
    weight = trace.row(kind, layer, number, query)[key]
    lines.append(("weight", f"{weight:.4f}"))
    if trace.has_scores(kind):
        score = trace.scores(kind, layer, number, query)[key]
        lines.append(("score q·k / √d_k", f"{score:.2f}".replace("-", "−")))
    return Reading(title, tuple(lines))


class ReadoutCard(QFrame):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        self._grid.setHorizontalSpacing(6 * GRID)
        self._grid.setVerticalSpacing(GRID // 2)
        self._title = self._label("title")
        self._grid.addWidget(self._title, 0, 0, 1, 2)
        self._rows: list[tuple[QLabel, QLabel]] = []
        self.hide()

    def show_reading(self, reading: Reading, cell: QRect) -> None:
        """Show the reading below and right of the cell, or wherever there is room."""
        metrics = self._title.fontMetrics()
        elide = Qt.TextElideMode.ElideMiddle
        self._title.setText(metrics.elidedText(reading.title, elide, _WIDEST))
        while len(self._rows) < len(reading.lines):
            self._add_row()
        for index, (name, value) in enumerate(self._rows):
            used = index < len(reading.lines)
            name.setVisible(used)
            value.setVisible(used)
            if used:
                name.setText(reading.lines[index][0])
                text = reading.lines[index][1]
                value.setText(metrics.elidedText(text, Qt.TextElideMode.ElideRight, _WIDEST))
        self.adjustSize()
        self.move(self._place(cell))
        self.show()
        self.raise_()

    def _add_row(self) -> None:
        row = len(self._rows) + 1
        name, value = self._label("soft"), self._label("")
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(value, row, 1, Qt.AlignmentFlag.AlignRight)
        self._rows.append((name, value))

    def _label(self, role: str) -> QLabel:
        label = QLabel(self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        set_role(label, role)
        return label

    def _place(self, cell: QRect) -> QPoint:
        parent = self.parentWidget()
        assert parent is not None
        bounds = parent.rect()
        x, y = cell.right() + _OFFSET, cell.bottom() + _OFFSET
        if x + self.width() > bounds.right():
            x = cell.left() - _OFFSET - self.width()
        if y + self.height() > bounds.bottom():
            y = cell.top() - _OFFSET - self.height()
        return QPoint(max(x, 0), max(y, 0))
