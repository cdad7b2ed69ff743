"""A table of texts that is walked through by keys and painted into files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter

from transformer_viz.drawing.theme import GRID, Theme, scaled_font, taller
from transformer_viz.widgets.row_list import ChoosingList

ROW = 6 * GRID
MARGIN = 4 * GRID
_GAP = 5 * GRID  # between two columns
_LEAST = 24.0 * GRID  # of a column of names
_SMALL = 0.92  # size of the text, relative to the widget's


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: the first is a name, the others are numbers or words; one alone is a remark.
        head: the cells are the titles of the rows below.
        strong: the row stands out.
        place: the x of the row's point in the plot above; None for a row without one.
        about: what else a tooltip says.
    """

    cells: tuple[str, ...]
    head: bool = False
    strong: bool = False
    place: float | None = None
    about: str = ""


class ResultTable(ChoosingList):
    """Shows rows; ↑ ↓ Home End move the current one, which is told by `chosen`."""

    def __init__(self, name: str) -> None:
        super().__init__(ROW)
        self.setAccessibleName(name)
        self.rows: tuple[Row, ...] = ()

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows; the current one stays where it is."""
        self.rows = tuple(rows)
        self.set_rows(len(rows), min(self.current or 1, len(rows) - 1))

    def describe(self, row: int) -> str:
        shown = self.rows[row]
        if shown.head or len(shown.cells) == 1:
            return ", ".join(shown.cells)
        titles = next((one.cells for one in self.rows[row::-1] if one.head), ())
        pairs = zip(titles[1:], shown.cells[1:], strict=False)
        values = ", ".join(f"{title} {cell}" for title, cell in pairs if cell)
        told = f"{shown.cells[0]}: {values}" if values else shown.cells[0]
        return f"{told}\n{shown.about}" if shown.about else told

    def draw(self, painter: QPainter, row: int, rect: QRect) -> None:
        shown, theme = self.rows[row], self.theme
        if not shown.head and row in (self.current, self.pointed):
            chosen = row == self.current and self.hasFocus()
            painter.fillRect(rect, theme.color("accent_soft" if chosen else "hover"))
        widths = _widths(self.rows, self.font(), rect.width())
        _draw_row(painter, shown, QRectF(rect), widths, self.font(), theme)

    def paint(self, painter: QPainter, width: int) -> None:
        """Paint all rows from the painter's origin, as for a file."""
        widths = _widths(self.rows, self.font(), width)
        for number, row in enumerate(self.rows):
            rect = QRectF(0, number * self.row_height, width, self.row_height)
            _draw_row(painter, row, rect, widths, self.font(), self.theme)

    def whole_height(self) -> int:
        """Return the height of all rows together."""
        return len(self.rows) * taller(ROW, self.font())

    def sizeHint(self) -> QSize:
        return QSize(120 * GRID, self.whole_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(80 * GRID, 4 * self.row_height)


def _widths(rows: Sequence[Row], font: QFont, width: int) -> list[float]:
    """Return the width of each column: what its texts take, the last one the rest.
    Names are cut off where all of that is too much."""
    metrics = QFontMetrics(scaled_font(font, _SMALL, bold=True))
    columns = max((len(row.cells) for row in rows), default=0)
    needed = [
        float(
            max(
                metrics.horizontalAdvance(row.cells[column])
                for row in rows
                if column < len(row.cells) > 1
            )
        )
        + _GAP
        for column in range(columns)
    ]
    if needed:
        over = sum(needed) - (width - 2 * MARGIN)
        needed[0] = min(needed[0], max(needed[0] - over, _LEAST))  # the names give way
        needed[-1] = max(needed[-1], width - 2 * MARGIN - sum(needed[:-1]))
    return needed


def _draw_row(
    painter: QPainter, row: Row, rect: QRectF, widths: Sequence[float], font: QFont, theme: Theme
) -> None:
    painter.setFont(scaled_font(font, _SMALL, bold=row.strong))
    remark = len(row.cells) == 1
    painter.setPen(theme.color("soft" if row.head or remark else "ink"))
    metrics = painter.fontMetrics()
    for text, box in _cells(row, rect, [rect.width() - 2 * MARGIN] if remark else widths):
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(box.width()) - GRID)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, elided)
    if row.head:
        painter.setPen(theme.color("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())


def _cells(row: Row, rect: QRectF, widths: Sequence[float]) -> Iterator[tuple[str, QRectF]]:
    left = rect.left() + MARGIN
    for text, width in zip(row.cells, widths, strict=False):
        yield text, QRectF(left, rect.top(), width, rect.height())
        left += width
