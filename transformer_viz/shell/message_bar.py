"""A bar across the window that stays until it is closed: notices, or what to try next."""

import re
from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.words.wording import plain_tooltip

_MOST_LINES = 3
_PAGE = re.compile(r"user guide shows how under “(.+?)”")


class MessageBar(QFrame):
    """Shows messages; one that names a page of the user guide has a button to open it."""

    closed = Signal()
    pageWanted = Signal(str)  # a heading of the guide

    def __init__(self, name: str, color: str, parent: QWidget | None = None) -> None:
        """Make a bar; `name` is for assistive tools, `color` the theme's token of the bar's left
        edge."""
        super().__init__(parent)
        self._color = color
        self._unread: list[tuple[str, str]] = []  # text, and what it is about
        self.setObjectName("message_bar")
        self.setAccessibleName(name)
        self._text = QLabel(self)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._text.setMinimumWidth(1)  # the longest word does not widen the window
        self.page = QPushButton("Show how", self)
        self.page.clicked.connect(lambda: self.pageWanted.emit(self._named_page()))
        self.page.hide()
        self.offered: QPushButton
        self._close = QToolButton(self)
        self._close.setText("✕")
        self._close.setAccessibleName(f"Close: {name}")
        self._close.setToolTip("Close")
        self._close.clicked.connect(self.close_message)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(4 * GRID, GRID, 3 * GRID, GRID)
        row.addWidget(self._text)
        row.addWidget(self.page)
        row.addWidget(self._close)
        self.hide()

    @property
    def text(self) -> str:
        return self._text.text()

    def offer(self, text: str, run: Callable[[], object]) -> None:
        """Put a button beside every message."""
        self.offered = QPushButton(text, self)
        self.offered.clicked.connect(lambda: run())
        self._row.insertWidget(self._row.indexOf(self._close), self.offered)

    def show_message(self, text: str, about: str = "") -> None:
        """Show a line; more of them while the first is unread are added to it, up to three."""
        unread = [] if self.isHidden() else self._unread
        if (text, about) not in unread:
            unread = [*unread, (text, about)]
        self._show(unread[-_MOST_LINES:])

    def withdraw(self, about: str) -> None:
        """Take out what is about this; the bar goes with its last line."""
        if not self.isHidden():
            self._show([line for line in self._unread if line[1] != about])

    def _show(self, unread: list[tuple[str, str]]) -> None:
        self._unread = unread
        self._text.setText("\n".join(text for text, _about in unread))
        page = self._named_page()
        self.page.setVisible(bool(page))
        self.page.setAccessibleName(f"Show how: user guide, {page}")
        self.page.setToolTip(plain_tooltip(f"Open the user guide at “{page}”"))
        self.setVisible(bool(unread))

    def _named_page(self) -> str:
        """The one that the last message names."""
        named: list[str] = _PAGE.findall(self.text)
        return named[-1] if named else ""

    def close_message(self) -> None:
        self.hide()
        self.closed.emit()

    def apply_theme(self, theme: Theme) -> None:
        edge = getattr(theme, self._color)
        self.setStyleSheet(
            f"#message_bar {{ background: {theme.accent_soft}; border: none;"
            f" border-left: 4px solid {edge}; }}"
            f"#message_bar QToolButton {{ border: none; background: transparent;"
            f" color: {theme.soft}; padding: 2px 6px; }}"
            f"#message_bar QToolButton:hover, #message_bar QToolButton:focus"
            f" {{ color: {theme.ink}; background: {theme.paper}; }}"
        )
