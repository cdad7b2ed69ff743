"""The pictures of the README and the guide: what the window shows in each, as data.

A picture starts from what the program restores by itself: view, text, options and theme. The rest,
such as where the pointer is, follows as acts. Acts name tokens, buttons and fields by their text
and heads by what they look at, so that another bundled model changes nothing here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QWidget

from core.text.tokens import Token
from core.trace.trace import AttentionKind
from transformer_viz.bundled import FIRST_TEXT
from transformer_viz.linking import Place
from transformer_viz.options import Combine, LinksForm, Quantity, Scale, View, ViewOptions
from transformer_viz.session import Session
from transformer_viz.theme import ThemeChoice
from transformer_viz.window import Window


@dataclass(frozen=True, slots=True)
class Scene:
    """What an act works on."""

    window: Window
    session: Session


Act: TypeAlias = Callable[[Scene], object]
W = TypeVar("W", bound=QWidget)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """
    Attributes:
        name: of the file, without its suffix.
        part: an attribute of the window to show alone, "dialog" for the one that is open, or
            nothing for the whole window.
        run: whether there is a run in the training panel; a small one is then trained.
        random: whether there is a folder `RANDOM`, a MarianMT model of random weights.
        size: of the window, in pixels.
        hint: whether the line of the first start is shown.
    """

    name: str
    view: View = View.HEATMAP
    text: str = FIRST_TEXT
    options: ViewOptions = field(default_factory=ViewOptions)
    theme: ThemeChoice = ThemeChoice.LIGHT
    acts: tuple[Act, ...] = ()
    part: str = "stage"
    size: tuple[int, int] = (1280, 800)
    hint: bool = False
    run: bool = False
    random: bool = False


# What a user does


def press(text: str) -> Act:
    """Click the button with this text."""

    def act(scene: Scene) -> None:
        buttons = [one for one in _visible(QAbstractButton) if one.text() == text]
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


def hover(name: str, x: float, y: float) -> Act:
    """Point into the widget of this accessible name, at these shares of its width and height."""

    def act(scene: Scene) -> None:
        widget = _named(name)
        QTest.mouseMove(widget, QPoint(round(x * widget.width()), round(y * widget.height())))

    return act


def choose(name: str, entry: str) -> Act:
    """Choose an entry of the list of this accessible name."""

    def act(scene: Scene) -> None:
        box = _named(name)
        assert isinstance(box, QComboBox)
        box.setCurrentText(entry)
        box.activated.emit(box.currentIndex())

    return act


def open_path(name: str) -> Act:
    """Open a file or folder in the folder that the pictures are taken in."""
    return lambda scene: scene.window.files.documents.open(Path(name))


def run(command: str) -> Act:
    """Run a command of the menus, by its name in `Window.commands`."""
    return lambda scene: scene.window.commands[command].trigger()


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
        row, column = _query(scene, query), _key(scene, key)
        heads = trace.every_head(kind)
        best = max(heads, key=lambda one: trace.row(one.kind, one.layer, one.head, row)[column])
        scene.session.select(layer=best.layer, head=best.head)

    return act


def pin(query: str, *keys: str) -> Act:
    """Pin the row of a query, or its cells with these keys, all of them tokens."""

    def act(scene: Scene) -> None:
        row = _query(scene, query)
        for number, key in enumerate(keys or (None,)):
            scene.session.pin(row, None if key is None else _key(scene, key), add=number > 0)

    return act


def point(query: str, key: str) -> Act:
    """Have the pointer on a cell."""
    return lambda scene: scene.session.set_hover(_query(scene, query), _key(scene, key))


def point_at_target(token: str) -> Act:
    """Have the pointer on a token of the translation."""

    def act(scene: Scene) -> None:
        assert scene.session.trace is not None
        index = _index(scene.session.trace.predicted_tokens, token)
        scene.session.point(Place("target", index))

    return act


def _query(scene: Scene, label: str) -> int:
    """The row of a token; in a decoder map the row that predicts it."""
    trace, kind = scene.session.trace, scene.session.selection.kind
    assert trace is not None
    encoder = kind is AttentionKind.ENCODER_SELF
    return _index(trace.query_tokens(kind) if encoder else trace.predicted_tokens, label)


def _key(scene: Scene, label: str) -> int:
    assert scene.session.trace is not None
    return _index(scene.session.trace.key_tokens(scene.session.selection.kind), label)


def _index(tokens: Sequence[Token], label: str) -> int:
    return [token.label for token in tokens].index(label)


def _named(name: str) -> QWidget:
    return _only([one for one in _visible(QWidget) if one.accessibleName() == name], name)


def _visible(kind: type[W]) -> list[W]:
    tops = QApplication.topLevelWidgets()
    return [one for top in tops for one in top.findChildren(kind) if one.isVisible()]


def _only(found: list[W], name: str) -> W:
    if len(found) != 1:
        raise LookupError(f"{len(found)} visible widgets are named {name!r}")
    return found[0]


# The pictures, in the order of the guide

RANDOM = "random-marian"
WIDE = (1440, 900)
TRANSLATED = find_head(AttentionKind.CROSS, "es", "it")
RESOLVER = find_head(AttentionKind.ENCODER_SELF, "it", "animal")
TARGET = "Das Tier ging nicht über die Straße, weil es zu müde war."

PICTURES = (
    Picture(name="window-light", part="", hint=True),
    Picture(name="window-dark", part="", theme=ThemeChoice.DARK),
    Picture(name="linked", part="", acts=(TRANSLATED, point_at_target("es"))),
    Picture(name="heads-map", options=ViewOptions(order="previous"), part="heads_map"),
    Picture(name="heatmap", acts=(point("it", "animal"),)),
    Picture(name="heatmap-decoder", acts=(run("decoder_self"), pin("es"))),
    Picture(
        name="heatmap-heads",
        options=ViewOptions(combine=Combine.SIDE_BY_SIDE),
        acts=(keys("Heads map", "Home", "Shift+End"), pin("it", "animal")),
    ),
    Picture(
        name="heatmap-options",
        options=ViewOptions(scale=Scale.LOG, threshold=0.01, hide_specials=True, merge_words=True),
        acts=(pin("it", "it", "tired", "animal"),),
    ),
    Picture(
        name="heatmap-alti",
        options=ViewOptions(quantity=Quantity.ALTI),
        acts=(run("cross"), pin("es")),
    ),
    Picture(name="links", view=View.LINKS, acts=(press("All heads"), pin("it"))),
    Picture(
        name="links-arcs",
        view=View.LINKS,
        options=ViewOptions(links_form=LinksForm.ARCS, links_distance=3),
        acts=(run("release"),),
    ),
    Picture(name="scores", view=View.SCORES, acts=(pin("was"),)),
    Picture(
        name="scores-unscaled",
        view=View.SCORES,
        options=ViewOptions(scores_scaled=False),
        acts=(pin("was"),),
    ),
    Picture(name="inspector", part="inspector", acts=(TRANSLATED, pin("es"))),
    Picture(name="positions-grid", view=View.POSITIONS),
    Picture(name="positions-curves", view=View.POSITIONS, acts=(press("Curves"),)),
    Picture(name="positions-similarity", view=View.POSITIONS, acts=(press("Similarity"),)),
    Picture(name="positions-shift", view=View.POSITIONS, acts=(press("Shift"),)),
    Picture(
        name="what-if",
        view=View.POSITIONS,
        acts=(press("What if"), press("Positions off"), press("Shuffle words")),
    ),
    Picture(
        name="decoding",
        view=View.DECODING,
        acts=(TRANSLATED, pin("es"), write("Another token for this step", "sie")),
        size=WIDE,
    ),
    Picture(
        name="own-target",
        view=View.DECODING,
        acts=(TRANSLATED, write("A translation of your own", TARGET), pin("es")),
        size=WIDE,
    ),
    Picture(
        name="beam-tree",
        view=View.DECODING,
        acts=(TRANSLATED, pin("es"), press("Beam tree"), press("Search with beam 4")),
        size=WIDE,
    ),
    Picture(name="compare", view=View.COMPARE, size=WIDE),
    Picture(
        name="reach-links",
        view=View.REACH,
        acts=(
            RESOLVER,
            pin("it", "animal"),
            keys("Words pushed into the sentence", "PgUp", "PgUp"),
        ),
    ),
    Picture(name="reach-distances", view=View.REACH, acts=(RESOLVER, press("Distances"))),
    Picture(
        name="reach-accuracy",
        view=View.REACH,
        acts=(press("Accuracy"), keys("Heads by accuracy, best first", "Home")),
    ),
    Picture(
        name="heads-panel",
        part="",
        acts=(RESOLVER, run("heads")),
        size=WIDE,
    ),
    Picture(name="resolving", part="heads.dock", acts=(run("resolving"),), size=WIDE),
    Picture(
        name="gates",
        part="",
        acts=(RESOLVER, keys("Heads map", "Home", "Shift+End"), run("gate_off")),
        size=WIDE,
    ),
    Picture(
        name="real-model",
        part="",
        acts=(
            open_path(RANDOM),
            choose("Target language", "German · deu"),
            run("encoder_self"),
            pin(">>deu<<"),
        ),
        random=True,
    ),
    Picture(name="get-model", part="dialog", acts=(run("get_model"),)),
    Picture(name="export", part="dialog", acts=(run("export"),)),
    Picture(name="training-new", part="dialog", acts=(run("new_run"),)),
    Picture(
        name="training-curves",
        part="training.dock",
        acts=(run("show_training"), turn_to("Curves")),
        run=True,
    ),
    Picture(
        name="training-attention",
        part="",
        acts=(
            run("show_training"),
            turn_to("Attention"),
            keys("Heads by when they specialised", "Home", "Return"),
            keys("Step of training", "Left", "Left"),
        ),
        size=WIDE,
        run=True,
    ),
)
