"""Files that the system asks to open: on the command line, or by an event on macOS."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from transformer_viz.engine.launch import process_of

MOST_WINDOWS = 8  # that one request opens


class Application(QApplication):
    """The QApplication, with the request to open a file as a signal."""

    fileWanted = Signal(object)  # Path

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent) and event.file():
            self.fileWanted.emit(Path(event.file()))
            return True
        return super().event(event)


class FileRequests(QObject):
    """Shows one file in this window and the others in windows, and processes, of their own."""

    refused = Signal(str)  # one sentence

    def __init__(
        self,
        show: Callable[[Path], None],
        parent: QObject,
        *,
        options: Sequence[str] = (),
        launch: Callable[[list[str]], bool] | None = None,
    ) -> None:
        """Take requests; `options` of the command line are those of the other windows too."""
        super().__init__(parent)
        self._show = show
        self._options = options
        self._launch = launch or _start_window
        self._waiting: list[Path] = []
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._open_waiting)

    def add(self, path: Path) -> None:
        """One of perhaps several, each an event of its own."""
        self._waiting.append(path)
        self._soon.start()

    def open_elsewhere(self, paths: Sequence[Path]) -> None:
        """Open each in a window of its own."""
        for path in paths[: MOST_WINDOWS - 1]:
            if not self._launch([*self._options, "--", str(path.absolute())]):
                self.refused.emit(f"No window could be started for {path}.")
                return
        if len(paths) >= MOST_WINDOWS:
            self.refused.emit(
                f"{len(paths) + 1} files were to be opened; only the first {MOST_WINDOWS} were."
            )

    def _open_waiting(self) -> None:
        first, *others = self._waiting
        self._waiting = []
        self._show(first)
        self.open_elsewhere(others)


def _start_window(arguments: list[str]) -> bool:
    return bool(process_of("transformer_viz", arguments).startDetached())
