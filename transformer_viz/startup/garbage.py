"""Python's cycle collector, kept in the main thread.

It would run in whichever thread happens to allocate. In the engine's thread it could delete a
widget that sits in a reference cycle, and Qt aborts when a widget dies outside its own thread.
"""

import gc

from PySide6.QtCore import QObject, QTimer

INTERVAL = 500  # ms


class GarbageCollector(QObject):
    """Collects by timer what Python's own thresholds would have collected by then."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._thresholds = gc.get_threshold()
        timer = QTimer(self, interval=INTERVAL)
        timer.timeout.connect(self.collect)
        timer.start()

    def collect(self) -> None:
        """Collect the oldest generation that is due, and with it the younger ones."""
        counts = zip(gc.get_count(), self._thresholds, strict=True)
        due = [generation for generation, (count, limit) in enumerate(counts) if count > limit > 0]
        if due:
            gc.collect(due[-1])

    def spare(self, *_loaded: object) -> None:
        """Exempt what exists now from collection: the modules of torch alone take 0.1 s."""
        if gc.get_freeze_count() == 0:
            gc.freeze()

    def stop(self) -> None:
        """Give the collector back to Python."""
        gc.enable()
