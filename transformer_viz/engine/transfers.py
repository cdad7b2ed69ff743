"""Reading and writing files beside the event loop: one saving and one opening at a time."""

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from transformer_viz.engine.engine import sentence
from transformer_viz.engine.worker import Context, Worker

T = TypeVar("T")

Progress = Callable[[int, int], None]
"""Called with what is done and what there is in all; raises where the job is to stop."""


class Transfers(QObject):
    """Each job ends in its `done`, or in a failure, in the thread that made this object.

    A second saving is refused while one runs, so that none is lost; of several openings the
    newest wins.
    """

    changed = Signal()  # `saving` or `share` is another
    failed = Signal(str)  # why something was not saved, in one sentence

    _progressed = Signal(int, int)  # from the thread

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = Worker("files", lanes=("save", "open"), parent=self)
        self._saving = ""
        self._share = 0.0
        self._opening = False
        self._progressed.connect(self._on_progress)

    @property
    def saving(self) -> str:
        """The name of the file that is being written, or nothing."""
        return self._saving

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        return self._share

    @property
    def opening(self) -> bool:
        """Whether a file is being read."""
        return self._opening

    def save(self, name: str, job: Callable[[Progress], T], done: Callable[[T], None]) -> None:
        """Run `job` in the thread; `name` is the file's, in words for the user."""
        if self._saving:
            self.failed.emit(
                f"{self._saving} is still being saved; wait or cancel it, then try again."
            )
            return
        self._saving, self._share = name, 0.0

        def run(context: Context) -> T:
            def progress(number: int, total: int) -> None:
                context.check()
                self._progressed.emit(number, total)

            return job(progress)

        def finished(value: T) -> None:
            self._end()
            done(value)

        def failed(error: Exception) -> None:
            self._end()
            self.failed.emit(sentence(error))

        self._worker.submit("save", run, done=finished, failed=failed, progress=lambda _: None)
        self.changed.emit()

    def cancel(self) -> None:
        """Give up the saving: what the file held before stays."""
        self._worker.cancel("save")
        self._end()

    def open(
        self, job: Callable[[], T], done: Callable[[T], None], failed: Callable[[str], None]
    ) -> None:
        """Run `job` in the thread; `failed` gets one sentence."""
        self._opening = True

        def finished(value: T) -> None:
            self._opening = False
            done(value)

        def not_opened(error: Exception) -> None:
            self._opening = False
            failed(sentence(error))

        self._worker.submit(
            "open",
            lambda _context: job(),
            done=finished,
            failed=not_opened,
            progress=lambda _: None,
        )

    def stop_opening(self) -> None:
        """Forget the file that is being read."""
        self._worker.cancel("open")
        self._opening = False

    def close(self, seconds: float | None = None) -> bool:
        """Give up what runs and wait for the thread, so long at most; whether it has ended."""
        return self._worker.close(seconds)

    def _on_progress(self, number: int, total: int) -> None:
        if self._saving:
            self._share = number / total
            self.changed.emit()

    def _end(self) -> None:
        self._saving, self._share = "", 0.0
        self.changed.emit()
