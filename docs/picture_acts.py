"""What a user does for a picture: clicks, keys and choices, and what can be done by nothing else.

Acts name tokens, buttons and fields by their text and heads by what they look at, so that another
bundled model changes nothing here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QWidget

from core.heads import read_head
from core.text.tokens import Token
from core.trace.trace import AttentionKind
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.window import Window
from transformer_viz.state.linking import Place
from transformer_viz.state.session import Session


@dataclass(frozen=True, slots=True)
class Scene:
    """What an act works on and a check looks at."""

    window: Window
    session: Session
    controller: Controller


Act: TypeAlias = Callable[[Scene], object]
W = TypeVar("W", bound=QWidget)


def press(text: str) -> Act:
    """Click the button with this text, or with this accessible name."""

    def act(scene: Scene) -> None:
        buttons = [
            one for one in visible(QAbstractButton) if text in (one.text(), one.accessibleName())
        ]
        QTest.mouseClick(_only(buttons, text), Qt.MouseButton.LeftButton)

    return act


def keys(name: str, *sequences: str) -> Act:
    """Press keys in the widget of this accessible name."""

    def act(scene: Scene) -> None:
        widget = _named(name)
        widget.setFocus()
        for sequence in sequences:
            QTest.keySequence(widget, QKeySequence(sequence))

    return act


def write(name: str, text: str) -> Act:
    """Type a text into the field of this accessible name, and Enter."""

    def act(scene: Scene) -> None:
        widget, key = _named(name), QEvent.Type.KeyPress
        for character in text:  # QTest types ASCII alone
            none = Qt.KeyboardModifier.NoModifier
            QApplication.sendEvent(widget, QKeyEvent(key, 0, none, character))
        QTest.keyClick(widget, Qt.Key.Key_Return)

    return act


def choose(name: str, text: str) -> Act:
    """Choose the entry with this text in the list of this accessible name."""

    def act(scene: Scene) -> None:
        widget = _named(name)
        assert isinstance(widget, QComboBox)
        widget.setCurrentText(text)

    return act


def open_path(name: str) -> Act:
    """Open a file or folder in the folder that the pictures are taken in."""
    return lambda scene: scene.window.files.documents.open(Path(name))


def run(command: str) -> Act:
    """Run a command of the menus, by its name in `Window.commands`."""
    return lambda scene: scene.window.commands[command].trigger()


def choose_run(name: str) -> Act:
    """Choose a run in the training panel, which is open."""

    def act(scene: Scene) -> None:
        panel = scene.window.training.panel
        assert panel is not None
        panel.choose(next(run for run in panel.runs if run.name == name))

    return act


def turn_to(tab: str) -> Act:
    """Turn to a tab of the training panel."""

    def act(scene: Scene) -> None:
        panel = scene.window.training.panel
        assert panel is not None
        titles = [panel.tabs.tabText(i).replace("&", "") for i in range(panel.tabs.count())]
        panel.tabs.setCurrentIndex(titles.index(tab))

    return act


def find_head(kind: AttentionKind, query: str, key: str) -> Act:
    """Select the head of a kind in which a query looks at a key more than in any other."""

    def act(scene: Scene) -> None:
        trace = scene.session.trace
        assert trace is not None
        scene.session.select(kind=kind)
        row, column = row_of(scene, query), key_of(scene, key)
        heads = trace.every_head(kind)
        best = max(heads, key=lambda one: trace.row(one.kind, one.layer, one.head, row)[column])
        scene.session.select(layer=best.layer, head=best.head)

    return act


def choose_head(name: str) -> Act:
    """Select a head by its name."""
    return lambda scene: scene.session.select(**read_head(name)._asdict())


def pin(query: str, *keys: str) -> Act:
    """Pin the row of a query, or its cells with these keys, all of them tokens."""

    def act(scene: Scene) -> None:
        row = row_of(scene, query)
        for number, key in enumerate(keys or (None,)):
            scene.session.pin(row, None if key is None else key_of(scene, key), add=number > 0)

    return act


def point(query: str, key: str) -> Act:
    """Have the pointer on a cell."""
    return lambda scene: scene.session.set_hover(row_of(scene, query), key_of(scene, key))


def point_at_target(token: str) -> Act:
    """Have the pointer on a token of the translation."""

    def act(scene: Scene) -> None:
        assert scene.session.trace is not None
        index = _index(scene.session.trace.predicted_tokens, token)
        scene.session.point(Place("target", index))

    return act


def row_of(scene: Scene, label: str) -> int:
    """The row of a token; in a decoder map the row that predicts it."""
    trace, kind = scene.session.trace, scene.session.selection.kind
    assert trace is not None
    encoder = kind is AttentionKind.ENCODER_SELF
    return _index(trace.query_tokens(kind) if encoder else trace.predicted_tokens, label)


def key_of(scene: Scene, label: str) -> int:
    """The column of a token."""
    assert scene.session.trace is not None
    return _index(scene.session.trace.key_tokens(scene.session.selection.kind), label)


def _index(tokens: Sequence[Token], label: str) -> int:
    return [token.label for token in tokens].index(label)


def _named(name: str) -> QWidget:
    return _only([one for one in visible(QWidget) if one.accessibleName() == name], name)


def visible(kind: type[W]) -> list[W]:
    """The widgets of a kind in all windows and dialogs."""
    tops = QApplication.topLevelWidgets()
    return [one for top in tops for one in top.findChildren(kind) if one.isVisible()]


def _only(found: list[W], name: str) -> W:
    """Raises LookupError, with a sentence, unless there is exactly one."""
    if len(found) != 1:
        raise LookupError(f"{len(found)} visible widgets are named “{name}” instead of one.")
    return found[0]
