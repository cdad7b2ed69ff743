"""A monkey at the window: seeded, it clicks, types, presses keys, turns the wheel and opens files.

It is kept in a cage: where the system would ask for a file it gets one of its own, no web page is
opened, every process that it starts ends at once, and it cannot quit.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from PySide6.QtCore import QEventLoop, QObject, QPoint, QPointF, QProcess, Qt, QTimer, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from shiboken6 import isValid

from transformer_viz.engine import child, launch
from transformer_viz.shell.window import Window
from transformer_viz.training import runs

PAUSE = 5  # ms between two acts
REMEMBERED = 40  # acts, to be told when something went wrong
TEXTS = (
    *("The animal didn't cross the street because it was too tired.", "The dog slept. "),
    *("a", " ", "\t", "tired", "wide", "Größe", "駅で会う", "\u202eabc", "🙂👍🏽", "e\u0301\u0301"),
    *("0", "-1", "1e9", "0,5", "99999999999", "<b>hi</b>", "&amp;", "…", "x" * 300, ">>deu<< "),
    "The dog slept because it was tired. " * 40,
)
KEYS = (
    *(Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Space),
    *(Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home),
    *(Qt.Key.Key_End, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Backspace),
    *(Qt.Key.Key_Delete, Qt.Key.Key_Plus, Qt.Key.Key_Minus, Qt.Key.Key_0, Qt.Key.Key_A),
)
NO_MODIFIER = Qt.KeyboardModifier.NoModifier
MODIFIERS = (
    *(NO_MODIFIER,) * 8,
    *(Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier),
    Qt.KeyboardModifier.AltModifier,
)
LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


class Monkey(QObject):
    """Acts until it is told to stop; `done` follows."""

    done = Signal()

    def __init__(self, window: Window, seed: int, files: Sequence[Path]) -> None:
        """`files` are what it drops on the window, useful ones and others."""
        super().__init__()
        self._window = window
        self._random = random.Random(seed)
        self._files = files
        self._wanted = 0
        self.acts = 0
        self.last: deque[str] = deque(maxlen=REMEMBERED)
        window.commands["quit"].setEnabled(False)

    def play(self, acts: int) -> None:
        """Act so many times, then close what is open over the window."""
        self._wanted = self.acts + acts
        loop = QEventLoop()
        self.done.connect(loop.quit)
        QTimer.singleShot(0, self._act)
        loop.exec()
        self.done.disconnect(loop.quit)
        self._clear()

    def _act(self) -> None:
        if self.acts >= self._wanted:
            above = QApplication.activePopupWidget() or QApplication.activeModalWidget()
            if above is None:
                self.done.emit()
            else:  # a menu has a loop of its own, in which nothing would happen any more
                above.close()
                QTimer.singleShot(PAUSE, self._act)
            return
        self.acts += 1
        # before acting, since an open menu or dialog holds the act until it is closed
        QTimer.singleShot(PAUSE, self._act)
        above = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if above is not None and self._random.random() < 0.3:
            self._note("escape", above)
            QTest.keyClick(above, Qt.Key.Key_Escape)
            return
        kinds: dict[Callable[[QWidget], None], int] = {
            self._click: 8,
            self._hover: 4,
            self._press: 4,
            self._type: 2,
            self._turn: 1,
        }
        if above is None:
            kinds |= {self._command: 4, self._drop: 1, self._resize: 1}
        (act,) = self._random.choices(list(kinds), list(kinds.values()))
        act(above or self._window)

    def _click(self, top: QWidget) -> None:
        target = self._widget(top)
        button = self._random.choice((LEFT, LEFT, LEFT, LEFT, LEFT, RIGHT))
        times = self._random.choice((QTest.mouseClick,) * 5 + (QTest.mouseDClick,))
        self._note("click", target)
        times(target, button, self._modifier(), self._point(target))

    def _hover(self, top: QWidget) -> None:
        target = self._widget(top)
        self._note("hover", target)
        for point in [self._point(target) for _ in range(3)]:
            if isValid(target):  # the one before may have been its end
                QTest.mouseMove(target, point)

    def _press(self, top: QWidget) -> None:
        target = QApplication.focusWidget() or top
        key = self._random.choice(KEYS)
        self._note(f"press {key.name}", target)
        QTest.keyClick(target, key, self._modifier())

    def _type(self, top: QWidget) -> None:
        target = QApplication.focusWidget() or top
        text = self._random.choice(TEXTS)
        self._note(f"type {text[:20]!r}", target)
        if self._random.random() < 0.5 or not text.isascii():  # QTest types ASCII alone
            QGuiApplication.clipboard().setText(text)
            QTest.keyClick(target, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        else:
            QTest.keyClicks(target, text[:60])

    def _turn(self, top: QWidget) -> None:
        target = self._widget(top)
        point = self._point(target)
        self._note("turn", target)
        event = QWheelEvent(
            *(QPointF(point), QPointF(target.mapToGlobal(point)), QPoint()),
            QPoint(0, self._random.choice((-240, -120, 120, 240))),
            *(Qt.MouseButton.NoButton, self._modifier()),
            *(Qt.ScrollPhase.NoScrollPhase, False),
        )
        QApplication.sendEvent(target, event)

    def _command(self, _top: QWidget) -> None:
        """By its keys if it has any, as from the menu otherwise."""
        action = self._random.choice(list(self._window.commands))
        self._note(f"command {action.objectName()}", self._window)
        shortcuts = action.shortcuts()
        if not shortcuts:
            action.trigger()
            return
        keys = QKeySequence(self._random.choice(shortcuts))[0]
        QTest.keyClick(
            QApplication.focusWidget() or self._window, keys.key(), keys.keyboardModifiers()
        )

    def _drop(self, _top: QWidget) -> None:
        path = self._random.choice(self._files)
        self._note(f"open {path.name}", self._window)
        self._window.files.documents.open(path)

    def _resize(self, _top: QWidget) -> None:
        size = self._random.randint(640, 1600), self._random.randint(480, 1000)
        self._note(f"resize {size}", self._window)
        self._window.resize(*size)

    def _clear(self) -> None:
        """Close menus and dialogs; of a window above the window, the one on top first."""
        for _ in range(20):
            above = QApplication.activePopupWidget() or QApplication.activeModalWidget()
            if above is None:
                return
            above.close()
            QApplication.processEvents()

    def _widget(self, top: QWidget) -> QWidget:
        found = [
            widget
            for widget in top.findChildren(QWidget)
            if widget.isVisible() and widget.isEnabled() and not widget.size().isEmpty()
        ]
        return self._random.choice(found or [top])

    def _point(self, target: QWidget) -> QPoint:
        return QPoint(
            self._random.randrange(max(1, target.width())),
            self._random.randrange(max(1, target.height())),
        )

    def _modifier(self) -> Qt.KeyboardModifier:
        return self._random.choice(MODIFIERS)

    def _note(self, what: str, target: QWidget) -> None:
        name = target.accessibleName() or target.objectName()
        self.last.append(f"{what} on {type(target).__name__} {name}".rstrip())


@contextmanager
def caged(folder: Path) -> Iterator[None]:
    """What would leave the window stays in `folder`, or does not happen."""
    written = folder / "written"
    written.mkdir(exist_ok=True)
    real = launch.child

    def harmless(_arguments: Sequence[str]) -> QProcess:
        process = real(())
        process.setArguments(["-S", "-c", "raise SystemExit('This is a cage.')"])
        return process

    def save(_parent: QWidget, _title: str, start: str, *_rest: object) -> tuple[str, str]:
        return str(written / Path(start).name), ""

    nothing: dict[str, Callable[..., object]] = {
        "getOpenFileName": lambda *_: ("", ""),
        "getOpenFileNames": lambda *_: ([], ""),
        "getExistingDirectory": lambda *_: "",
        "getSaveFileName": save,
    }
    with (
        patch.multiple(QFileDialog, **nothing),
        patch.object(QDesktopServices, "openUrl", lambda _url: True),
        patch.object(launch, "child", harmless),
        patch.object(child, "child", harmless),
        patch.object(runs, "start", lambda *_: None),
    ):
        yield
