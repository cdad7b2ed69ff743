"""Getting a model, in the window: its command, its dialog, and the way of the model from there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from transformer_viz.hub.dialog import GetModel
from transformer_viz.hub.download import ModelDownload
from transformer_viz.theme import Theme

if TYPE_CHECKING:
    from transformer_viz.window import Window


class HubCommands(QObject):
    """The commands of the hub; their dialog is made on first use."""

    def __init__(self, window: Window, cache: Path | None = None) -> None:
        """`cache`: in place of the user's own folder for caches."""
        super().__init__(window)
        self._window = window
        self.download = ModelDownload(cache, self)
        self.dialog: GetModel | None = None
        self.download.arrived.connect(self._on_arrived)

    def show(self) -> None:
        self.download.refresh()
        if self.dialog is None:
            self.dialog = GetModel(self.download, self._window)
            self.dialog.openWanted.connect(self._window.files.documents.open)
            self.dialog.apply_theme(self._window.theme)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.search.setFocus()

    def close(self) -> None:
        """End what runs; what has arrived stays for the next time."""
        self.download.cancel()
        if self.dialog is not None:
            self.dialog.close()

    def apply_theme(self, theme: Theme) -> None:
        if self.dialog is not None:
            self.dialog.apply_theme(theme)

    def _on_arrived(self, repository: str) -> None:
        if self.dialog is None or not self.dialog.isVisible():
            self._window.say(f"{repository} has been downloaded; open it with File ▸ Get a model.")
