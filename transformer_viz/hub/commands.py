"""Getting a model, in the window: its command, its dialog, and the way of the model from there."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from transformer_viz.drawing.theme import Theme
from transformer_viz.hub.dialog import GetModel
from transformer_viz.hub.download import ModelDownload
from transformer_viz.widgets.host import Host


class HubCommands(QObject):
    """The commands of the hub; their dialog is made on first use."""

    def __init__(self, host: Host, cache: Path | None = None) -> None:
        """Add the commands; `cache` replaces the user's own folder for caches."""
        super().__init__(host)
        self._host = host
        self.download = ModelDownload(cache, self)
        self.dialog: GetModel | None = None
        self.download.arrived.connect(self._on_arrived)

    def show(self) -> None:
        self.download.refresh()
        if self.dialog is None:
            self.dialog = GetModel(self.download, self._host)
            self.dialog.openWanted.connect(self._host.open_file)
            self.dialog.apply_theme(self._host.theme)
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
            self._host.say(f"{repository} has been downloaded; open it with File ▸ Get a model.")
