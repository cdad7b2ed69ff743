"""Translations of the same sentences at each validation, with what has changed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QSizePolicy,
    QStackedLayout,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.training.marked_text import CHANGED, MarkedTexts
from transformer_viz.training.run import Run
from transformer_viz.training.sample_table import Sample, SampleTable
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_size import set_height

Index = QModelIndex | QPersistentModelIndex
_NEWEST = "newest"
_BY_STEP, _BY_SENTENCE = range(2)
_COLUMNS = (("Source", "Translation", "Reference"), ("Step", "Translation", "Reference"))
_TRANSLATION = 1
_NARROW = 22 * GRID


class Samples(Panel):
    """Shows all sentences at one step, or one sentence at all steps; Ctrl+C copies a row."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run: Run | None = None
        self._table = SampleTable(())
        self._outdated = True
        set_role(self, "paper")
        self.order = _chooser("Sample rows")
        self.order.addItem("All sentences at one step")
        self.order.addItem("One sentence at all steps")
        self.choice = _chooser("Step or sentence")
        self.choice.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.choice.setMaximumWidth(140 * GRID)
        self.about = QLabel()
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.about, "soft")
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        for control in (self.order, self.choice):
            set_height(control, 7 * GRID)
        row.addWidget(self.order)
        row.addWidget(self.choice, 1)
        row.addWidget(self.about)
        row.addStretch(0)

        self.model = _Model(self)
        self.view = _table_view(self.model)
        # when all columns have their new width
        heights = QTimer(self, singleShot=True, interval=0)
        heights.timeout.connect(self.view.resizeRowsToContents)
        self.view.horizontalHeader().sectionResized.connect(lambda *_: heights.start())
        self._texts = MarkedTexts(self.view)
        self.view.setItemDelegate(self._texts)
        copy = QShortcut(QKeySequence.StandardKey.Copy, self.view, self._copy)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        self.placeholder = Placeholder()
        pages = QWidget()
        self._pages = QStackedLayout(pages)
        for page in (self.view, self.placeholder):
            self._pages.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * GRID, 2 * GRID, 4 * GRID, 2 * GRID)
        column.setSpacing(2 * GRID)
        column.addLayout(row)
        column.addWidget(pages, 1)
        self.order.currentIndexChanged.connect(self._fill_choice)
        self.choice.activated.connect(self._fill_rows)

    def focus_part(self) -> QWidget:
        return self.view if self.view.isVisible() else self.order

    def show_runs(self, runs: Sequence[Run]) -> None:
        """Show the first of these."""
        if self._run is not None:
            self._run.samplesChanged.disconnect(self.invalidate)
        self._run = runs[0] if runs else None
        if self._run is not None:
            self._run.samplesChanged.connect(self.invalidate)
        self.choice.clear()
        self.invalidate()

    def apply_theme(self, theme: Theme) -> None:
        self._texts.theme = theme
        self.view.viewport().update()

    def invalidate(self) -> None:
        self._outdated = True
        if self.isVisible():
            self._refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._outdated:
            self._refresh()

    def _refresh(self) -> None:
        self._outdated = False
        self._table = SampleTable(self._run.samples if self._run is not None else ())
        self._pages.setCurrentWidget(self.view if self._table.steps else self.placeholder)
        if self._run is None:
            self.placeholder.say("No run selected", "Select a run in the list to see its samples.")
        else:
            self.placeholder.say(
                "No samples yet", "The first translations appear at the first validation."
            )
        self._fill_choice()

    def _fill_choice(self) -> None:
        """Keep what is chosen; a step that is the newest one stays the newest."""
        chosen = self.choice.currentData()
        self.choice.clear()
        if self.order.currentIndex() == _BY_STEP:
            steps = self._table.steps
            if steps:
                self.choice.addItem(f"newest: step {steps[-1]:,}", _NEWEST)
            for step in reversed(steps[:-1]):
                self.choice.addItem(f"step {step:,}", step)
        else:
            for source in self._table.sources:
                self.choice.addItem(source, source)
        self.choice.setCurrentIndex(max(0, self.choice.findData(chosen)))
        for control in (self.order, self.choice):
            control.setEnabled(self.choice.count() > 0)
        self._fill_rows()

    def _fill_rows(self) -> None:
        chosen, order, table = self.choice.currentData(), self.order.currentIndex(), self._table
        if chosen is None:
            rows = []
        elif order == _BY_STEP:
            rows = table.at(table.steps[-1] if chosen == _NEWEST else chosen)
        else:
            rows = table.of(chosen)
        self.model.show(rows, order)
        header = self.view.horizontalHeader()
        narrow = order == _BY_SENTENCE
        mode = QHeaderView.ResizeMode
        header.setSectionResizeMode(0, mode.Fixed if narrow else mode.Stretch)
        if narrow:
            header.resizeSection(0, _NARROW)
        self.view.resizeRowsToContents()
        if rows and self.view.currentIndex().row() < 0:
            self.view.setCurrentIndex(self.model.index(0, _TRANSLATION))
        self.about.setText(_about(rows, order))

    def _copy(self) -> None:
        row = self.view.currentIndex().row()
        if row >= 0:
            QApplication.clipboard().setText(self.model.line(row))


class _Model(QAbstractTableModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._rows: list[Sample] = []
        self._order = _BY_STEP

    def show(self, rows: list[Sample], order: int) -> None:
        self.beginResetModel()
        self._rows, self._order = rows, order
        self.endResetModel()

    def line(self, row: int) -> str:
        """Step, source, translation and references, with tabs between them."""
        one = self._rows[row]
        return "\t".join((str(one.step), one.source, one.translation, *one.references))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - as Qt has it
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(_COLUMNS[self._order])

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if role == Qt.ItemDataRole.DisplayRole and orientation is Qt.Orientation.Horizontal:
            return _COLUMNS[self._order][section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        sample, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            first = sample.source if self._order == _BY_STEP else f"{sample.step:,}"
            exact = " ✓" if sample.exact else ""
            return (first, sample.translation + exact, "\n".join(sample.references))[column]
        if role == CHANGED and column == _TRANSLATION:
            return sample.changed
        if role == Qt.ItemDataRole.AccessibleTextRole and column == _TRANSLATION:
            return _in_words(sample)
        return None


def _in_words(sample: Sample) -> str:
    new = ", ".join(sample.translation[start:end] for start, end in sample.changed)
    exact = "; matches the reference" if sample.exact else ""
    return f"{sample.translation}{exact}" + (f"; new: {new}" if new else "")


def _about(rows: list[Sample], order: int) -> str:
    """What the marks and the ✓ say."""
    if not rows:
        return ""
    exact = sum(sample.exact for sample in rows)
    since = rows[0].before if order == _BY_STEP else None
    if order == _BY_STEP and since is None:
        marked = ""
    else:
        marked = f"marked: new since step {since:,} · " if since is not None else "marked: new · "
    return f"{marked}✓ matches the reference: {exact} of {len(rows)}"


def _chooser(name: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.view().setAccessibleName(name)
    return box


def _table_view(model: QAbstractTableModel) -> QTableView:
    view = QTableView()
    view.setModel(model)
    view.setAccessibleName("Sample translations")
    view.setFrameShape(QTableView.Shape.NoFrame)
    view.setShowGrid(False)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setTabKeyNavigation(False)
    view.verticalHeader().hide()
    view.setMinimumSize(QSize(60 * GRID, 20 * GRID))
    header = view.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    header.setHighlightSections(False)
    return view
