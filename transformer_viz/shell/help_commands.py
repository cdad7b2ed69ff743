"""What the commands of the help menu do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, qVersion
from PySide6.QtGui import QGuiApplication

from transformer_viz.engine.log import read_log, versions
from transformer_viz.shell.help import HelpDialog
from transformer_viz.shell.model_bar import shape
from transformer_viz.shell.palette import Palette
from transformer_viz.shell.panel_keys import PANEL_KEYS
from transformer_viz.state.session import Session
from transformer_viz.widgets import dialogs

if TYPE_CHECKING:
    from transformer_viz.shell.window import Window


class HelpCommands(QObject):
    def __init__(self, window: Window, session: Session, log: Path | None) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._log = log

    def show_guide(self) -> None:
        HelpDialog(self._window).show()

    def show_page(self, heading: str) -> None:
        """The guide, at the part that has this heading."""
        dialog = HelpDialog(self._window)
        dialog.show()
        dialog.show_page(heading)

    def show_palette(self) -> None:
        window = self._window
        Palette(window.commands, window, window.lessons.listed()).open()

    def show_shortcuts(self) -> None:
        """The commands by menu, then what each panel does while it has the keyboard."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for _action, name, keys in self._window.commands.listed():
            if keys:
                menu, _, command = name.partition(" · ")
                groups.setdefault(menu, []).append((command, keys))
        for panel, known in PANEL_KEYS.items():
            groups[f"In the {panel}"] = [(one.does, one.text()) for one in known]
        dialogs.shortcuts(groups, self._window).open()

    def show_log(self) -> None:
        if self._log is None:
            self._window.show_notice("There is no log file because its folder is not writable.")
        else:
            dialogs.LogDialog(self._log, read_log(self._log), self._window).open()

    def copy_diagnostics(self) -> None:
        """Copy versions, system and screen, and the shape of the model: nothing that was typed."""
        QGuiApplication.clipboard().setText("\n".join(self._diagnostics()) + "\n")
        self._window.say("The diagnostic information is on the clipboard.")

    def show_about(self) -> None:
        dialogs.about(self._session.model, self._window).open()

    def _diagnostics(self) -> list[str]:
        screen, model = self._window.screen(), self._session.model
        size = screen.size()
        return [
            *versions(),
            f"Qt {qVersion()}, platform {QGuiApplication.platformName()}",
            f"screen {size.width()} × {size.height()}, {screen.devicePixelRatio():g} pixels each, "
            f"{screen.logicalDotsPerInch():.0f} dots per inch",
            "no model" if model is None else f"model {shape(model)}",
        ]
