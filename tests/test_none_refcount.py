"""Some releases of PySide6 drop a reference to None with each call that returns nothing.

After some thousand calls an interpreter without an immortal None (Python 3.11) then aborts. This
is why pyproject.toml caps PySide6; the test says whether a newer release may be let in.
"""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

CALLS = 1000
NOISE = CALLS // 10  # other threads and the garbage collector move the count a little


def test_void_calls_keep_the_references_to_none(qtbot: QtBot) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        label.setText("a")
    assert sys.getrefcount(None) > before - NOISE
