"""Whether a device is there, asked of a process of its own: the window never imports torch."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from transformer_viz.engine.child import Child

SURE = ("auto", "cpu")  # there on every machine


class DeviceCheck(QObject):
    """Checks each device name once; `problems` has one sentence for each device that is missing."""

    changed = Signal()  # `problems`

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.problems: dict[str, str] = {}
        self._known = set(SURE)
        self._asked = ""
        self._child = Child(self, parse=str)
        self._child.finished.connect(lambda _device: self._known.add(self._asked))
        self._child.failed.connect(self._on_missing)

    def ask(self, device: str) -> None:
        """The newest question takes the place of one that is not answered yet."""
        if device in self._known or (device == self._asked and self._child.running):
            return
        self._asked = device
        self._child.run(["info", "--device", device])

    def close_child(self) -> None:
        self._child.cancel()

    def _on_missing(self, sentence: str) -> None:
        self._known.add(self._asked)
        self.problems[self._asked] = sentence
        self.changed.emit()
