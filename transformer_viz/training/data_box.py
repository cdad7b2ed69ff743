"""What a run learns from: the generated corpus, files, or both, and what it is validated on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from core.corpus.spec import files_of
from core.errors import UserError
from core.files import is_file
from core.training.config import GRAMMAR, TrainingConfig
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.training.families import FamiliesButton
from transformer_viz.widgets.list_style import list_style
from transformer_viz.widgets.style import set_role
from transformer_viz.words.wording import plain_tooltip

TABLES = "Sentence pairs (*.tsv *.tmx *.txt *.gz *.bz2 *.xz *.zip);;All files (*)"
_SPEC = Qt.ItemDataRole.UserRole
_LIST_HEIGHT = 16 * GRID


class DataBox(QWidget):
    """The fields for training data and validation data, as `TrainingConfig.data` and `.validation`
    name them."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.grammar = QCheckBox("&Generated corpus with known structure")
        self.families = FamiliesButton()
        self.grammar.toggled.connect(self.families.setEnabled)
        self.grammar.toggled.connect(self.changed)
        self.families.changed.connect(self.changed)
        self.training = FileList("Files to train on")
        self.validation = FileList("Files to validate on")
        self.error = QLabel()
        self.error.setTextFormat(Qt.TextFormat.PlainText)
        self.error.setWordWrap(True)
        set_role(self.error, "error")
        self.error.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        row = QHBoxLayout()
        row.addWidget(self.grammar)
        row.addStretch(1)
        row.addWidget(self.families)
        column.addLayout(row)
        column.addWidget(self.training)
        column.addWidget(self.validation)
        column.addWidget(self.error)
        self.validation.set_hint("None. Part of the training data is held out for validation.")
        self.training.set_hint("None. Add one table of pairs or two aligned files.")
        for files in (self.training, self.validation):
            files.changed.connect(self.changed)

    @property
    def data(self) -> tuple[str, ...]:
        return (*((GRAMMAR,) if self.grammar.isChecked() else ()), *self.training.specs)

    def set_data(self, config: TrainingConfig) -> None:
        self.grammar.setChecked(GRAMMAR in config.data)
        self.families.set_families(config.grammar_families)
        self.training.set_specs([spec for spec in config.data if spec != GRAMMAR])
        self.validation.set_specs(config.validation)

    def settings(self) -> dict[str, Any]:
        """The fields of `TrainingConfig` that are chosen here."""
        chosen: dict[str, Any] = {
            "validation": self.validation.specs,
            "grammar_families": self.families.families,
        }
        return {**chosen, "data": self.data} if self.data else chosen

    def problem(self) -> str:
        """One sentence if these data cannot be used, as far as a look at the names tells."""
        if not self.data:
            return "Choose the generated corpus or add files to train on."
        for spec in (*self.training.specs, *self.validation.specs):
            try:
                missing = next((path for path in files_of(spec) if not is_file(path)), None)
            except UserError as error:
                return str(error)
            if missing is not None:
                return f"{missing} was not found; remove it from the list."
        return ""

    def apply_theme(self, theme: Theme) -> None:
        for files in (self.training, self.validation):
            files.list.setStyleSheet(list_style(theme))

    def show_problem(self, message: str) -> None:
        self.error.setText(message)
        self.error.setVisible(bool(message))


class FileList(QWidget):
    """A list of files "TABLE" or "SOURCE,TARGET"; Del removes the current one."""

    changed = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = QListWidget()
        self.list.setAccessibleName(name)
        self.list.setFixedHeight(_LIST_HEIGHT)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.installEventFilter(self)
        self._hint = QLabel(self.list)
        self._hint.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        self._hint.setWordWrap(True)
        set_role(self._hint, "faint")
        self._folder = ""
        self.table = _button(
            "Add table…", "Add a table with two columns, source and target, separated by a tab"
        )
        self.pair = _button(
            "Add two files…",
            "Add two files; line n of one is the translation of line n of the other",
        )
        self.remove = _button("Remove", "Remove the current file from the list (Del)")
        self.table.clicked.connect(self._ask_for_table)
        self.pair.clicked.connect(self._ask_for_pair)
        self.remove.clicked.connect(self._remove)
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        caption = QLabel(name)
        set_role(caption, "soft")
        caption.setBuddy(self.list)
        row.addWidget(caption)
        row.addStretch(1)
        for button in (self.table, self.pair, self.remove):
            button.setAccessibleName(f"{name}: {button.text().removesuffix('…')}")
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addLayout(row)
        column.addWidget(self.list)
        self._show()

    @property
    def specs(self) -> tuple[str, ...]:
        return tuple(self.list.item(row).data(_SPEC) for row in range(self.list.count()))

    def set_specs(self, specs: Sequence[str]) -> None:
        self.list.clear()
        for spec in specs:
            item = QListWidgetItem(spec.replace(",", "  ·  "), self.list)
            item.setData(_SPEC, spec)
            item.setToolTip(plain_tooltip(spec.replace(",", "\n")))
        self._show()
        self.changed.emit()

    def add(self, spec: str) -> None:
        if spec not in self.specs:
            self.set_specs([*self.specs, spec])
            self.list.setCurrentRow(self.list.count() - 1)

    def set_hint(self, text: str) -> None:
        self._hint.setText(text)

    def resizeEvent(self, event: QEvent) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._hint.setFixedWidth(self.list.width())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            event.type() is QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
        ):
            self._remove()
            return True
        return super().eventFilter(watched, event)

    def _show(self) -> None:
        self._hint.setVisible(self.list.count() == 0)
        self.remove.setEnabled(self.list.count() > 0)

    def _remove(self) -> None:
        row = self.list.currentRow() if self.list.currentRow() >= 0 else self.list.count() - 1
        self.set_specs([spec for at, spec in enumerate(self.specs) if at != row])

    def _ask_for_table(self) -> None:
        path = self._ask("Choose a table of source and target sentences", TABLES)
        if path:
            self.add(path)

    def _ask_for_pair(self) -> None:
        source = self._ask("Choose the source sentences (English), one per line", "All files (*)")
        target = self._ask("Choose their translations (German), one per line", "All files (*)")
        if source and target:
            self.add(f"{source},{target}")

    def _ask(self, title: str, filter_: str) -> str:
        path, _ = QFileDialog.getOpenFileName(self, title, self._folder, filter_)
        if path:
            self._folder = str(Path(path).parent)
        return path


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setAutoDefault(False)
    return button
