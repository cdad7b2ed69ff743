"""The statistics of the heads of the shown trace, each computed once."""

from collections.abc import Iterable, Iterator

from PySide6.QtCore import QObject, Signal

from core.statistics.rows import HeadStatistics, head_statistics
from core.trace.trace import Head, Trace
from transformer_viz.engine.stream import Stream
from transformer_viz.state.session import Session

INLINE_CELLS = 512 * 512
"""Maps of so many cells together are measured at once; more of them beside the event loop."""

_OVERHEAD = 1_500  # cells that take as long as the fixed part of a head


class MeasuredHeads(QObject):
    changed = Signal()  # statistics have arrived that were not there when they were wanted

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._trace: Trace | None = None
        self._known: dict[Head, HeadStatistics] = {}
        self._wanted: list[Head] = []  # in the order of computing
        self._stream = Stream(self)
        self._stream.arrived.connect(self._add)
        session.traceChanged.connect(self._follow)

    def known(self, heads: Iterable[Head]) -> dict[Head, HeadStatistics] | None:
        """The statistics of these heads, or None while some are missing."""
        self._follow()
        heads = tuple(heads)
        if not all(head in self._known for head in heads):
            return None
        return {head: self._known[head] for head in heads}

    def want(self, heads: Iterable[Head]) -> dict[Head, HeadStatistics] | None:
        """Return what `known` does; what is missing is measured before all that was wanted
        earlier."""
        self._follow()
        heads = tuple(heads)
        missing = [head for head in heads if head not in self._known]
        if missing and self._trace is not None:
            self._measure(self._trace, missing)
        return self.known(heads)

    def _measure(self, trace: Trace, heads: list[Head]) -> None:
        if sum(_OVERHEAD + trace.allowed(head.kind).size for head in heads) <= INLINE_CELLS:
            self._known.update(_measured(trace, heads))
            return
        waiting = [head for head in self._wanted if head not in self._known]
        if waiting[: len(heads)] != heads:
            self._wanted = list(dict.fromkeys([*heads, *waiting]))
            self._stream.start(_measured(trace, self._wanted))

    def _follow(self) -> None:
        if self._trace is not self._session.trace:
            self._stream.stop()
            self._trace, self._known, self._wanted = self._session.trace, {}, []

    def _add(self, measured: tuple[Head, HeadStatistics]) -> None:
        head, statistics = measured
        self._known[head] = statistics
        self.changed.emit()


def _measured(trace: Trace, heads: Iterable[Head]) -> Iterator[tuple[Head, HeadStatistics]]:
    for head in heads:
        yield head, head_statistics(trace, *head)
