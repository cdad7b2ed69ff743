"""The real window, typed into and then given a long text; prints what that took as JSON.

bench_window runs it. The arguments are those of the application.
"""

from __future__ import annotations

import json
import sys
import time

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit

from core.corpus.grammar.generate import generate
from tests.benchmarks.app_child import run_window
from tests.benchmarks.memory import peak_megabytes
from tests.benchmarks.startup_child import LOOK
from tests.benchmarks.waiting import wait_until
from transformer_viz.startup import app
from transformer_viz.state.session import Phase

SENTENCE = "The old animal in front of the house didn't cross the street because it was too tire"
KEYS = "d." + "\b\bd." * 19  # the last letters of the sentence, typed again and again
LONG_TOKENS = 2_000
TICK = 5  # ms between two turns of the event loop that should come on time


class TypedWindow(app.Window):
    """Starts typing when it first shows attention, and closes when it has been measured."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self._look = QTimer(self, interval=LOOK)
        self._look.timeout.connect(self._begin)
        self._look.start()

    def _begin(self) -> None:
        if self._is_complete():
            self._look.stop()
            self._measure()
            self.close()

    def _measure(self) -> None:
        field = self.findChild(QPlainTextEdit)
        assert field is not None
        self.show_text(SENTENCE)
        self._wait()
        times = [self._key(field, key) for key in KEYS]
        trace = self._session.trace
        assert trace is not None
        print(json.dumps({"tokens": len(trace.source_tokens), "keystrokes": times}))
        gaps: list[float] = []
        last = time.perf_counter()

        def tick() -> None:
            nonlocal last
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

        ticker = QTimer(self, interval=TICK)
        ticker.timeout.connect(tick)
        ticker.start()
        start = time.perf_counter()
        self.show_text(long_text(), whole=True)
        self._wait()
        seconds = time.perf_counter() - start
        ticker.stop()
        trace = self._session.trace
        assert trace is not None
        print(
            json.dumps(
                {
                    "tokens": len(trace.source_tokens),
                    "seconds": seconds,
                    "longest_turn": max(gaps),
                    "megabytes": peak_megabytes(),
                }
            ),
            flush=True,
        )

    def _key(self, field: QPlainTextEdit, key: str) -> float:
        """Seconds from the key to the picture of the text that it makes."""
        start = time.perf_counter()
        if key == "\b":
            QTest.keyClick(field, Qt.Key.Key_Backspace)
        else:
            QTest.keyClicks(field, key)
        self._wait()
        return time.perf_counter() - start

    def _wait(self) -> None:
        wait_until(self._is_complete)

    def _is_complete(self) -> bool:
        trace, session = self._session.trace, self._session
        return (
            trace is not None
            and trace.text == session.text
            and session.status.phase is Phase.READY
            and not self.is_painting()
        )


def long_text() -> str:
    """About ``LONG_TOKENS`` tokens of the generated corpus."""
    sentences = [one.source for one in generate(LONG_TOKENS // 15, seed=5, split="test")]
    return " ".join(sentences)


if __name__ == "__main__":
    sys.exit(run_window(TypedWindow))
