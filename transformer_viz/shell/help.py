"""The guide that comes with the program: one page, with its contents and a search; no network."""

from importlib.resources import files

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTextBrowser,
    QWidget,
)

from transformer_viz.drawing.theme import GRID
from transformer_viz.widgets.dialogs import Dialog
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel

SIZE = (220 * GRID, 160 * GRID)
CONTENTS_WIDTH = 58 * GRID
_POSITION = Qt.ItemDataRole.UserRole


def guide() -> str:
    return (files("resources") / "help.md").read_text(encoding="utf-8")


class HelpDialog(Dialog):
    """The guide in a window of its own; the main window stays usable."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("User guide", parent)
        self.setModal(False)
        self.text = QTextBrowser()
        self.text.setAccessibleName("User guide")
        self.text.setOpenLinks(False)
        self.text.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.text.document().setDocumentMargin(4 * GRID)
        self.text.setMarkdown(guide())
        self.contents = QListWidget()
        self.contents.setAccessibleName("Contents")
        self.contents.setFrameShape(QListWidget.Shape.NoFrame)
        self.contents.setSpacing(GRID // 2)
        self.contents.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.contents.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find in the guide…")
        self.search.setAccessibleName("Find in the guide")
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumHeight(8 * GRID)
        self.search.setTextMargins(GRID, 0, GRID, 0)
        self._found = PlainLabel()
        set_role(self._found, "soft")
        self._fill_contents()
        self._lay_out()
        self.search.textChanged.connect(self._find_first)
        self.search.returnPressed.connect(self._find_next)
        self.contents.currentItemChanged.connect(self._go_to)
        QShortcut(QKeySequence.StandardKey.Find, self, self.search.setFocus)
        self.search.setFocus()

    def show_page(self, heading: str) -> None:
        """Go to the part that has this heading."""
        for row in range(self.contents.count()):
            if self.contents.item(row).text().strip() == heading:
                self.contents.setCurrentRow(row)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(3 * GRID)
        row.addWidget(self.search, 1)
        row.addWidget(self._found)
        pages = QSplitter(Qt.Orientation.Horizontal)
        pages.setHandleWidth(1)
        pages.addWidget(self.contents)
        pages.addWidget(self.text)
        pages.setStretchFactor(1, 1)
        pages.setSizes([CONTENTS_WIDTH, SIZE[0] - CONTENTS_WIDTH])
        self.column.addLayout(row)
        self.column.addWidget(pages, 1)
        self.add_close()
        self.resize(*SIZE)

    def _fill_contents(self) -> None:
        block = self.text.document().begin()
        while block.isValid():
            level = block.blockFormat().headingLevel()
            if level in (2, 3):
                item = QListWidgetItem("   " * (level - 2) + block.text())
                item.setData(_POSITION, block.position())
                self.contents.addItem(item)
            block = block.next()

    def _go_to(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self.text.setTextCursor(cursor)  # from below, so that the heading comes to the top
        cursor.setPosition(item.data(_POSITION))
        self.text.setTextCursor(cursor)

    def _find_first(self, words: str) -> None:
        self.text.moveCursor(QTextCursor.MoveOperation.Start)
        self._show_found(not words or self.text.find(words))

    def _find_next(self) -> None:
        words = self.search.text()
        if words and not self.text.find(words):
            self._find_first(words)

    def _show_found(self, found: bool) -> None:
        self._found.setText("" if found else "not found")
