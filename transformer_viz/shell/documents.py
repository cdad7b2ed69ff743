"""What the window opens and saves: models, traces, sessions, texts and runs."""

import codecs
from collections.abc import Callable
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from core.checkpoints.kinds import Kind as ModelKind
from core.checkpoints.kinds import is_marian_npz, recognise
from core.errors import UserError
from core.files import is_folder, is_there, open_regular
from core.lessons.library import holds_lessons
from core.switches import INTACT
from core.trace.npz import load_npz
from core.trace.padding import padding
from core.trace.trace import Trace
from transformer_viz.engine.transfers import Progress
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.session_file import (
    SUFFIX,
    Found,
    SavedModel,
    SavedSession,
    load_session,
    save_session,
    saved_model,
)
from transformer_viz.shell.unsaved import Unsaved
from transformer_viz.state.gates import ALL_ON, restored_gates, saved_gates
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import MAX_CHARACTERS, Session

T = TypeVar("T")

_MOST_TEXT_BYTES = 4 * MAX_CHARACTERS  # in UTF-8


class Kind(StrEnum):
    CHECKPOINT = "checkpoint"
    TRACE = "trace"
    SESSION = "session"
    TEXT = "text"
    RUN = "run"
    LESSON = "lesson"


_SUFFIXES = {
    ".safetensors": Kind.CHECKPOINT,
    SUFFIX: Kind.SESSION,
    ".txt": Kind.TEXT,
}


def kind_of(path: Path) -> Kind:
    """What a file or folder is, by its name, else by how it begins.

    Raises:
        UserError: it cannot be read, or is none of these.
    """
    if is_folder(path):
        return _kind_of_folder(path)
    open_regular(path).close()
    if recognise(path)[0] is ModelKind.MARIAN_FOLDER:  # a file of one
        return Kind.CHECKPOINT
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return _kind_of_npz(path)
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    with open_regular(path) as file:
        start = file.read(1024)
    if start.startswith(b"PK"):  # a zip archive, as .npz is
        return _kind_of_npz(path)
    if start[8:9] == b"{":  # after the eight bytes of the header's length
        return Kind.CHECKPOINT
    if start.lstrip().startswith(b"{"):
        return Kind.SESSION
    if suffix == ".md" and start.removeprefix(codecs.BOM_UTF8).startswith(b"---"):
        return Kind.LESSON
    if b"\0" not in start:
        return Kind.TEXT
    raise UserError(f"{path} is neither a model, a trace, a session nor a text.")


def _kind_of_folder(path: Path) -> Kind:
    if is_there(path / "run.json"):
        return Kind.RUN
    try:
        recognise(path)
    except UserError:
        if holds_lessons(path):  # asked last: the README of a model may begin like a lesson
            return Kind.LESSON
        raise
    return Kind.CHECKPOINT


def _kind_of_npz(path: Path) -> Kind:
    return Kind.CHECKPOINT if is_marian_npz(path) else Kind.TRACE


def load_text(path: Path) -> str:
    """The first paragraph of a text file, as one line.

    Raises:
        UserError: unreadable, no UTF-8, without words, or longer than the field may hold.
    """
    with open_regular(path) as file:
        data = file.read(_MOST_TEXT_BYTES)
    try:
        # the end may cut a character in two
        text = data.decode("utf-8-sig", "strict" if len(data) < _MOST_TEXT_BYTES else "ignore")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text; save it as UTF-8.") from error
    paragraphs = text.replace("\r\n", "\n").strip().split("\n\n")
    line = " ".join(paragraphs[0].split())
    if not line:
        raise UserError(f"{path} contains no text.")
    if len(line) > MAX_CHARACTERS:
        raise UserError(
            f"The first paragraph of {path} is longer than {MAX_CHARACTERS:,} characters; "
            "shorten it."
        )
    return line


def _load_trace(path: Path) -> tuple[Trace, str]:
    """With a sentence on the padding that it holds."""
    trace = load_npz(path)
    return trace, padding(trace)


def _named(model: Path | None) -> SavedModel | None:
    return None if model is None else SavedModel(name=model.name, path=str(model))


