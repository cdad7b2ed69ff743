"""Puts the state of a lesson into the real window, one thing after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal

from core.errors import UserError
from core.lessons.library import found_model
from core.lessons.measures import columns_of, rows_of
from transformer_viz.lessons.state import Shown
from transformer_viz.state.explorer import Explorer
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Phase, Session, Status

Until = Callable[[], bool]
"""What has to hold before the next thing is done."""


class Director(QObject):
    """Shows states; each waits until the model has answered the one before.

    The newest state wins: what an earlier one still had to do is dropped.
    """

    finished = Signal()  # everything is shown
    failed = Signal(str)  # a sentence: what could not be shown

    def __init__(
        self,
        session: Session,
        explorer: Explorer,
        show_text: Callable[[str], object],
        show_view: Callable[[str], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._explorer = explorer
        self._show_text = show_text
        self._show_view = show_view
        self._rest: Iterator[Until] | None = None
        self._until: Until | None = None
        # after the views have followed
        queued = Qt.ConnectionType.QueuedConnection
        explorer.settled.connect(self._on_settled, queued)
        explorer.openFailed.connect(self._on_open_failed, queued)

    @property
    def is_busy(self) -> bool:
        return self._rest is not None

    def show(self, state: Shown, folder: Path) -> None:
        """Show a state; paths of models in it are relative to the folder."""
        self._rest, self._until = self._acts(state, folder), None
        self._go_on()

    def snapshot(self) -> Shown:
        """What the window shows now, to come back to it."""
        session = self._session
        return Shown(
            model=None if session.model is None else str(session.model.path),
            text=session.text,
            view=self._explorer.settings.view,
            example=session.options.by_hand,
            gates=session.gates,
            switches=session.switches,
            selection=session.selection,
        )

    def _on_settled(self, status: Status) -> None:
        if self._until is not None and status.phase is Phase.FAILED:
            self._fail(status.message)
        self._go_on()

    def _on_open_failed(self, problem: str) -> None:
        if self._until is not None:
            self._fail(problem)

    def _fail(self, problem: str) -> None:
        self._rest = self._until = None
        self.failed.emit(problem)

    def _go_on(self) -> None:
        """Act until an answer has to be awaited."""
        while self._rest is not None and (self._until is None or self._until()):
            try:
                self._until = next(self._rest)
            except StopIteration:
                self._rest = self._until = None
                self.finished.emit()
            except UserError as error:
                self._fail(str(error))

    def _acts(self, state: Shown, folder: Path) -> Iterator[Until]:
        """Do one thing after the other, and yield what has to hold before the next one."""
        session = self._session
        if state.view is not None:
            self._show_view(state.view)
        if state.model is not None:
            path = found_model(state.model, folder)

            def is_open() -> bool:
                return session.model is not None and session.model.path == path

            if not is_open():
                self._explorer.open(path, passing=True)
                yield is_open
        if dict(session.gates) != dict(state.gates):
            session.set_gates(state.gates)
            yield lambda: dict(session.shown_gates) == dict(session.gates)
        session.set_switches(state.switches)
        if state.example is not None:
            session.change_options(by_hand=state.example)
        if state.text is not None and (session.text != state.text or not session.is_answered):
            self._show_text(state.text)
            yield lambda: session.is_answered or not session.text.strip()
        self._select(state)

    def _select(self, state: Shown) -> None:
        session, trace = self._session, self._session.trace
        if state.selection is not None:
            session.select(**asdict(state.selection))
        if state.head is None or trace is None:
            return
        if not trace.has(state.head):
            raise UserError(f"This model has no head {state.head.name}.")
        query = key = None
        if state.pin is not None:
            query = rows_of(trace, state.head.kind, state.pin.query)[0]
            if state.pin.key is not None:
                key = columns_of(trace, state.head.kind, state.pin.key)[0]
        session.set_hover(None, None)
        session.select(**asdict(Selection(*state.head, query=query, key=key)))
