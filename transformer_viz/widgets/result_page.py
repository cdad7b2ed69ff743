"""A page of results: a caption, a plot, and the table of the same numbers."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from transformer_viz.drawing.heading import Heading
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.widgets.flow_layout import FlowLayout
from transformer_viz.widgets.line_plot import LinePlot
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.result_table import ResultTable
from transformer_viz.widgets.text_line import label


class ResultPage(QWidget):
    """What the pages share. Subclasses fill plot, table and caption in `refresh`."""

    title = ""

    def __init__(self, plot: LinePlot, table: ResultTable) -> None:
        super().__init__()
        self.plot, self.table = plot, table
        self.caption = label("soft", wrap=True)
        self.controls = QWidget()
        self.bar = FlowLayout(self.controls, 2 * GRID)
        halves = QSplitter(Qt.Orientation.Vertical)
        halves.setChildrenCollapsible(False)
        for half, share in ((plot, 3), (table, 2)):
            halves.addWidget(half)
            halves.setStretchFactor(halves.count() - 1, share)
        halves.setSizes([300, 200])
        top = QVBoxLayout()
        top.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        top.addWidget(self.controls)
        top.addWidget(self.caption)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(top)
        self._results, self._placeholder = QStackedWidget(), Placeholder()
        for part in (halves, self._placeholder):
            self._results.addWidget(part)
        column.addWidget(self._results, 1)
        table.chosen.connect(self._point_at)

    def refresh(self) -> None:
        """Fill in what is shown."""
        raise NotImplementedError

    def say_instead(self, headline: str, hint: str) -> None:
        """Put a sentence in the place of plot and table; "" brings them back."""
        self._placeholder.say(headline, hint)
        self._results.setCurrentIndex(int(bool(headline)))

    def apply_theme(self, theme: Theme) -> None:
        self.plot.apply_theme(theme)
        self.table.apply_theme(theme)

    def _point_at(self, row: int) -> None:
        """Read off the point of a row."""
        self.plot.read_off(self.table.rows[row].place)

    # For a file

    def export_size(self) -> QSize:
        width = self.plot.width()
        return QSize(
            width, self._heading.height(width) + self.plot.height() + self.table.whole_height()
        )

    def paint_export(self, painter: QPainter, rect: QRect, theme: Theme) -> None:
        """Paint heading, plot and table into a rectangle of `export_size`."""
        width = rect.width()
        painter.save()
        painter.fillRect(rect, theme.color("paper"))
        painter.translate(rect.topLeft())
        self._heading.draw(painter, width, theme)
        painter.translate(0, self._heading.height(width))
        painter.save()
        self.plot.paint(painter)
        painter.restore()
        painter.translate(0, self.plot.height())
        self.table.paint(painter, width)
        painter.restore()

    @property
    def _heading(self) -> Heading:
        return Heading(self.title, self.caption.text(), self.font())
