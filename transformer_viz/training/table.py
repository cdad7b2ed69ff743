"""The list of runs: a line each, with state, progress and the newest scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from transformer_viz.drawing.theme import GRID, LIGHT, Theme, taller
from transformer_viz.training.run import Run, RunState
from transformer_viz.training.runs import Runs
from transformer_viz.widgets.text_size import set_font
from transformer_viz.words.training_wording import duration
from transformer_viz.words.wording import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
COLUMNS = ("Run", "State", "Progress", "Left", "Loss", "BLEU")
_WIDTHS = (140, 92, 124, 84, 64, 60)
_PROGRESS = COLUMNS.index("Progress")
_TIPS = {
    "Left": "Time left at the speed of the last logged steps, not counting validation",
    "Loss": "Validation loss: mean −log p per target token, unsmoothed",
    "BLEU": "BLEU at the last validation",
}
_ROW = 7 * GRID
_SHARE = Qt.ItemDataRole.UserRole
_WORDS = {
    RunState.FAILED: "error",
    RunState.INTERRUPTED: "warning",
    RunState.PAUSED: "warning",
    RunState.RUNNING: "accent",
}


class RunsModel(QAbstractTableModel):
    def __init__(self, runs: Runs, parent: QWidget) -> None:
        super().__init__(parent)
        self._source = runs
        self._runs: list[Run] = []
        self.theme: Theme = LIGHT
        runs.changed.connect(self._reset)
        self._reset()

    def run(self, row: int) -> Run:
        return self._runs[row]

    def row(self, run: Run) -> int | None:
        return self._runs.index(run) if run in self._runs else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._runs)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is Qt.Orientation.Vertical:
            return None
        name = COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _TIPS.get(name)
        return name if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        run, column = self._runs[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return _text(run, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(run.message or str(run.path))
        if role == Qt.ItemDataRole.ForegroundRole and column == 1 and run.state in _WORDS:
            return self.theme.color(_WORDS[run.state])
        if role == _SHARE and column == _PROGRESS:
            return run.step / run.steps if run.steps else 0.0
        return None

    def _reset(self) -> None:
        self.beginResetModel()
        before, self._runs = self._runs, list(self._source)
        for run in self._runs:
            if run not in before:
                run.changed.connect(partial(self._on_changed, run))
        self.endResetModel()

    def _on_changed(self, run: Run) -> None:
        row = self.row(run)
        if row is not None:
            self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))


class RunsTable(QTableView):
    def __init__(self, runs: Runs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Runs")
        self.rows = RunsModel(runs, self)
        self.setModel(self.rows)
        set_font(self, 1.0)
        self._bar = _Progress(self)
        self.setItemDelegateForColumn(_PROGRESS, self._bar)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(taller(_ROW, self.font()))
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(40)
        for column, width in enumerate(_WIDTHS[1:], start=1):
            header.resizeSection(column, width)

    def sizeHint(self) -> QSize:
        return QSize(sum(_WIDTHS) + 2 * GRID, 6 * taller(_ROW, self.font()))

    @property
    def selected(self) -> list[Run]:
        """The current one first."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        current = self.currentIndex().row()
        rows.sort(key=lambda row: row != current)
        return [self.rows.run(row) for row in rows]

    def select(self, runs: Sequence[Run]) -> None:
        """Select the lines of these runs alone, whichever keys are held; the first one becomes the
        current line."""
        rows = [row for row in map(self.rows.row, runs) if row is not None]
        chosen = QItemSelection()
        for row in rows:
            chosen.select(self.rows.index(row, 0), self.rows.index(row, len(COLUMNS) - 1))
        flags = QItemSelectionModel.SelectionFlag
        if rows:
            current = self.rows.index(rows[0], 0)
            self.selectionModel().setCurrentIndex(current, flags.NoUpdate)
        self.selectionModel().select(chosen, flags.ClearAndSelect)

    def apply_theme(self, theme: Theme) -> None:
        self.rows.theme = self._bar.theme = theme
        self.setStyleSheet(
            f"QTableView {{ background: {theme.paper}; outline: none;"
            f" selection-background-color: {theme.accent_soft}; selection-color: {theme.ink}; }}"
            f"QTableView::item {{ padding: 0 5px; border: none; }}"
            f"QTableView::item:focus {{ border-left: 3px solid {theme.accent};"
            f" padding-left: 2px; }}"
            f"QHeaderView {{ background: {theme.chrome}; border: none; }}"
            f"QHeaderView::section {{ background: {theme.chrome}; color: {theme.soft};"
            f" padding: {GRID}px {2 * GRID}px; border: none;"
            f" border-bottom: 1px solid {theme.line}; }}"
        )
        self.viewport().update()


class _Progress(QStyledItemDelegate):
    """A thin bar below "1,200 / 14,000"."""

    theme: Theme = LIGHT

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        area: QRect = option.rect
        bar = QRect(area.left() + 2 * GRID, area.bottom() - 3, area.width() - 4 * GRID, 2)
        painter.fillRect(bar, self.theme.color("line"))
        bar.setWidth(round(bar.width() * min(1.0, index.data(_SHARE))))
        painter.fillRect(bar, self.theme.color("accent"))


def _text(run: Run, column: int) -> str:
    match COLUMNS[column]:
        case "Run":
            return run.name
        case "State":
            return run.state
        case "Progress":
            return f"{run.step:,} / {run.steps:,}" if run.steps else ""
        case "Left":
            left = run.seconds_left if run.state.alive else None
            return "" if left is None else duration(left)
        case "Loss":
            loss = run.last("valid_loss")
            return "" if loss is None else f"{loss:.3f}"
        case _:
            bleu = run.last("bleu")
            return "" if bleu is None else f"{bleu:.1f}"


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column < 2 else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
