"""The application as it starts, with a line on stdout at each milestone of its start.

bench_startup runs it and holds the clock. The arguments are those of the application.
"""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, QTimer

from tests.benchmarks.app_child import run_window
from transformer_viz.startup import app

LOOK = 5  # ms between two looks at whether the picture is complete


class WatchedWindow(app.Window):
    """Says when it has been painted for the first time, and when it first shows attention."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self._painted = False
        self._look = QTimer(self, interval=LOOK)
        self._look.timeout.connect(self._report_attention)
        self._look.start()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint and not self._painted:
            self._painted = True
            # Reported once the children are painted too.
            QTimer.singleShot(0, lambda: print("visible", flush=True))
        return super().event(event)

    def _report_attention(self) -> None:
        if self._session.trace is not None and not self.is_painting():
            self._look.stop()
            print("attention", flush=True)


if __name__ == "__main__":
    sys.exit(run_window(WatchedWindow))
