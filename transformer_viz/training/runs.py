"""The runs that the panel lists, and what can be asked of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import platformdirs
from PySide6.QtCore import QFile, QObject, QTimer, Signal

from core.errors import UserError
from core.files import is_file, is_folder, is_there
from core.training.config import RunConfig
from core.training.run_folder import RunFolder
from transformer_viz.engine.launch import resume_arguments, start, train_arguments
from transformer_viz.training.run import Run

POLL = 500  # ms
ALL_EVERY = 8  # polls: those that nobody works on change only if somebody starts to


def runs_folder() -> Path:
    """Return where new runs are created: the user's own folder for the data of this application."""
    return Path(platformdirs.user_data_path("transformer-viz", appauthor=False)) / "runs"


class NoTrashError(UserError):
    """Raised when something cannot be moved to the trash."""


class Runs(QObject):
    """The runs in one folder, and others that were opened from elsewhere, the newest first."""

    changed = Signal()  # which runs there are
    knownChanged = Signal(object)  # tuple[str, ...]: the folders outside of `folder`

    def __init__(
        self,
        folder: Path,
        known: Iterable[str] = (),
        launch: Callable[[Path, Sequence[str]], None] = start,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.folder = folder
        self._known = [Path(name) for name in known]
        self._launch = launch
        self._runs: dict[Path, Run] = {}
        self._polls = 0
        self._timer = QTimer(self, interval=POLL)
        self._timer.timeout.connect(self._poll)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs.values())

    def __len__(self) -> int:
        return len(self._runs)

    def watch(self) -> None:
        """Look now and from now on."""
        self._polls = 0
        self._poll()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def open(self, path: Path) -> Run:
        """List a run folder from anywhere. Raises UserError if it is none."""
        path = path.absolute()
        RunFolder.open(path)
        if path.parent != self.folder and path not in self._known:
            self._known.append(path)
            self._tell_known()
        self._scan()
        return self._runs[path]

    def begin(self, base: str, config: RunConfig, path: Path) -> Run:
        """Train from the preset `base` with these settings. Raises UserError if that fails."""
        RunFolder.require_free(path)
        self._launch(path, train_arguments(base, config, path))
        if path.parent != self.folder and path not in self._known:
            self._known.append(path)
            self._tell_known()
        self._scan()
        run = self._runs[path]
        run.expect()
        return run

    def resume(self, run: Run, steps: int | None = None) -> None:
        """Go on with a run that nobody works on, or that waits. Raises UserError if that fails."""
        run.folder.request(None)
        if not run.state.alive:
            self._launch(run.path, resume_arguments(run.path, steps))
            run.expect()
        run.poll()

    def pause(self, run: Run) -> None:
        """Raises UserError if the folder cannot be written."""
        run.folder.request("pause")
        run.poll()

    def end(self, run: Run) -> None:
        """Ask it to save its state and stop. Raises UserError if the folder cannot be written."""
        run.folder.request("stop")
        run.poll()

    def forget(self, run: Run) -> None:
        """Take a run from elsewhere off the list; its folder stays."""
        self._known.remove(run.path)
        self._tell_known()
        self._scan()

    def delete(self, run: Run, *, for_good: bool = False) -> list[Path]:
        """Move what is the run's own to the trash, and its folder if nothing else lies in it.

        Args:
            for_good: remove it instead.

        Returns:
            What lies in the folder besides, and stays.

        Raises:
            NoTrashError: the system has no trash for this folder; something may have been moved.
            UserError: a process works on it, or it cannot be removed.
        """
        run.poll()
        if run.state.alive:
            raise UserError(f"{run.name} is {run.state}; stop it before it is deleted.")
        try:
            own, others = run.folder.contents()
            for path in own if others else [run.path]:
                if for_good:
                    _remove(path)
                elif not QFile.moveToTrash(str(path)):
                    raise NoTrashError(f"{path} cannot be moved to the trash.")
        except OSError as error:
            raise UserError(f"{run.path} cannot be deleted: {error.strerror or error}.") from error
        if run.path in self._known:
            self._known.remove(run.path)
            self._tell_known()
        self._scan()
        return others

    def is_known(self, run: Run) -> bool:
        """Whether it lies elsewhere than in the folder of the runs."""
        return run.path in self._known

    def free_name(self, base: str) -> str:
        """Return "tiny-1", or with the next number that is not taken."""
        number = 1
        while is_there(self.folder / f"{base}-{number}"):
            number += 1
        return f"{base}-{number}"

    def _tell_known(self) -> None:
        self.knownChanged.emit(tuple(str(path) for path in self._known))

    def _poll(self) -> None:
        everything = self._polls % ALL_EVERY == 0
        self._polls += 1
        if everything:
            self._scan()
        for run in list(self):
            if everything or run.state.alive:
                run.poll()

    def _scan(self) -> None:
        found = [path for path in (*self._in_folder(), *self._known) if _is_run(path)]
        runs = [self._runs.get(path) or self._new(path) for path in found]
        runs.sort(key=lambda run: (str(run.about.get("started", "~")), run.name), reverse=True)
        if runs == list(self):
            return
        gone = [run for run in self if run not in runs]
        self._runs = {run.path: run for run in runs}
        self.changed.emit()
        for run in gone:
            run.deleteLater()

    def _new(self, path: Path) -> Run:
        run = Run(path, self)
        run.poll()
        return run

    def _in_folder(self) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if path not in self._known]
        except OSError:
            return []


def _is_run(path: Path) -> bool:
    folder = RunFolder(path)
    return is_file(folder.record) or is_file(folder.log_text)


def _remove(path: Path) -> None:
    if is_folder(path) and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
