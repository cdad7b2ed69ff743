"""What the run will need: two figures by formula at once, the time from a few real updates."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from core.counted import counted
from core.training.config import RunConfig
from core.training.estimate import memory_bytes, parameter_count
from transformer_viz.drawing.theme import GRID
from transformer_viz.engine.child import Child
from transformer_viz.widgets.style import set_role
from transformer_viz.words.training_wording import byte_size, duration, quantity

_UNKNOWN = "–"
_WORTH_IT = 1.1  # times as fast as float32 that bf16 has to be to be mentioned
_ASK = "Measure the &time"
_CANCEL = "&Cancel measuring"


class EstimateBox(QWidget):
    """Shows the estimate; `wanted` asks for `measure`, which starts a few real updates in a
    separate process."""

    wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.parameters, self.memory, self.time = (QLabel(_UNKNOWN) for _ in range(3))
        self.data = QLabel()  # what was found in the files
        self.data.setAccessibleName("Data")
        self.data.setTextFormat(Qt.TextFormat.PlainText)
        self.data.setWordWrap(True)
        self.data.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.data.hide()
        set_role(self.data, "soft")
        self.measure_button = QPushButton(_ASK)
        self.measure_button.setAutoDefault(False)
        self.measure_button.setToolTip("Take a few real steps with these settings and data")
        self.measure_button.clicked.connect(self._on_button)
        self._child = Child(self)
        self._child.finished.connect(self._on_measured)
        self._child.failed.connect(self._on_failed)
        self._child.runningChanged.connect(self._on_running)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4 * GRID)
        grid.setVerticalSpacing(GRID)
        for row, (name, label) in enumerate(
            (("Parameters", self.parameters), ("Memory", self.memory), ("Time", self.time))
        ):
            caption = QLabel(name)
            set_role(caption, "soft")
            label.setAccessibleName(name)
            label.setWordWrap(True)
            grid.addWidget(caption, row, 0)
            grid.addWidget(label, row, 1)
        grid.addWidget(self.measure_button, 0, 2, 2, 1)
        grid.addWidget(self.data, 3, 0, 1, 3)
        grid.setColumnStretch(1, 1)

    @property
    def measuring(self) -> bool:
        return self._child.running

    def set_config(self, config: RunConfig | None) -> None:
        """Show other settings, which make what was measured void."""
        self._child.cancel()
        self.measure_button.setEnabled(config is not None)
        set_role(self.time, "")
        self.time.setText(_UNKNOWN)
        self.data.hide()
        if config is None:
            self.parameters.setText(_UNKNOWN)
            self.memory.setText(_UNKNOWN)
        else:
            self.parameters.setText(quantity(parameter_count(config.model)))
            self.memory.setText(f"about {byte_size(memory_bytes(config))}, including the program")

    def measure(self, arguments: list[str]) -> None:
        set_role(self.time, "")
        self.time.setText("Taking a few steps…")
        self._child.run(arguments)

    def close_child(self) -> None:
        self._child.cancel()

    def _on_button(self) -> None:
        if self._child.running:
            self._child.cancel()
            self.time.setText(_UNKNOWN)
        else:
            self.wanted.emit()

    def _on_running(self, running: bool) -> None:
        self.measure_button.setText(_CANCEL if running else _ASK)

    def _on_measured(self, found: dict[str, Any]) -> None:
        each, epoch = found["seconds_per_update"], found["updates_per_epoch"]
        self.time.setText(
            f"about {duration(found['seconds'])}: {_precise(each)} per step, "
            f"{counted(epoch, 'step')} per epoch; including validations and "
            f"checkpoints{_half(found.get('bf16_speedup'))}"
        )
        self.data.setText("\n".join(found["data"]))
        self.data.setVisible(bool(found["data"]))

    def _on_failed(self, sentence: str) -> None:
        set_role(self.time, "error")
        self.time.setText(sentence)


def _half(speedup: float | None) -> str:
    """What to say of precision bf16."""
    if speedup is None or speedup < _WORTH_IT:
        return ""
    return f". Steps in precision bf16 are {speedup:.1f} times as fast here"


def _precise(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