class Documents(QObject):
    """Opens and saves beside the event loop; the controller reports failures."""

    opening = Signal()
    pathChanged = Signal(object)  # Path | None
    viewWanted = Signal(str)  # by a session: the name of a view
    runWanted = Signal(object)  # Path of a run folder
    lessonWanted = Signal(object)  # Path of a lesson, or of a folder of lessons
    saved = Signal(str)  # one sentence

    def __init__(
        self,
        session: Session,
        controller: Controller,
        view: Callable[[], str],
        parent: QObject,
        leave: Callable[[Callable[[], None]], None] = lambda proceed: proceed(),
    ) -> None:
        """Make the documents; `view` tells which picture the stage shows. `leave` is given what is
        to replace a session and does it, perhaps after a question."""
        super().__init__(parent)
        self._session = session
        self._controller = controller
        self._view = view
        self._leave = leave
        self._path: Path | None = None
        self.unsaved = Unsaved(session, controller, self._shown, self)

    @property
    def path(self) -> Path | None:
        """The session file that the window belongs to."""
        return self._path

    def open(self, path: Path, selection: Selection | None = None) -> None:
        """Open a file of any kind; what is shown stays until it has been read. `selection` is for
        a trace."""
        path = path.absolute()
        self.opening.emit()
        try:
            kind = kind_of(path)
        except UserError as error:
            self._controller.openFailed.emit(str(error))
            return
        match kind:
            case Kind.RUN:
                self.runWanted.emit(path)
            case Kind.LESSON:
                self.lessonWanted.emit(path)
            case Kind.CHECKPOINT:
                self._controller.transfers.stop_opening()
                self._controller.open(recognise(path)[1])
            case Kind.TRACE:
                self._read(path, _load_trace, lambda read: self._show_trace(path, *read, selection))
            case Kind.TEXT:
                self._read(path, load_text, lambda text: self._show_text(path, text))
            case Kind.SESSION:
                self._read(path, load_session, lambda found: self._replace(path, found))

    def save(self, path: Path, then: Callable[[], object] = lambda: None) -> None:
        """Save the session, with the checkpoint named by its contents; `then` follows if that has
        succeeded."""
        shown = self._shown()

        def write(_progress: Progress) -> None:
            model, second_model = (
                None if one is None else saved_model(Path(one.path))
                for one in (shown.model, shown.second_model)
            )
            save_session(path, replace(shown, model=model, second_model=second_model))

        def done(_nothing: None) -> None:
            self._set_path(path)
            self.unsaved.follow(shown)
            self.saved.emit(f"Saved {path}.")
            then()

        self._controller.transfers.save(path.name, write, done)

    def _shown(self) -> SavedSession:
        """What would be saved, with models named by their paths alone."""
        session, controller = self._session, self._controller
        return SavedSession(
            model=_named(None if session.model is None else session.model.path),
            text=session.text,
            sentence_start=session.sentence_start,
            keep_whole=controller.settings.keep_whole,
            trace=str(controller.trace_file or ""),
            search=controller.search,
            view=self._view(),
            selection=session.selection,
            options=session.options,
            second_text=controller.comparison.text,
            second_model=_named(controller.comparison.path),
            gates=saved_gates(session.gates),
        )

    def _read(self, path: Path, read: Callable[[Path], T], done: Callable[[T], None]) -> None:
        controller = self._controller
        controller.transfers.open(lambda: read(path), done, controller.openFailed.emit)

    def _show_trace(
        self, path: Path, trace: Trace, remark: str, selection: Selection | None
    ) -> None:
        self._remember(path)
        self._controller.show_trace(trace, path, selection)
        if remark:
            self._controller.noticed.emit(f"{path.name}: {remark}")

    def _show_text(self, path: Path, text: str) -> None:
        self._remember(path)
        self._controller.translate(text)
        self._controller.remember_text()

    def _replace(self, path: Path, found: Found) -> None:
        self._leave(lambda: self._restore(path, found))

    def _restore(self, path: Path, found: Found) -> None:
        controller, saved = self._controller, found.session
        shown = self._session.model
        self._set_path(path)
        self.unsaved.follow(saved, appearing=True)
        for remark in found.remarks:
            controller.noticed.emit(remark)
        if saved.model is not None and found.model is None and shown is not None:
            controller.noticed.emit(f"{shown.name} is used instead.")
        self._session.change_options(**asdict(saved.options))
        self.viewWanted.emit(saved.view)
        controller.set_search(saved.search)
        controller.set_keep_whole(saved.keep_whole)
        controller.comparison.choose_model(found.second_model)
        controller.comparison.choose_text(saved.second_text)
        another = found.model is not None and (shown is None or shown.path != found.model)
        gates = ALL_ON if found.model is None else restored_gates(saved.gates)
        if not another:
            self._session.set_gates(gates)
            self._session.set_switches(INTACT)
        if found.trace is not None:
            file, trace = found.trace
            controller.show_trace(trace, file, saved.selection)
        else:
            controller.translate(saved.text, saved.selection, at=saved.sentence_start)
        if found.model is not None and another:
            controller.open(found.model, gates=gates, search=saved.search)

    def _set_path(self, path: Path) -> None:
        self._path = path
        self._remember(path)
        self.pathChanged.emit(path)

    def _remember(self, path: Path) -> None:
        remembered = self._controller.settings.remember_file(str(path))
        self._controller.change_settings(recent_files=remembered.recent_files)
