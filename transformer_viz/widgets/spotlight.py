"""The token pointed at and what it is linked with, computed once for all views that light up."""

from collections.abc import Iterator

from PySide6.QtCore import QObject, Signal

from core.trace.trace import Head, Trace
from transformer_viz.engine.stream import Stream
from transformer_viz.state.linking import Linked, Place, is_quick, linked
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Session


class Spotlight(QObject):
    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._linked: Linked | None = None
        self._shown: tuple[Trace, Place, tuple[Head, ...]] | None = None  # what it belongs to
        self._stream = Stream(self)
        self._stream.arrived.connect(self._light)
        session.traceChanged.connect(self._follow)
        session.selectionChanged.connect(self._follow)
        session.pointedChanged.connect(self._follow)
        self._follow()

    @property
    def linked(self) -> Linked | None:
        return self._linked

    def _follow(self) -> None:
        session = self._session
        trace, place, selection = session.trace, session.pointed, session.selection
        if trace is None or place is None:
            self._shown = None
            self._stream.stop()
            self._light(None)
        elif (
            self._shown is None
            or self._shown[0] is not trace
            or self._shown[1:]
            != (
                place,
                selection.heads,
            )
        ):
            self._shown = (trace, place, selection.heads)
            if is_quick(trace, selection, place):
                self._stream.stop()
                self._light(linked(trace, selection, place))
            else:
                self._light(None)
                self._stream.start(_links(trace, selection, place))

    def _light(self, linked: Linked | None) -> None:
        if linked is not self._linked:
            self._linked = linked
            self.changed.emit()


def _links(trace: Trace, selection: Selection, place: Place) -> Iterator[Linked]:
    yield linked(trace, selection, place)
