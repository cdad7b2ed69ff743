"""About, the cheat sheet of shortcuts, the log, and the report of an unexpected error."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from transformer_viz.drawing.theme import GRID
from transformer_viz.state.session import ModelInfo
from transformer_viz.widgets.style import set_role

_COLUMNS = 3  # of the sheet of shortcuts
LICENCE = "Transformer Viz is free software under the MIT licence."
PAPER = (
    "The model is the Transformer of Vaswani et al., “Attention Is All You Need”, 2017. "
    "Attention shows where a head looks, not by itself why the model decides."
)
WORKS_OF_OTHERS = (
    "The model demo-en-de was also trained on sentence pairs from Tatoeba (tatoeba.org), by its "
    "contributors, CC BY 2.0 FR; on texts of the European Parliament, the Statistisches "
    "Bundesamt and the United Nations; on the Open Source Guides (opensource.guide), CC BY 4.0; on "
    "texts of the Corona-Warn-App, Apache 2.0; and on sentences of Wikipedia, CC BY-SA. All terms: "
    "resources/THIRD-PARTY.md."
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

    def add_close(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        self.column.addWidget(buttons)
        return buttons


class CopyableText(Dialog):
    """A text to read and to copy."""

    def __init__(self, title: str, text: str, name: str, parent: QWidget | None) -> None:
        super().__init__(title, parent)
        self.text = QPlainTextEdit(text, self)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(name)
        self.text.setMinimumSize(140 * GRID, 60 * GRID)
        self.column.addWidget(self.text, 1)
        self.buttons = self.add_close()
        copy = self.buttons.addButton("&Copy", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))


class ErrorReport(CopyableText):
    """Shows an unexpected error with details to copy; nothing is sent."""

    def __init__(self, summary: str, details: str, parent: QWidget | None) -> None:
        super().__init__("Something went wrong", details, "Details", parent)
        self.column.insertWidget(0, _text(summary))
        self.column.insertWidget(
            1, _text("You can continue working. These details help to fix the problem:")
        )


class LogDialog(CopyableText):
    """Shows the log, newest entries last, and where its file is."""

    def __init__(self, path: Path, text: str, parent: QWidget) -> None:
        super().__init__("Log", text, "Log", parent)
        self.column.insertWidget(0, _text(str(path)))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.moveCursor(QTextCursor.MoveOperation.End)
        folder = self.buttons.addButton("Open &folder", QDialogButtonBox.ButtonRole.ActionRole)
        folder.clicked.connect(
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))
        )


def about(model: ModelInfo | None, parent: QWidget) -> QDialog:
    dialog = Dialog("About Transformer Viz", parent)
    title = _text("Transformer Viz")
    set_role(title, "title")
    dialog.column.addWidget(title)
    for paragraph in (
        "Every attention head of a translating Transformer, live.",
        PAPER,
        WORKS_OF_OTHERS,
        *(_provenance(model) if model is not None else ()),
        LICENCE,
    ):
        label = _text(paragraph)
        label.setMinimumWidth(110 * GRID)
        dialog.column.addWidget(label)
    dialog.add_close()
    return dialog


def shortcuts(groups: Mapping[str, Sequence[tuple[str, str]]], parent: QWidget) -> QDialog:
    """Lay out shortcuts in columns of one height; `groups` has titles, and for each what is done by
    which keys."""
    dialog = Dialog("Keyboard shortcuts", parent)
    sheet = QWidget()
    row = QHBoxLayout(sheet)
    row.setContentsMargins(0, 0, 3 * GRID, 0)
    row.setSpacing(8 * GRID)
    share = sum(len(group) + 2 for group in groups.values()) / _COLUMNS
    used = math.inf
    for title, group in groups.items():
        if used + len(group) / 2 > share:
            grid = QGridLayout()
            grid.setHorizontalSpacing(4 * GRID)
            grid.setVerticalSpacing(GRID)
            grid.setAlignment(Qt.AlignmentFlag.AlignTop)
            row.addLayout(grid)
            used = 0
        _add_group(grid, title, group)
        used += len(group) + 2
    scroll = QScrollArea()
    scroll.setWidget(sheet)
    scroll.setAccessibleName("Keyboard shortcuts")
    scroll.setFrameShape(QScrollArea.Shape.NoFrame)
    dialog.column.addWidget(scroll, 1)
    dialog.add_close()
    room = parent.size() * 0.9
    dialog.resize(
        min(sheet.sizeHint().width() + 14 * GRID, room.width()),
        min(sheet.sizeHint().height() + 24 * GRID, room.height()),
    )
    return dialog


def _add_group(grid: QGridLayout, title: str, rows: Sequence[tuple[str, str]]) -> None:
    heading = _text(title)
    set_role(heading, "title")
    line = grid.rowCount()
    grid.addWidget(heading, line, 0, 1, 2)
    for number, (command, keys) in enumerate(rows, start=line + 1):
        shown = _text(keys)
        set_role(shown, "soft")
        for column, label in enumerate((_text(command), shown)):
            label.setWordWrap(False)
            grid.addWidget(label, number, column)
    grid.setRowMinimumHeight(grid.rowCount(), 2 * GRID)


def _provenance(model: ModelInfo) -> list[str]:
    """What the checkpoint itself says of where it comes from, its data and licences."""
    said = []
    for key in ("source", "data", "licence", "attribution"):
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
