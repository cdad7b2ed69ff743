"""Keeping the explorer on the newest checkpoint of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from transformer_viz.drawing.theme import Theme
from transformer_viz.state.explorer import Explorer
from transformer_viz.state.session import Session
from transformer_viz.training.run import Run
from transformer_viz.words.wording import plain_tooltip


class Follow(QPushButton):
    """A switch. While it is on, a checkpoint is opened as soon as it is there, unless the one
    before is still being read and answered: then the newest by that time, and those between are
    skipped. Text and selection stay, and so does the run, whichever is chosen in the list.

    Only what a model answers follows it: switching on ends what shows a trace from a file, and
    opening a trace or another model by hand switches off.
    """

    begun = Signal()  # before the first checkpoint is opened

    def __init__(self, session: Session, explorer: Explorer, parent: QWidget | None = None) -> None:
        super().__init__("Follow", parent)
        self.setCheckable(True)
        self._session = session
        self._explorer = explorer
        self._chosen: Run | None = None  # in the list
        self._run: Run | None = None  # followed
        self._opened: Path | None = None  # by this switch, the last one
        self._waiting = False  # for it to be read and answered
        self._beginning = False
        self.toggled.connect(self._on_toggled)
        session.modelChanged.connect(self._on_model)
        session.traceChanged.connect(self._on_trace)
        explorer.settled.connect(self._on_settled)
        self._name_it()

    def show_runs(self, runs: Sequence[Run]) -> None:
        """The first of these is followed when the switch is next turned on."""
        self._chosen = runs[0] if runs else None
        self._name_it()

    def show_list(self, runs: Iterable[Run]) -> None:
        """Stop following a run that is not in the list any more."""
        if self._run is not None and self._run not in list(runs):
            self.setChecked(False)

    def apply_theme(self, theme: Theme) -> None:
        """Do nothing: all of it follows from the style sheet."""

    def _name_it(self) -> None:
        """With the run and the step that the explorer shows, while it follows."""
        run, name = self._run, "Follow"
        tip = (
            "Keep the explorer on the newest checkpoint of this run; your text and selection stay."
        )
        if run is not None:
            name = f"Follow: {run.name}"
            tip = f"The explorer follows {run.name}. Click to stay at the current checkpoint."
            if self._opened is not None:
                name += f" at step {int(self._opened.stem.removeprefix('step-')):,}"
        self.setText(name)
        self.setToolTip(plain_tooltip(tip))
        self.setEnabled(run is not None or self._chosen is not None)

    def _on_toggled(self, on: bool) -> None:
        if self._run is not None:
            self._run.checkpointsChanged.disconnect(self._look)
        self._run, self._opened, self._waiting = (self._chosen if on else None), None, False
        if self._run is not None:
            self._run.checkpointsChanged.connect(self._look)
            self._show_the_model()
        self._look()

    def _show_the_model(self) -> None:
        """Not a trace from a file, which no checkpoint would change."""
        self._beginning = True
        self.begun.emit()
        if self._explorer.trace_file is not None:
            self._explorer.translate(self._session.text)
        self._beginning = False

    def _look(self) -> None:
        if self._run is not None and not self._waiting:
            checkpoints = self._run.checkpoints()
            if checkpoints and checkpoints[-1] != self._opened:
                self._opened, self._waiting = checkpoints[-1], True
                self._explorer.open(checkpoints[-1], passing=True)
        self._name_it()

    def _on_settled(self) -> None:
        self._waiting = False
        self._look()

    def _on_model(self) -> None:
        model = self._session.model
        if self.isChecked() and model is not None and model.path != self._opened:
            self.setChecked(False)

    def _on_trace(self) -> None:
        if self._explorer.trace_file is not None and not self._beginning:
            self.setChecked(False)
