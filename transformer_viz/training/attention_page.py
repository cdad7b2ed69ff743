"""Attention over training: a slider over the recorded steps, and how the heads specialise."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QSlider,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.errors import UserError
from core.training.probe import Probe
from core.training.probe_log import ProbeLog, read_probe_log
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.state.explorer import Explorer
from transformer_viz.state.session import Session
from transformer_viz.training.replay import Replay
from transformer_viz.training.run import Run
from transformer_viz.training.specialists import Specialists
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel
from transformer_viz.widgets.text_size import set_height
from transformer_viz.widgets.transport import ICON, transport_icon
from transformer_viz.words.wording import plain_tooltip


class AttentionPage(Panel):
    """Shows attention over the steps of a run. ← → on the slider move from step to step and begin
    the replay, Space plays it."""

    def __init__(self, session: Session, explorer: Explorer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.replay = Replay(session, explorer, self)
        self._run: Run | None = None
        self._log: ProbeLog | None = None
        self._problem = ""
        self._outdated = True
        self._theme: Theme = LIGHT
        set_role(self, "paper")
        self.sentence = QComboBox()
        self.sentence.setAccessibleName("Probe sentence")
        self.sentence.view().setAccessibleName("Probe sentence")
        self.sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.play = QToolButton()
        self.play.setIconSize(QSize(ICON, ICON))
        self.play.setToolTip("Play from the start of training, or pause (Space on the slider)")
        self.slider = _StepSlider(self.replay)
        self.position = PlainLabel()
        self.position.setMinimumWidth(36 * GRID)
        set_role(self.position, "soft")
        self.back = QPushButton("Bac&k to my text")
        self.back.setToolTip("End the replay and restore your own text and its translation.")
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        row.addWidget(self.sentence, 3)
        row.addWidget(self.play)
        row.addWidget(self.slider, 4)
        row.addWidget(self.position)
        row.addWidget(self.back)
        for control in (self.sentence, self.play, self.slider, self.back):
            set_height(control, 7 * GRID)
        self.fed = ElidedLabel("soft")
        self.specialists = Specialists(session)
        self.placeholder = Placeholder()
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(4 * GRID, 2 * GRID, 4 * GRID, 2 * GRID)
        column.setSpacing(2 * GRID)
        column.addLayout(row)
        column.addWidget(self.fed)
        column.addWidget(self.specialists, 1)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(full)
        self._pages.addWidget(self.placeholder)

        self.sentence.activated.connect(self.replay.choose_sentence)
        self.play.clicked.connect(self.replay.toggle)
        self.back.clicked.connect(self.replay.close)
        self.specialists.stepChosen.connect(self.replay.go_to_step)
        self.replay.changed.connect(self._follow)

    def focus_part(self) -> QWidget:
        return self.slider

    def show_runs(self, runs: Sequence[Run]) -> None:
        """Show the first of these."""
        if self._run is not None:
            self._run.probesChanged.disconnect(self._invalidate)
        self._run = runs[0] if runs else None
        if self._run is not None:
            self._run.probesChanged.connect(self._invalidate)
        self.replay.show_run(self._run)
        self._invalidate()

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.specialists.apply_theme(theme)
        self._follow()

    def _invalidate(self) -> None:
        self._outdated = True
        if self.isVisible():
            self._read()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._outdated:
            self._read()
        else:
            self._follow()

    def _read(self) -> None:
        """The log of the run; it is small, a line for each recorded step."""
        self._outdated = False
        self._log, self._problem = None, ""
        if self._run is not None:
            try:
                self._log = read_probe_log(self._run.folder.probe_log)
            except UserError as error:
                self._problem = str(error)
        self._follow()

    def _follow(self) -> None:
        replay, log = self.replay, self._log
        there = log is not None and len(log.steps) > 0 and bool(replay.steps)
        self._pages.setCurrentIndex(0 if there else 1)
        if not there:
            self.placeholder.say(*self._nothing())
            return
        assert log is not None
        self._show_replay()
        self.fed.setText(self._translations(log))
        self.specialists.show_log(log, replay.step if replay.active else None)
        replay.best_head = self.specialists.standing_in

    def _show_replay(self) -> None:
        replay = self.replay
        sentences = [self.sentence.itemText(row) for row in range(self.sentence.count())]
        if tuple(sentences) != replay.sentences:
            self.sentence.clear()
            self.sentence.addItems(replay.sentences)
        self.sentence.setCurrentIndex(replay.sentence)
        self.slider.follow()
        where = f"step {replay.step:,} · {replay.index + 1} of {len(replay.steps)}"
        self.position.setText(replay.problem or where)
        self.position.setToolTip(plain_tooltip(replay.problem))
        self.play.setIcon(transport_icon(self._theme, "‖" if replay.playing else "▶"))
        self.play.setAccessibleName("Pause" if replay.playing else "Play")
        self.back.setEnabled(replay.active)

    def _translations(self, log: ProbeLog) -> str:
        """What the decoder was fed, and what the model itself translated at this step."""
        number, step = self.replay.sentence, self.replay.step
        config = self._run.config if self._run is not None else None
        probes = config.training.probes if config is not None else ()
        target = Probe.parse(probes[number]).target if number < len(probes) else None
        if target is None:
            return "The decoder reads the model's own translation, which changes from step to step."
        own = dict(zip(log.steps.tolist(), log.translations, strict=True)).get(step, ())
        translation = f"   The model's own translation: {own[number]}" if number < len(own) else ""
        return f"The decoder reads: {target}{translation}"

    def _nothing(self) -> tuple[str, str]:
        if self._run is None:
            return "No run selected", "Select a run in the list to see how its heads form."
        if self._problem:
            return f"⚠ {self._problem}", ""
        config = self._run.config
        if config is not None and not (config.training.probes and config.training.probe_points):
            return (
                "This run records no attention",
                "Probe sentences, and how often they are recorded, are set when a run is started.",
            )
        return (
            "No attention recorded yet",
            "It is recorded before the first step and then evenly in log(step).",
        )


class _StepSlider(QSlider):
    """Over the recorded steps, which lie evenly in the logarithm of the step."""

    def __init__(self, replay: Replay) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._replay = replay
        self.setAccessibleName("Training step")
        self.setToolTip(
            "Recorded steps, evenly in log(step). ← → steps, Home and End jump, Space plays."
        )
        self.setPageStep(4)
        self.setTickPosition(QSlider.TickPosition.TicksBelow)
        self.setTickInterval(1)
        self.valueChanged.connect(replay.go_to)

    def follow(self) -> None:
        """What the replay shows, without asking for it."""
        blocked = self.blockSignals(True)
        self.setRange(0, max(0, len(self._replay.steps) - 1))
        self.setValue(self._replay.index)
        self.blockSignals(blocked)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space:
            self._replay.toggle()
        else:
            super().keyPressEvent(event)
