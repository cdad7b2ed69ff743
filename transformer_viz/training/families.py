"""Which kinds of sentences of the generated corpus a run learns from."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from core.corpus.grammar.registry import FAMILIES
from transformer_viz.drawing.theme import GRID
from transformer_viz.widgets.style import set_role
from transformer_viz.words.wording import plain_tooltip

_SIZE = (72 * GRID, 120 * GRID)


class FamiliesButton(QPushButton):
    """A button that names the chosen families and opens a list to change them."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoDefault(False)
        self.setAccessibleName("Sentence families of the generated corpus")
        self.clicked.connect(self._ask)
        self._families: tuple[str, ...] = ()
        self._show()

    @property
    def families(self) -> tuple[str, ...]:
        """The chosen families; empty for all, as `TrainingConfig.grammar_families` has it."""
        return self._families

    def set_families(self, families: Sequence[str]) -> None:
        chosen = tuple(name for name in FAMILIES if name in families)
        chosen = () if len(chosen) == len(FAMILIES) else chosen
        if chosen != self._families:
            self._families = chosen
            self._show()
            self.changed.emit()

    def _show(self) -> None:
        count = len(self._families)
        names = ", ".join(self._families)
        self.setText(f"{count} of {len(FAMILIES)} &families…" if count else "All &families…")
        self.setToolTip(plain_tooltip(names or ", ".join(FAMILIES)))

    def _ask(self) -> None:
        dialog = FamiliesDialog(self._families or tuple(FAMILIES), self)
        dialog.accepted.connect(lambda: self.set_families(dialog.chosen))
        dialog.open()


class FamiliesDialog(QDialog):
    def __init__(self, chosen: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Sentence families of the generated corpus")
        about = QLabel(
            "Kinds of sentences. “coreference” contains the sentences in which “it” is ambiguous."
        )
        about.setWordWrap(True)
        set_role(about, "soft")
        self.list = QListWidget()
        self.list.setAccessibleName("Families")
        for name in FAMILIES:
            item = QListWidgetItem(name, self.list)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(_state(name in chosen))
        self.list.setCurrentRow(0)
        self.list.itemChanged.connect(self._enable)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.ok = buttons.button(QDialogButtonBox.StandardButton.Ok)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        for text, checked in (("&All", True), ("&None", False)):
            button = buttons.addButton(text, QDialogButtonBox.ButtonRole.ActionRole)
            button.clicked.connect(lambda _=False, checked=checked: self._set_all(checked))
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * GRID, 4 * GRID, 4 * GRID, 4 * GRID)
        column.setSpacing(3 * GRID)
        column.addWidget(about)
        column.addWidget(self.list, 1)
        column.addWidget(buttons)
        self.resize(*_SIZE)

    @property
    def chosen(self) -> tuple[str, ...]:
        items = (self.list.item(row) for row in range(self.list.count()))
        return tuple(item.text() for item in items if item.checkState() is Qt.CheckState.Checked)

    def _set_all(self, checked: bool) -> None:
        for row in range(self.list.count()):
            self.list.item(row).setCheckState(_state(checked))

    def _enable(self) -> None:
        self.ok.setEnabled(bool(self.chosen))


def _state(checked: bool) -> Qt.CheckState:
    return Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked
