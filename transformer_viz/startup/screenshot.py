"""The real window as a picture, once it shows a real result."""

import sys
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from core.errors import UserError
from core.files import atomic_write
from transformer_viz.engine.engine import Engine
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.window import Window
from transformer_viz.state.session import Phase, Session, Status

PATIENCE = 120_000  # ms
LOOK = 20  # ms between looks at whether all pictures are complete
QUIET_LOOKS = 3  # in a row: layouts settle over several turns of the event loop


class Screenshot(QObject):
    """Saves the window as PNG when it has settled, then ends the event loop.

    `exit_code` is 0 when the picture was saved and shows what was asked for, else 1, with one
    sentence on stderr.
    """

    def __init__(
        self, window: Window, session: Session, controller: Controller, engine: Engine, path: Path
    ) -> None:
        super().__init__(window)
        self.exit_code = 1
        self._window = window
        self._session = session
        self._transfers = controller.transfers
        self._path = path
        self._quiet = 0
        self._ended = False
        self._drawn = QTimer(self, interval=LOOK)
        self._drawn.timeout.connect(self._save_when_drawn)
        controller.settled.connect(self._on_settled)
        session.passageChanged.connect(self._drawn.stop)  # until the other sentence has its answer
        engine.loadFailed.connect(self._fail)
        controller.openFailed.connect(self._fail)
        QTimer.singleShot(PATIENCE, self, lambda: self._fail("The window did not settle in time."))

    def _on_settled(self, status: Status) -> None:
        if status.phase is Phase.FAILED:
            self._fail(status.message)
        else:
            self._drawn.start()

    def _is_complete(self) -> bool:
        """Whether the model and the file are both there, whichever came first, and drawn."""
        shown = self._session.model is not None and not self._transfers.opening
        answered = self._session.status.phase in (Phase.READY, Phase.EMPTY)
        return shown and answered and not self._window.is_drawing()

    def _save_when_drawn(self) -> None:
        self._quiet = self._quiet + 1 if self._is_complete() else 0
        if self._quiet < QUIET_LOOKS:
            return
        picture = self._window.grab()

        def write(temporary: Path) -> None:
            if not picture.save(str(temporary), "PNG"):
                raise UserError(f"The picture could not be written to {self._path}.")

        try:
            atomic_write(self._path, write)
        except UserError as error:
            self._fail(str(error))
        else:
            self._end(0)

    def _fail(self, message: str) -> None:
        if not self._ended:
            print(f"transformer-viz: {message}", file=sys.stderr)
            self._end(1)

    def _end(self, code: int) -> None:
        self._ended = True
        self._drawn.stop()
        self.exit_code = code
        QApplication.exit(code)
