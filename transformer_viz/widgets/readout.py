"""The card beside a cell: which token looks at which, and the exact numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from core.switches import Scaling
from core.trace.head_map import cell_weight
from core.trace.trace import ComputedAttention, Head, Trace
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.theme import GRID
from transformer_viz.engine.quantities import Found
from transformer_viz.state.options import Quantity
from transformer_viz.widgets.head_pictures import MapAxes
from transformer_viz.widgets.style import set_role
from transformer_viz.words.quantity_wording import READINGS
from transformer_viz.words.wording import head_numbers, predicted_token, signed, token_name

_WIDEST = 80 * GRID
_OFFSET = 3 * GRID
_MOST_HEADS = 6  # of a mean, whose own weights are shown
_MASKED = ("masked", "a later token")


@dataclass(frozen=True, slots=True)
class Reading:
    """What there is to say about one cell.

    Attributes:
        title: the cell in words: "it → animal".
        weight: or another quantity of it; None where it is masked.
        lines: a name and a value each; a value alone is a remark.
    """

    title: str
    weight: float | None
    lines: tuple[tuple[str, str], ...]

    @property
    def value(self) -> str:
        return "masked" if self.weight is None else f"{self.weight:.3f}"


def read_cell(found: Found, heads: Sequence[Head], axes: MapAxes, row: int, column: int) -> Reading:
    """The cell of one head, or of the mean of several, whose rows and columns are entries."""
    trace = found.trace
    queries, keys = axes.rows.spans[row], axes.columns.spans[column]
    title = f"{token_name(axes.rows.tokens[row])} → {token_name(axes.columns.tokens[column])}"
    kind = heads[0].kind
    lines: list[tuple[str, str]] = []
    predicted = predicted_token(trace, kind, queries[-1])
    if predicted is not None:
        lines.append(("predicts", token_name(predicted)))
    source = found.source_shares(heads[0])
    if source is not None:
        share = float(source[queries.start : queries.stop].mean())
        lines.append(("row from the source", percent(share)))
    if not trace.allowed(kind)[queries.start : queries.stop, keys.start : keys.stop].any():
        return Reading(title, None, (*lines, _MASKED))
    weight, name = cell_weight(trace, heads, queries, keys), READINGS[found.quantity]
    if len(heads) > 1:
        lines.append((f"{name}, mean of {len(heads)} heads", f"{weight:.4f}"))
        lines += [
            (head_numbers(head), f"{cell_weight(trace, [head], queries, keys):.4f}")
            for head in heads[:_MOST_HEADS]
        ]
    else:
        lines.append((name, f"{weight:.4f}"))
        if found.quantity is Quantity.NORM:
            plain = cell_weight(found.of, heads, queries, keys)
            lines.append((READINGS[Quantity.WEIGHT], f"{plain:.4f}"))
        lines += _merging(len(queries), len(keys)) or _scores(trace, heads[0], queries[0], keys[0])
    return Reading(title, weight, tuple(lines))


def _merging(queries: int, keys: int) -> list[tuple[str, str]]:
    parts = []
    if queries > 1:
        parts.append(f"mean of {queries} rows")
    if keys > 1:
        parts.append(f"sum of {keys} columns")
    return [("", ", ".join(parts))] if parts else []


def _scores(trace: Trace, head: Head, query: int, key: int) -> list[tuple[str, str]]:
    """q·k, and what it was divided by and came to, where the trace has them."""
    attention = trace.attention[head.kind]
    if not isinstance(attention, ComputedAttention):
        return []
    layer = attention.projections[head.layer]
    raw = float(layer.query[head.head, query] @ layer.key[head.head, key])
    lines = [("raw score q·k", signed(raw))]
    if attention.scaling is not Scaling.OFF:
        root = "d_k" if attention.scaling is Scaling.TWICE else "√d_k"
        scaled = raw / float(attention.divisor(head.layer))
        lines.append((f"scaled q·k / {root}", signed(scaled)))
    return lines


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
