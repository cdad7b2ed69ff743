"""Letting the event loop run until something is so, as it runs for a user: asleep in between."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QTimer

LOOK = 4
"""ms between two looks: asking all the time would hold the interpreter's lock against the threads
that are waited for."""


def wait_until(condition: Callable[[], bool]) -> None:
    loop = QEventLoop()

    def look() -> None:
        if condition():
            loop.quit()

    timer = QTimer(interval=LOOK)
    timer.timeout.connect(look)
    timer.start()
    loop.exec()
    timer.stop()
