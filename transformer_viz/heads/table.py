"""The table of the heads: a line each, with its roles and its statistics."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from core.trace.trace import Head
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, Theme, grown, taller
from transformer_viz.heads.report import MeasuredHead, Report
from transformer_viz.heads.wording import column, listed, role_name, roles_in_words
from transformer_viz.widgets.text_size import set_font
from transformer_viz.words.measures import explained
from transformer_viz.words.statistics import head_label
from transformer_viz.words.wording import plain_tooltip

Index = QModelIndex | QPersistentModelIndex

HEAD, ROLES, FIRST_NUMBER = 0, 1, 2
_WIDTHS = {HEAD: 34 * GRID, ROLES: 44 * GRID}
_ROW = 6 * GRID
_SORT = Qt.ItemDataRole.UserRole
_MOVES = {
    *(Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown),
    *(Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End),
}


class HeadsModel(QAbstractTableModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._heads: list[MeasuredHead] = []
        self.statistics: list[str] = []

    def show_report(self, report: Report) -> None:
        self.beginResetModel()
        self._heads = list(report)
        self.statistics = listed(report.statistics)
        self.endResetModel()

    def measured(self, row: int) -> MeasuredHead:
        return self._heads[row]

    def row(self, head: Head) -> int | None:
        return next((i for i, each in enumerate(self._heads) if each.head == head), None)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._heads)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else FIRST_NUMBER + len(self.statistics)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if section < FIRST_NUMBER:
            names = {HEAD: "Head", ROLES: "Roles passed"}
            return names[section] if role == Qt.ItemDataRole.DisplayRole else None
        about = column(self.statistics[section - FIRST_NUMBER])
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(f"{about.name}\n{explained(about.explanation)}")
        return about.short if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        measured, section = self._heads[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.text(measured, section)
        if role == _SORT:
            return index.row() if section == HEAD else self._order(measured, section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role == Qt.ItemDataRole.ToolTipRole and section == ROLES and measured.passed:
            return "\n".join(role_name(one).claim for one in measured.passed)
        return None

    def text(self, measured: MeasuredHead, section: int) -> str:
        if section == HEAD:
            return head_label(measured.head)
        if section == ROLES:
            return roles_in_words(measured)
        name = self.statistics[section - FIRST_NUMBER]
        value = measured.statistics.get(name)
        return "–" if value is None else signed(value, column(name).digits)

    def _order(self, measured: MeasuredHead, section: int) -> Any:
        """What is sorted by: of roles how many; heads keep the order of the report."""
        if section == ROLES:
            return len(measured.passed)
        value = measured.statistics.get(self.statistics[section - FIRST_NUMBER])
        return -math.inf if value is None else value


class HeadsTable(QTableView):
    """A sortable table of heads; numeric columns sort in descending order first."""

    chosen = Signal(object)  # Head
    evidenceWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Measured heads")
        self.rows = HeadsModel(self)
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSourceModel(self.rows)
        self._sorted.setSortRole(_SORT)
        self.setModel(self._sorted)
        self._following = False
        set_font(self, 1.0)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(taller(_ROW, self.font()))
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(10 * GRID)
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(HEAD, Qt.SortOrder.AscendingOrder)
        header.sectionClicked.connect(self.sort_by)
        self.selectionModel().currentRowChanged.connect(self._on_current)
        self.doubleClicked.connect(lambda _index: self.evidenceWanted.emit())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scrollTo(self.currentIndex())

    def sizeHint(self) -> QSize:
        return QSize(180 * GRID, 8 * taller(_ROW, self.font()))

    def show_report(self, report: Report) -> None:
        self._following = True
        self.rows.show_report(report)
        header, metrics = self.horizontalHeader(), self.fontMetrics()
        for section in range(self.rows.columnCount()):
            texts = (metrics.horizontalAdvance(self.rows.text(each, section)) for each in report)
            widest = max(header.sectionSizeHint(section), max(texts, default=0) + 4 * GRID)
            header.setSectionResizeMode(section, QHeaderView.ResizeMode.Interactive)
            usual = _WIDTHS.get(section)
            width = widest + GRID if usual is None else round(grown(usual, self.font()))
            header.resizeSection(section, width)
        self._sorted.sort(HEAD, Qt.SortOrder.AscendingOrder)
        header.setSortIndicator(HEAD, Qt.SortOrder.AscendingOrder)
        self._following = False

    def select(self, head: Head) -> None:
        """Go to the line of a head; the column stays."""
        row = self.rows.row(head)
        if row is None:
            self.clearSelection()
            return
        column_ = max(0, self.currentIndex().column())
        index = self._sorted.mapFromSource(self.rows.index(row, column_))
        if index.row() != self.currentIndex().row():
            self._following = True
            self.setCurrentIndex(index)
            self._following = False

    def sort_by(self, section: int) -> None:
        """Sort by a column; by the same one again, the other way round."""
        falling = Qt.SortOrder.DescendingOrder
        usual = Qt.SortOrder.AscendingOrder if section == HEAD else falling
        header, order = self.horizontalHeader(), usual
        if self._sorted.sortColumn() == section and self._sorted.sortOrder() == usual:
            order = Qt.SortOrder.AscendingOrder if usual is falling else falling
        self._sorted.sort(section, order)
        header.setSortIndicator(section, order)
        self.scrollTo(self.currentIndex())

    @property
    def order(self) -> list[MeasuredHead]:
        """The heads as they are sorted now."""
        rows = range(self._sorted.rowCount())
        sources = [self._sorted.mapToSource(self._sorted.index(row, 0)) for row in rows]
        return [self.rows.measured(index.row()) for index in sources]

    def apply_theme(self, theme: Theme) -> None:
        self.setStyleSheet(
            f"QTableView {{ background: {theme.paper}; outline: none;"
            f" selection-background-color: {theme.accent_soft}; selection-color: {theme.ink}; }}"
            f"QTableView::item {{ padding: 0 6px; border: none; }}"
            f"QTableView::item:focus {{ border-bottom: 2px solid {theme.accent}; }}"
            f"QHeaderView {{ background: {theme.chrome}; border: none; }}"
            f"QHeaderView::section {{ background: {theme.chrome}; color: {theme.soft};"
            f" padding: {GRID}px {GRID + 2}px; border: none;"
            f" border-bottom: 1px solid {theme.line}; }}"
        )
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_S if not event.modifiers():
                self.sort_by(max(0, self.currentIndex().column()))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.evidenceWanted.emit()
            case key if key in _MOVES:
                super().keyPressEvent(event)
                event.accept()  # at the edge as well
            case _:
                event.ignore()  # a table would search for what is typed

    def _on_current(self, index: QModelIndex) -> None:
        if index.isValid() and not self._following:
            self.chosen.emit(self.rows.measured(self._sorted.mapToSource(index).row()).head)


def _alignment(section: int) -> Qt.AlignmentFlag:
    left = section < FIRST_NUMBER
    side = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
