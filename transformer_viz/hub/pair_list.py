"""The pairs of languages that the hub has models for, found by any part of their names."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from core.remote.pairs import PAIRS, repository_of
from transformer_viz.drawing.theme import GRID, Theme

COLUMNS = ("From", "To", "Model", "")
FROM, TO, MODEL, STATE = range(len(COLUMNS))
HERE = "downloaded"
_REPOSITORY = Qt.ItemDataRole.UserRole


class PairList(QTreeWidget):
    """Lists models, one per row; a typed name that is not in the list can be a model too."""

    chosen = Signal(str)  # repository
    activatedRow = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Translation models")
        self.setHeaderLabels(COLUMNS)
        self.setRootIsDecorated(False)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self.header()
        header.setSectionsMovable(False)
        header.setSectionResizeMode(MODEL, QHeaderView.ResizeMode.Stretch)
        header.setStretchLastSection(False)
        self._rows = [
            self._row(pair.repository, pair.source, pair.target) for pair in PAIRS.values()
        ]
        self._other = self._row("", "another model", "")
        for column, width in ((FROM, 42), (TO, 42), (STATE, 24)):
            self.setColumnWidth(column, width * GRID)
        self.filter("")
        self.currentItemChanged.connect(self._on_current)
        self.itemActivated.connect(lambda _item: self.activatedRow.emit())

    @property
    def repository(self) -> str:
        """The repository of the current row; empty without one."""
        item = self.currentItem()
        return "" if item is None else str(item.data(MODEL, _REPOSITORY))

    def filter(self, text: str) -> None:
        """Show the rows in which each word stands, and the model that is named, if one is."""
        words = text.lower().split()
        known = False
        for item in self._rows:
            repository = str(item.data(MODEL, _REPOSITORY))
            place = f"{item.text(FROM)} {item.text(TO)} {repository}".lower()
            item.setHidden(not all(word in place for word in words))
            known = known or not item.isHidden()
        named = repository_of(text.strip())
        self._other.setHidden(named is None or (known and "/" not in text))
        self._name(self._other, named or "")
        current = self.currentItem()
        if current is None or current.isHidden():
            shown = [item for item in self._all() if not item.isHidden()]
            with QSignalBlocker(self):
                if shown:
                    self.setCurrentItem(shown[0])
                else:
                    self.setCurrentIndex(QModelIndex())
        self._on_current()

    def show_here(self, repositories: Collection[str]) -> None:
        for item in self._all():
            here = item.data(MODEL, _REPOSITORY) in repositories
            item.setText(STATE, HERE if here else "")

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        current = self.currentItem()
        if current is not None:
            self.scrollToItem(current, QAbstractItemView.ScrollHint.PositionAtCenter)

    def choose(self, repository: str) -> None:
        for item in self._all():
            if item.data(MODEL, _REPOSITORY) == repository:
                self.setCurrentItem(item)
                self.scrollToItem(item)

    def apply_theme(self, theme: Theme) -> None:
        self.setStyleSheet(
            f"QTreeWidget {{ background: {theme.paper}; border: 1px solid {theme.line};"
            f" border-radius: 4px; outline: none; }}"
            f"QTreeWidget:focus {{ border-color: {theme.accent}; }}"
            f"QTreeWidget::item {{ padding: {GRID // 2}px 0; }}"
            f"QTreeWidget::item:selected {{ background: {theme.accent_soft}; color: {theme.ink}; }}"
        )

    def _row(self, repository: str, source: str, target: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem(self, [source, target, "", ""])
        self._name(item, repository)
        return item

    def _name(self, item: QTreeWidgetItem, repository: str) -> None:
        item.setData(MODEL, _REPOSITORY, repository)
        item.setText(MODEL, repository)

    def _all(self) -> list[QTreeWidgetItem]:
        return [*self._rows, self._other]

    def _on_current(self) -> None:
        self.chosen.emit(self.repository)
