"""From a sentence that shows a role to the explorer: its text, its head and its cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from PySide6.QtCore import QObject, Qt

from core.trace.trace import AttentionKind, Head
from transformer_viz.controller import Controller
from transformer_viz.heads.report import Evidence
from transformer_viz.selection import Selection
from transformer_viz.session import Phase, Session

ORIGIN = "the sample's translation"


class EvidenceShowing(QObject):
    """The decoder was measured on the translation of the sample. Where the model itself translates
    otherwise, that translation is scored and shown, so that the cell is the one that was measured.
    """

    def __init__(
        self,
        session: Session,
        controller: Controller,
        show_text: Callable[[str, Selection], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._controller = controller
        self._show_text = show_text
        self._wanted: Evidence | None = None  # whose translation is not shown yet
        self._selection = Selection()
        controller.settled.connect(self._on_settled)
        # after the decoding has gone to its own step
        session.traceChanged.connect(self._on_trace, Qt.ConnectionType.QueuedConnection)

    def show(self, head: Head, evidence: Evidence) -> None:
        kind, layer, number = head
        self._selection = Selection(kind, layer, number, evidence.query, evidence.key)
        follows = kind is not AttentionKind.ENCODER_SELF and evidence.target
        self._wanted = evidence if follows else None
        if not self._is_shown(evidence):
            self._show_text(evidence.source, self._selection)
        elif follows:
            self._show_target()
        else:
            self._select()

    def _is_shown(self, evidence: Evidence) -> bool:
        trace, model = self._session.trace, self._controller.trace_file is None
        ready = self._session.status.phase is Phase.READY
        return ready and model and trace is not None and trace.text == evidence.source

    def _on_settled(self) -> None:
        wanted = self._wanted
        if wanted is None:
            return
        if self._is_shown(wanted):
            self._show_target()
        else:  # the user has gone on, or it failed
            self._wanted = None

    def _show_target(self) -> None:
        """Ask for the pass over the sample's translation, unless it is there already."""
        trace, wanted = self._session.trace, self._wanted
        assert trace is not None
        assert wanted is not None
        if trace.translation == wanted.target:
            self._select()
        else:
            self._controller.decoding.score_target(wanted.target, ORIGIN)

    def _on_trace(self) -> None:
        trace, wanted = self._session.trace, self._wanted
        if trace is None or wanted is None or trace.text != wanted.source:
            return
        if trace.translation == wanted.target:
            self._select()

    def _select(self) -> None:
        self._wanted = None
        self._session.set_hover(None, None)
        self._session.select(**asdict(self._selection))
