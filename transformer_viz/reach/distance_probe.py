"""The probe of how far a model and its heads reach, measured over a corpus."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject

from transformer_viz.engine.measuring import Measuring
from transformer_viz.reach.distance_report import DistanceReport, ReportStore, read_report
from transformer_viz.state.session import Session


class DistanceProbe(Measuring[DistanceReport]):
    """Measures accuracy by distance for the open model; partial results are kept."""

    def __init__(
        self,
        session: Session,
        folder: Path | None,
        parent: QObject | None = None,
        *,
        bundled: Path | None = None,
    ) -> None:
        """Keep results in `folder`, or with None only while their model is shown; `bundled` is the
        folder of the results that come with the program."""
        store = ReportStore(folder, bundled)
        super().__init__(session, store.read, parent)
        self._store = store
        self._so_far: DistanceReport | None = None  # of what runs

    @property
    def report(self) -> DistanceReport | None:
        return self.known

    def measure(self) -> None:
        if self.ready:
            self._so_far = None
        self._start(lambda model: ["distance", "--model", str(model), "--json"], self._keep)

    def _hear(self, line: str) -> None:
        """Dependencies come one by one, each in a report of its own."""
        try:
            part = read_report(line)
        except ValueError:  # a warning of some library
            return
        before = () if self._so_far is None else self._so_far.relations
        so_far = replace(part, relations=(*before, *part.relations), complete=False)
        self._so_far = so_far
        fewer = self.known is None or len(self.known.relations) < len(so_far.relations)
        if fewer and self._for_shown:
            self._know(so_far)

    def _keep(self, text: str, checksum: str) -> DistanceReport:
        report = read_report(text)
        self._store.write(checksum, text)
        return report
