"""The probe of how far a model and its heads reach, measured over a corpus."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from transformer_viz.distance_report import DistanceReport, ReportStore, read_report
from transformer_viz.measuring import Measuring
from transformer_viz.session import Session


class DistanceProbe(Measuring[DistanceReport]):
    def __init__(
        self, session: Session, folder: Path | None, parent: QObject | None = None
    ) -> None:
        """`folder`: where results are kept; None keeps them no longer than their model is shown."""
        store = ReportStore(folder)
        super().__init__(session, store.read, parent)
        self._store = store

    @property
    def report(self) -> DistanceReport | None:
        return self.known

    def measure(self) -> None:
        self._start(lambda model: ["distance", "--model", str(model), "--json"], self._keep)

    def _keep(self, text: str, checksum: str) -> DistanceReport:
        report = read_report(text)
        self._store.write(checksum, text)
        return report
