"""A model on its way from the hub: what is known of it, what runs, and how far that is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from core.remote.cache import downloaded_models
from core.remote.hub_cache import cached_models
from transformer_viz.engine.child import Child
from transformer_viz.engine.measuring import Progress, read_progress

UNREADABLE = "The process returned an unreadable answer; try again."


@dataclass(frozen=True, slots=True)
class About:
    """What the hub says of a model.

    Attributes:
        size: of what is needed of it, in bytes.
        here: bytes that are here already.
    """

    repository: str
    licence: str
    size: int
    here: int
    folder: Path


class ModelDownload(QObject):
    """Queries the hub and downloads in a separate process; only on request, one model at a time.

    Attributes:
        here: folders of the models that are downloaded, by their repositories.
        about: what the hub has been asked for, by repository.
        running: the repository that is asked for or downloaded; nothing while nothing runs.
        progress: of the download, in bytes; None before its first ones, and while asking.
        problems: why the last try of a repository gave nothing, in one sentence.
    """

    changed = Signal()
    arrived = Signal(str, object)  # repository, Path of its folder

    def __init__(self, cache: Path | None = None, parent: QObject | None = None) -> None:
        """Prepare downloads; `cache` replaces the user's own folder for caches."""
        super().__init__(parent)
        self._cache = cache
        self._asking = False
        self._child = Child(self)
        self.here: dict[str, Path] = {}
        self.about: dict[str, About] = {}
        self.running = ""
        self.progress: Progress | None = None
        self.problems: dict[str, str] = {}
        self._child.progressed.connect(self._on_progress)
        self._child.finished.connect(self._on_answer)
        self._child.failed.connect(self._on_failure)

    @property
    def downloading(self) -> bool:
        return bool(self.running) and not self._asking

    def refresh(self) -> None:
        """Look into the cache, and into the one of the Hugging Face hub; asks nobody."""
        others = {} if self._cache else cached_models()
        self.here = others | downloaded_models(self._cache)
        self.changed.emit()

    def ask(self, repository: str) -> None:
        """Ask the hub for size and licence."""
        self._run(repository, asking=True)

    def start(self, repository: str) -> None:
        """Download it, or what is missing of it."""
        self._run(repository, asking=False)

    def cancel(self) -> None:
        """What has arrived stays, and the next start goes on there."""
        if self.running:
            repository, downloading, progress = self.running, self.downloading, self.progress
            self._child.cancel()
            if downloading and progress is not None and repository in self.about:
                about = self.about[repository]
                self.about[repository] = About(
                    about.repository, about.licence, about.size, progress.done, about.folder
                )
            self._end()

    def _run(self, repository: str, *, asking: bool) -> None:
        if self.running:
            return
        self.running, self._asking, self.progress = repository, asking, None
        self.problems.pop(repository, None)
        cache = [] if self._cache is None else ["--cache", str(self._cache)]
        self._child.run(["get", repository, *(["--about"] if asking else []), *cache, "--json"])
        self.changed.emit()

    def _on_progress(self, line: str) -> None:
        progress = read_progress(line)
        if progress is not None:
            self.progress = progress
            self.changed.emit()

    def _on_answer(self, answer: Any) -> None:
        repository, downloading = self.running, self.downloading
        try:
            about = About(
                str(answer["repository"]),
                str(answer["licence"]),
                int(answer["size"]),
                int(answer["here"]),
                Path(answer["folder"]),
            )
        except (KeyError, TypeError, ValueError):
            self._on_failure(UNREADABLE)
            return
        self.about[repository] = about
        if downloading or about.here == about.size:
            self.here[repository] = about.folder
        self._end()
        if downloading:
            self.arrived.emit(repository, about.folder)

    def _on_failure(self, problem: str) -> None:
        self.problems[self.running] = problem
        self._end()

    def _end(self) -> None:
        self.running, self.progress = "", None
        self.changed.emit()
