"""About, the cheat sheet of shortcuts, and the report of an unexpected error."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from transformer_viz.session import ModelInfo
from transformer_viz.theme import GRID, set_role

LICENCE = "Transformer Viz is free software under the MIT licence."
PAPER = (
    "The model is the Transformer of Vaswani et al., “Attention Is All You Need”, 2017. "
    "Attention shows where a head looks, not by itself why the model decides."
)
TATOEBA = (
    "The model demo-en-de was also trained on sentence pairs of Tatoeba (tatoeba.org), "
    "by its contributors, CC BY 2.0 FR."
)


class Dialog(QDialog):
    """A column of paragraphs that closes with Esc."""

    def __init__(self, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(5 * GRID, 5 * GRID, 5 * GRID, 4 * GRID)
        self.column.setSpacing(3 * GRID)

    def add_close(self) -> None:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        self.column.addWidget(buttons)


class ErrorReport(Dialog):
    """An error that is ours: what it is, and the details to copy; nothing is sent."""

    def __init__(self, summary: str, details: str, parent: QWidget | None) -> None:
        super().__init__("Something went wrong", parent)
        self.column.addWidget(_text(summary))
        self.column.addWidget(_text("You can go on working. These details help to mend it:"))
        text = QPlainTextEdit(details, self)
        text.setReadOnly(True)
        text.setAccessibleName("Details")
        text.setMinimumSize(140 * GRID, 60 * GRID)
        self.column.addWidget(text)
        self.add_close()


def about(model: ModelInfo | None, parent: QWidget) -> QDialog:
    dialog = Dialog("About Transformer Viz", parent)
    title = _text("Transformer Viz")
    set_role(title, "title")
    dialog.column.addWidget(title)
    for paragraph in (
        "Every attention head of a Transformer that translates, live.",
        PAPER,
        TATOEBA,
        *(_provenance(model) if model is not None else ()),
        LICENCE,
    ):
        label = _text(paragraph)
        label.setMinimumWidth(110 * GRID)
        dialog.column.addWidget(label)
    dialog.add_close()
    return dialog


def shortcuts(rows: Sequence[tuple[str, str]], parent: QWidget) -> QDialog:
    """`rows` of command and keys."""
    dialog = Dialog("Keyboard shortcuts", parent)
    grid = QGridLayout()
    grid.setHorizontalSpacing(6 * GRID)
    grid.setVerticalSpacing(GRID)
    for line, (command, keys) in enumerate(rows):
        shown = _text(keys)
        set_role(shown, "soft")
        for column, label in enumerate((_text(command), shown)):
            label.setWordWrap(False)
            grid.addWidget(label, line, column)
    dialog.column.addLayout(grid)
    dialog.add_close()
    return dialog


def _provenance(model: ModelInfo) -> list[str]:
    """What the checkpoint itself says of its data and licences."""
    said = []
    for key in ("data", "licence", "attribution"):
        value = model.provenance.get(key)
        if isinstance(value, str):
            said.append(f"{model.name}, {key}: {value}")
        elif isinstance(value, list):
            said.append(f"{model.name}, {key}: {'; '.join(map(str, value))}")
    return said


def _text(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setMaximumWidth(130 * GRID)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
