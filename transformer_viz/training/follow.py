"""Keeping the explorer on the newest checkpoint of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QPushButton, QWidget

from transformer_viz.controller import Controller
from transformer_viz.session import Session
from transformer_viz.theme import Theme
from transformer_viz.training.run import Run


class Follow(QPushButton):
    """A switch. While it is on, a checkpoint is opened as soon as it is there, unless the one
    before is still being read and answered: then the newest by that time, and those between are
    skipped. Text and selection stay. Opening another model by hand switches it off.
    """

    def __init__(
        self, session: Session, controller: Controller, parent: QWidget | None = None
    ) -> None:
        super().__init__("Follow", parent)
        self.setCheckable(True)
        self.setToolTip(
            "Keep the explorer on the newest checkpoint of this run; text and selection stay."
        )
        self._session = session
        self._controller = controller
        self._run: Run | None = None
        self._opened: Path | None = None  # by this switch, the last one
        self._waiting = False  # for it to be read and answered
        self.toggled.connect(self._look)
        session.modelChanged.connect(self._on_model)
        controller.settled.connect(self._on_settled)
        self.setEnabled(False)

    def show_runs(self, runs: Sequence[Run]) -> None:
        """Follow the first of these."""
        run = runs[0] if runs else None
        if run is self._run:
            return
        if self._run is not None:
            self._run.checkpointsChanged.disconnect(self._look)
        self._run = run
        if run is not None:
            run.checkpointsChanged.connect(self._look)
        self.setEnabled(run is not None)
        if run is None:
            self.setChecked(False)
        self._look()
        self._name_it()

    def apply_theme(self, theme: Theme) -> None:
        """All of it follows from the style sheet."""

    def _name_it(self) -> None:
        """With the run and the step that the explorer shows, while it follows."""
        step = int(self._opened.stem.removeprefix("step-")) if self._opened else None
        followed = self._run is not None and self.isChecked() and step is not None
        name = f"Follow: {self._run.name} at step {step:,}" if followed and self._run else "Follow"
        self.setText(name)

    def _look(self, *_changed: object) -> None:
        if not self.isChecked():
            self._opened, self._waiting = None, False
        elif self._run is not None and not self._waiting:
            checkpoints = self._run.checkpoints()
            if checkpoints and checkpoints[-1] != self._opened:
                self._opened, self._waiting = checkpoints[-1], True
                self._controller.open(checkpoints[-1], passing=True)
        self._name_it()

    def _on_settled(self) -> None:
        self._waiting = False
        self._look()

    def _on_model(self) -> None:
        model = self._session.model
        if self.isChecked() and model is not None and model.path != self._opened:
            self.setChecked(False)
