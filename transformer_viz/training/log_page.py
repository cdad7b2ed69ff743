"""What the process of a run said to people."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from transformer_viz.drawing.theme import Theme
from transformer_viz.training.run import Run


class LogPage(QPlainTextEdit):
    """What is odd about the run's files, and the end of `log.txt`, which grows with the run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setAccessibleName("Run log")
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setPlaceholderText("Runs started in a terminal print their log there.")
        self._run: Run | None = None

    def show_runs(self, runs: Sequence[Run]) -> None:
        if self._run is not None:
            self._run.changed.disconnect(self._refresh)
        self._run = runs[0] if runs else None
        if self._run is not None:
            self._run.changed.connect(self._refresh)
        self._refresh()

    def apply_theme(self, theme: Theme) -> None:
        """Do nothing: all of it follows from the style sheet."""

    def _refresh(self) -> None:
        text = "" if self._run is None else _text(self._run)
        if text != self.toPlainText():
            self.setPlainText(text)
            self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())


def _text(run: Run) -> str:
    odd = "\n".join(f"⚠ {sentence}" for sentence in run.odd_lines)
    return "\n\n".join(filter(None, (odd, run.log_end().strip())))
