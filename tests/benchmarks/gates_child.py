"""The real window, in which one head after the other is switched off and on again; prints the
seconds from each switch to its translation and pictures as JSON.

bench_gates runs it. The arguments are those of the application.
"""

from __future__ import annotations

import json
import sys
import time

from PySide6.QtCore import QTimer

from tests.benchmarks.app_child import run_window
from tests.benchmarks.startup_child import LOOK
from tests.benchmarks.waiting import wait_until
from transformer_viz.startup import app
from transformer_viz.state.gates import ALL_ON, Gates, scaled
from transformer_viz.state.session import Phase


class SwitchedWindow(app.Window):
    """Starts when it first shows attention, and closes when it has been measured."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self._look = QTimer(self, interval=LOOK)
        self._look.timeout.connect(self._begin)
        self._look.start()

    def _begin(self) -> None:
        trace = self._session.trace
        if trace is None or self.is_painting():
            return
        self._look.stop()
        heads = [head for kind in trace.kinds for head in trace.every_head(kind)]
        seconds = [
            self._switch(gates) for head in heads for gates in (scaled(ALL_ON, [head], 0.0), ALL_ON)
        ]
        print(json.dumps({"tokens": len(trace.source_tokens), "switches": seconds}), flush=True)
        self.close()

    def _switch(self, gates: Gates) -> float:
        session, before = self._session, self._session.trace

        def shown() -> bool:
            ready = session.status.phase is Phase.READY
            return session.trace is not before and ready and not self.is_painting()

        start = time.perf_counter()
        session.set_gates(gates)
        wait_until(shown)
        return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(run_window(SwitchedWindow))
