"""From a sample to its subject: the head, the cell and the view that show it, and what to see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from PySide6.QtCore import QObject, Qt, Signal

from transformer_viz.heads.analysis import HeadAnalysis
from transformer_viz.heads.sight import sight
from transformer_viz.state.bundled import Subject, subject_of
from transformer_viz.state.languages import asking_for
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Session


class SampleShowing(QObject):
    """Waits for the translation of a sample that was chosen, then selects what it is a sample of.

    A sample without a subject leaves what is selected.
    """

    said = Signal(str)  # what to see; "" when that is over

    def __init__(
        self,
        session: Session,
        analysis: HeadAnalysis,
        show_view: Callable[[str], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._analysis = analysis
        self._show_view = show_view
        self._wanted = ""  # the sample whose translation is awaited
        session.textChanged.connect(self._on_text)
        # after the decoding has gone to its own step
        session.traceChanged.connect(self._on_trace, Qt.ConnectionType.QueuedConnection)

    def show(self, text: str) -> None:
        """Show the subject of the sample that has just been put into the source field."""
        self._wanted = text
        self._on_trace()

    def _on_text(self, text: str) -> None:
        if asking_for("", text) != self._wanted:
            self._wanted = ""
        self.said.emit("")

    def _on_trace(self) -> None:
        trace = self._session.trace
        if not self._wanted or trace is None or asking_for("", trace.text) != self._wanted:
            return
        subject, self._wanted = subject_of(self._wanted), ""
        if subject is None:
            return
        if subject.view != "heatmap":
            self._show_view(subject.view)
            self.said.emit(subject.hint)
            return
        found = sight(trace, subject, self._analysis.report)
        if found is not None:
            self._select(subject, found.selection)
            self.said.emit(found.text)

    def _select(self, subject: Subject, selection: Selection) -> None:
        self._show_view(subject.view)
        self._session.set_hover(None, None)
        self._session.select(**asdict(selection))
