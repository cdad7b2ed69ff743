"""What a run is and how it stands, in words, with its models to open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from core.files import is_there
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.launch import train_command
from transformer_viz.training.run import Run, RunState
from transformer_viz.widgets.list_style import list_style
from transformer_viz.widgets.style import set_role
from transformer_viz.words.training_wording import duration, quantity
from transformer_viz.words.wording import plain_tooltip

_PATH = Qt.ItemDataRole.UserRole
_SENTENCES = {
    RunState.STARTING: "Reading the data and learning the vocabulary.",
    RunState.RUNNING: "Training continues even when this window is closed.",
    RunState.PAUSED: "Paused; Resume continues. It stays paused when this window is closed.",
    RunState.STOPPED: "Stopped; Resume continues exactly from the last saved state.",
    RunState.FINISHED: "Finished; Resume trains it further.",
}


class Overview(QWidget):
    openWanted = Signal(object)  # Path of a model

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run: Run | None = None
        self.sentence = _label("State")
        self._facts = QFormLayout()
        self._values: dict[str, QLabel] = {}
        self._facts.setHorizontalSpacing(4 * GRID)
        self._facts.setVerticalSpacing(GRID)
        self._facts.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(4 * GRID, 3 * GRID, 3 * GRID, 3 * GRID)
        column.setSpacing(2 * GRID)
        column.addWidget(self.sentence)
        column.addLayout(self._facts)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(body)

        self.models = QListWidget()
        self.models.setAccessibleName("Models of this run")
        self.models.setFrameShape(QListWidget.Shape.NoFrame)
        self.models.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.models.itemActivated.connect(self._open)
        self.open = QPushButton("Open in the e&xplorer")
        self.open.clicked.connect(lambda: self._open(self.models.currentItem()))
        side = QVBoxLayout()
        side.setContentsMargins(0, 3 * GRID, 4 * GRID, 3 * GRID)
        side.setSpacing(2 * GRID)
        side.addWidget(_caption("Models"))
        side.addWidget(self.models, 1)
        side.addWidget(self.open)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(scroll, 3)
        row.addLayout(side, 2)
        self.show_runs([])

    def show_runs(self, runs: Sequence[Run]) -> None:
        """Show the first of these."""
        if self._run is not None:
            self._run.changed.disconnect(self._refresh)
        self._run = runs[0] if runs else None
        if self._run is not None:
            self._run.changed.connect(self._refresh)
        self._refresh()

    def open_first(self) -> None:
        """Open the model that stands first: the result, or the newest."""
        self._open(self.models.item(0))

    def choose(self, path: Path) -> None:
        """Make this model the current one, if it is one of the run shown."""
        for row in range(self.models.count()):
            if self.models.item(row).data(_PATH) == str(path):
                self.models.setCurrentRow(row)

    def apply_theme(self, theme: Theme) -> None:
        self.models.setStyleSheet(list_style(theme))

    def _refresh(self) -> None:
        run = self._run
        self.sentence.setText("" if run is None else state_sentence(run))
        failed = run is not None and run.state is RunState.FAILED
        set_role(self.sentence, "error" if failed else "")
        self._refresh_facts({} if run is None else dict(facts(run)))
        self._refresh_models([] if run is None else models(run))

    def _refresh_facts(self, entries: dict[str, str]) -> None:
        """Labels stay as long as their names do, and with them what is marked in them to copy."""
        if list(entries) != list(self._values):
            while self._facts.rowCount():
                self._facts.removeRow(0)
            self._values = {name: _label(name) for name in entries}
            for name, label in self._values.items():
                self._facts.addRow(_caption(name), label)
        for name, value in entries.items():
            if self._values[name].text() != value:
                self._values[name].setText(value)

    def _refresh_models(self, entries: list[tuple[str, Path]]) -> None:
        shown = [self.models.item(row).data(_PATH) for row in range(self.models.count())]
        if shown != [str(path) for _name, path in entries]:
            current = self.models.currentItem()
            chosen = None if current is None else current.data(_PATH)
            self.models.clear()
            for name, path in entries:
                item = QListWidgetItem(name, self.models)
                item.setData(_PATH, str(path))
                item.setToolTip(plain_tooltip(str(path)))
                if str(path) == chosen:
                    self.models.setCurrentItem(item)
            if self.models.currentItem() is None:
                self.models.setCurrentRow(0)
        self.open.setEnabled(bool(entries))

    def _open(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.openWanted.emit(Path(item.data(_PATH)))


def state_sentence(run: Run) -> str:
    return run.message or _SENTENCES.get(run.state, "")


def models(run: Run) -> list[tuple[str, Path]]:
    """The result first, then averages, checkpoints from the newest on, and the best."""
    found = [("result: mean of the last checkpoints", run.model)] if run.model else []
    found += [(path.stem, path) for path in run.averages()]
    for path in reversed(run.checkpoints()):
        found.append((f"step {_step(path):,}", path))
    found += [(f"step {_step(path):,}, among the best", path) for path in run.best_checkpoints()]
    return [(name, path) for name, path in found if path is not None]


def facts(run: Run) -> list[tuple[str, str]]:
    """Return names and values, as far as they are known."""
    found: list[tuple[str, str]] = []
    if run.config is not None:
        training, model = run.config.training, run.config.model
        found.append(("Data", "\n".join(map(str, _data(run)))))
        found.append(
            (
                "Model",
                f"{model.encoder_layers} + {model.decoder_layers} layers, "
                f"{model.encoder_heads} heads, d_model {model.d_model}, "
                f"vocabulary {model.vocab_size:,}",
            )
        )
        if "parameters" in run.started:
            found.append(("Parameters", quantity(run.started["parameters"])))
        found.append(("Device", f"{training.device}, {training.precision}"))
    seconds = run.last("seconds")
    if seconds is not None:
        found.append(("Trained for", duration(seconds)))
    speed = run.last("tokens_per_second")
    if speed is not None:
        found.append(("Speed", f"{speed:,.0f} target tokens/s"))
    if run.config is not None:
        command = str(run.about.get("command", ""))
        found.append(("Command", train_command(command, run.config, _free_beside(run.path))))
    found.append(("Folder", str(run.path)))
    return found


def _data(run: Run) -> Sequence[object]:
    """What the process found in the data, else what it was started with."""
    known = run.started.get("data") or run.about.get("data")
    return known or ([] if run.config is None else run.config.training.data)


def _free_beside(path: Path) -> Path:
    """A name for a further run of the same settings, as in "tiny-1-again"."""
    free, number = path.with_name(f"{path.name}-again"), 2
    while is_there(free):
        free, number = path.with_name(f"{path.name}-again-{number}"), number + 1
    return free


def _step(path: Path) -> int:
    return int(path.stem.removeprefix("step-"))


def _caption(text: str) -> QLabel:
    label = QLabel(text)
    label.setAlignment(Qt.AlignmentFlag.AlignTop)  # beside the first line of a value
    set_role(label, "soft")
    return label


def _label(name: str, text: str = "") -> QLabel:
    label = QLabel(text)
    label.setAccessibleName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
