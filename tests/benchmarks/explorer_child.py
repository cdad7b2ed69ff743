"""The real window on a large model and a text of 4 096 tokens; prints what that took as JSON.

bench_explorer runs it. The argument is a folder for the model and the settings.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QTimer

from core.checkpoints.native import save_checkpoint
from core.trace.trace import AttentionKind, ComputedAttention, Trace
from tests.benchmarks.app_child import run_window
from tests.benchmarks.large_model import large_checkpoint, source_text
from tests.benchmarks.waiting import wait_until
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.startup import app
from transformer_viz.state.session import Phase

TOKENS = 4_096
TICK = 5  # ms between two turns of the event loop that should come on time
SWITCHES = 6
SCROLLS = 20


class MeasuredWindow(app.Window):
    """Opens the long text when the short one is drawn, and closes when all is measured."""

    long_text = ""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self._longest_turn = 0.0
        self._look = QTimer(self, interval=20)
        self._look.timeout.connect(self._begin)
        self._look.start()

    def _begin(self) -> None:
        if self._is_complete():
            self._look.stop()
            self._measure()
            self.close()

    def _measure(self) -> None:
        before = held_megabytes()
        ticker = QTimer(self, interval=TICK)
        ticker.timeout.connect(self._tick)
        self._last_turn = time.perf_counter()
        ticker.start()
        seconds = self._timed(lambda: self.show_text(self.long_text))
        trace = self._session.trace
        assert trace is not None
        kind = AttentionKind.ENCODER_SELF
        tokens = len(trace.source_tokens)
        switches = [
            self._timed(lambda n=n: self._session.select(kind=kind, layer=n % 6, head=n))
            for n in range(1, SWITCHES + 1)
        ]
        ticker.stop()
        canvas = self.stage.of(Heatmap).canvas
        canvas.zoom(8.0)
        scrolls = []
        for step in range(SCROLLS):
            canvas.reveal(step * tokens // SCROLLS, step * tokens // SCROLLS)
            start = time.perf_counter()
            canvas.repaint()
            scrolls.append(time.perf_counter() - start)
        gc.collect()
        heads = len(trace.every_head(kind))
        print(
            json.dumps(
                {
                    "tokens": tokens,
                    "seconds": seconds,
                    "switches": switches,
                    "scrolls": scrolls,
                    "longest_turn": self._longest_turn,
                    "megabytes": held_megabytes() - before,
                    "megabytes_recorded": recorded_bytes(trace) / 1e6,
                    "megabytes_of_every_map": heads * tokens**2 * 4 / 1e6,
                }
            ),
            flush=True,
        )

    def _tick(self) -> None:
        now = time.perf_counter()
        self._longest_turn = max(self._longest_turn, now - self._last_turn)
        self._last_turn = now

    def _timed(self, work: Callable[[], object]) -> float:
        start = time.perf_counter()
        work()
        wait_until(self._is_complete)
        return time.perf_counter() - start

    def _is_complete(self) -> bool:
        trace, session = self._session.trace, self._session
        return (
            trace is not None
            and trace.text == session.text
            and session.status.phase is Phase.READY
            and not self.is_painting()
        )


def recorded_bytes(trace: Trace) -> int:
    """Of the queries, keys and values of all layers."""
    return sum(
        array.nbytes
        for attention in trace.attention.values()
        if isinstance(attention, ComputedAttention)
        for layer in attention.projections
        for array in (layer.query, layer.key, layer.value)
    )


def held_megabytes() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


def main() -> int:
    folder = Path(sys.argv[1])
    checkpoint = large_checkpoint()
    path = folder / "large.safetensors"
    save_checkpoint(path, checkpoint.model, checkpoint.tokenizer, {})
    MeasuredWindow.long_text = source_text(TOKENS - 1, checkpoint.tokenizer)
    del checkpoint
    arguments = [str(path), "--text", "A short one.", "--config-dir", str(folder)]
    return run_window(MeasuredWindow, arguments)


if __name__ == "__main__":
    sys.exit(main())
