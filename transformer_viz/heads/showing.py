"""From a sentence that shows a role to the explorer: its text, its head and its cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import numpy as np
from PySide6.QtCore import QObject, Qt

from core.text.words import word_span
from core.trace.trace import AttentionKind, Head
from transformer_viz.heads.report import Evidence
from transformer_viz.state.explorer import Explorer
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Phase, Session

ORIGIN = "the sample's translation"


class EvidenceShowing(QObject):
    """The decoder was measured on the translation of the sample. Where the model itself translates
    otherwise, that translation is scored and shown, so that the cell is the one that was measured.
    """

    def __init__(
        self,
        session: Session,
        explorer: Explorer,
        show_text: Callable[[str, Selection], object],
        score_target: Callable[[str, str], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._explorer = explorer
        self._show_text = show_text
        self._score_target = score_target
        self._wanted: tuple[Head, Evidence] | None = None  # not shown yet
        explorer.settled.connect(self._on_settled)
        # after the decoding has gone to its own step
        session.traceChanged.connect(self._on_trace, Qt.ConnectionType.QueuedConnection)

    def show(self, head: Head, evidence: Evidence) -> None:
        self._wanted = head, evidence
        if self._is_translated(evidence.source):
            self._show_target()
        else:
            self._show_text(evidence.source, Selection(*head))

    def _is_translated(self, source: str) -> bool:
        trace = self._session.trace
        from_model = self._explorer.trace_file is None
        ready = self._session.status.phase is Phase.READY
        return ready and from_model and trace is not None and trace.text == source

    def _on_settled(self) -> None:
        if self._wanted is None:
            return
        if self._is_translated(self._wanted[1].source):
            self._show_target()
        else:  # the user has gone on, or it failed
            self._wanted = None

    def _show_target(self) -> None:
        """Ask for the pass over the sample's translation, unless it is there or of no matter."""
        assert self._wanted is not None
        _head, evidence = self._wanted
        if self._is_there():
            self._select()
        else:
            self._score_target(evidence.target, ORIGIN)

    def _on_trace(self) -> None:
        if self._wanted is not None and self._is_there():
            self._select()

    def _is_there(self) -> bool:
        """Whether the trace shown is the one that was measured."""
        trace = self._session.trace
        assert self._wanted is not None
        head, evidence = self._wanted
        if trace is None or trace.text != evidence.source:
            return False
        alone = head.kind is AttentionKind.ENCODER_SELF
        return alone or trace.translation == evidence.target

    def _select(self) -> None:
        """Pin the cell; of a key of several pieces, whose weights were added up, the heaviest."""
        trace = self._session.trace
        assert self._wanted is not None
        assert trace is not None
        head, evidence = self._wanted
        self._wanted = None
        query = min(evidence.query, len(trace.query_tokens(head.kind)) - 1)
        tokens = trace.key_tokens(head.kind)
        pieces = word_span(tokens, min(evidence.key, len(tokens) - 1))
        weights = trace.row(*head, query)[pieces.start : pieces.stop]
        key = pieces.start + int(np.argmax(weights))
        self._session.set_hover(None, None)
        self._session.select(**asdict(Selection(*head, query=query, key=key)))
