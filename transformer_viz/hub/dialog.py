"""The window in which a translation model is chosen, looked up, downloaded and opened."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from core.remote.pairs import PAIRS
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.hub.download import ModelDownload
from transformer_viz.hub.pair_list import PairList
from transformer_viz.widgets.style import set_role
from transformer_viz.words.training_wording import byte_size, duration

ABOUT = (
    "Transformers from the OPUS-MT project (Tiedemann and Thottingal 2020) on the Hugging Face "
    "hub. Nothing is sent over the network until you press a button here."
)
FIRST = "en-de"  # is chosen at the start
_SIZE = (176 * GRID, 140 * GRID)
_STEPS = 1000
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class GetModel(QDialog):
    """The dialog for models from the hub. Downloads continue when it is closed; models are opened
    only from here."""

    openWanted = Signal(object)  # Path of a folder

    def __init__(self, download: ModelDownload, parent: QWidget) -> None:
        super().__init__(parent)
        self._download = download
        self.setWindowTitle("Get a translation model")
        about = _text("soft")
        about.setText(ABOUT)
        self.search = QLineEdit()
        self.search.setAccessibleName("Find a language pair")
        self.search.setPlaceholderText("Languages, a pair such as en-de, or OWNER/NAME")
        self.search.setClearButtonEnabled(True)
        self.list = PairList()
        self.name = _text("title")
        self.said = _text("soft")
        self.problem = _text("error")
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(2 * GRID)
        self.bar.setAccessibleName("Download progress")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        role = QDialogButtonBox.ButtonRole.ActionRole
        self.action = self.buttons.addButton("", role)
        self.cancel = self.buttons.addButton("", role)
        for button in (self.cancel, self.buttons.button(QDialogButtonBox.StandardButton.Close)):
            button.setAutoDefault(False)  # Return is for the action, whatever is shown
        self._lay_out(about)
        self.action.setDefault(True)
        self.search.textChanged.connect(self.list.filter)
        self.list.chosen.connect(lambda _repository: self._refresh())
        self.list.activatedRow.connect(self._act)
        self.action.clicked.connect(self._act)
        self.cancel.clicked.connect(download.cancel)
        self.buttons.rejected.connect(self.reject)
        download.changed.connect(self._refresh)
        download.arrived.connect(self._on_arrived)
        self.search.setFocus()
        self.resize(*_SIZE)
        self.list.choose(PAIRS[FIRST].repository)
        self._refresh()

    def apply_theme(self, theme: Theme) -> None:
        self.list.apply_theme(theme)
        self.bar.setStyleSheet(
            f"QProgressBar {{ background: {theme.line}; border: none; border-radius: 4px; }}"
            f"QProgressBar::chunk {{ background: {theme.accent}; border-radius: 4px; }}"
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What the field has no use for goes through the list while one types."""
        if event.key() in _LIST_KEYS and self.search.hasFocus():
            self.list.event(event)
        else:
            super().keyPressEvent(event)

    def _lay_out(self, about: QLabel) -> None:
        below = QVBoxLayout()
        below.setSpacing(GRID)
        for part in (self.name, self.said, self.bar, self.problem):
            below.addWidget(part)
        below.addStretch(1)
        facts = QWidget()
        facts.setMinimumHeight(26 * GRID)
        facts.setLayout(below)
        below.setContentsMargins(0, 0, 0, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(5 * GRID, 5 * GRID, 5 * GRID, 4 * GRID)
        column.setSpacing(3 * GRID)
        column.addWidget(about)
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        column.addWidget(facts)
        column.addWidget(self.buttons)

    def _act(self) -> None:
        """What the button says."""
        download, repository = self._download, self.list.repository
        if not repository or download.running:
            return
        if repository in download.here:
            self._open(repository)
        elif repository in download.about:
            download.start(repository)
        else:
            download.ask(repository)

    def _open(self, repository: str) -> None:
        self.openWanted.emit(self._download.here[repository])
        self.accept()

    def _on_arrived(self, repository: str) -> None:
        if self.isVisible():
            self._open(repository)

    def _refresh(self) -> None:
        download = self._download
        repository = download.running or self.list.repository
        self.list.show_here(download.here)
        self.list.setEnabled(not download.running)
        self.search.setEnabled(not download.running)
        self.name.setText(repository)
        self.said.setText(self._state(repository))
        self.problem.setText(download.problems.get(repository, ""))
        self.problem.setVisible(bool(self.problem.text()))
        self.bar.setVisible(bool(download.running))
        progress = download.progress
        self.bar.setRange(0, _STEPS if progress is not None else 0)
        if progress is not None:
            self.bar.setValue(round(progress.share * _STEPS))
        self.cancel.setVisible(bool(download.running))
        self.cancel.setText("&Cancel the download" if download.downloading else "&Cancel")
        self.action.setVisible(not download.running)
        self.action.setEnabled(bool(repository))
        self.action.setText(self._button(repository))

    def _state(self, repository: str) -> str:
        download = self._download
        about, progress = download.about.get(repository), download.progress
        if not repository:
            return "No language pair matches."
        if download.downloading and progress is not None:
            left = progress.seconds_left
            time = "" if left is None else f", {duration(left)} left"
            return f"{byte_size(progress.done)} of {byte_size(progress.total)}{time}"
        if download.running:
            return "Asking the hub…"
        if repository in download.here:
            return f"Downloaded to {download.here[repository]}"
        if about is None:
            return "Size and licence are not known yet."
        kept = f", of which {byte_size(about.here)} already downloaded" if about.here else ""
        return (
            f"{byte_size(about.size)}{kept}; licence: {about.licence}\nWill be stored in "
            f"{about.folder}"
        )

    def _button(self, repository: str) -> str:
        download = self._download
        if repository in download.here:
            return "&Open"
        about = download.about.get(repository)
        if about is None:
            return "&Ask for size and licence"
        return "&Resume the download" if about.here else "&Download"


def _text(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    set_role(label, role)
    return label
