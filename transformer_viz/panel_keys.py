"""The keys that each panel knows while it has the focus: for the sheet of shortcuts and the guide.

The commands of the menus are not among them; these have their keys everywhere.
"""

from dataclasses import dataclass

from PySide6.QtGui import QKeySequence

NATIVE = QKeySequence.SequenceFormat.NativeText

_SYMBOLS = {"Left": "←", "Right": "→", "Up": "↑", "Down": "↓", "-": "−", "Return": "Enter"}
_ARROWS = "Left Right Up Down"


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys that do one thing, each in its own direction.

    Attributes:
        names: as `QKeySequence` reads them, one space between two.
        does: what they do.
        modifier: what is held with each of them, as in "Ctrl+".
    """

    names: str
    does: str
    modifier: str = ""

    @property
    def sequences(self) -> tuple[QKeySequence, ...]:
        return tuple(QKeySequence(self.modifier + name) for name in self.names.split(" "))

    def text(self, how: QKeySequence.SequenceFormat = NATIVE) -> str:
        """As in "Ctrl+← →": the modifier is named once."""
        held = QKeySequence(self.modifier + "A").toString(how)[:-1] if self.modifier else ""
        return held + " ".join(
            _SYMBOLS.get(name) or QKeySequence(name).toString(how) for name in self.names.split(" ")
        )


_ZOOM = Keys("+ -", "zoom in, zoom out")

PANEL_KEYS: dict[str, tuple[Keys, ...]] = {
    "English text": (
        Keys("Up Down", "earlier, later sentence"),
        Keys("Return", "keep the sentence in the history"),
        Keys("Return", "break the line", "Shift+"),
    ),
    "German text": (
        Keys("Left Right", "previous, next token"),
        Keys("Home End", "first, last token"),
        Keys("C", "copy the translation", "Ctrl+"),
    ),
    "heads map": (
        Keys(_ARROWS, "select another head"),
        Keys("PgUp PgDown", "the same place in another kind"),
        Keys("Home End", "first, last head of the row"),
        Keys("Home End", "first, last head of all", "Ctrl+"),
        Keys(_ARROWS, "select all heads on the way", "Shift+"),
        Keys(_ARROWS, "go to a head without selecting it", "Ctrl+"),
        Keys("Space", "add that head, or take it out"),
        Keys("A", "select all heads of the kind", "Ctrl+"),
    ),
    "heatmap": (
        Keys(_ARROWS, "move the pin"),
        Keys("PgUp PgDown", "move it ten rows"),
        Keys(_ARROWS, "pin another cell", "Ctrl+"),
        Keys("Del", "take the current pin away"),
        _ZOOM,
        Keys("0 Home", "show the whole map"),
    ),
    "links": (
        Keys(_ARROWS, "another query, another of its links"),
        Keys("PgUp PgDown", "ten queries back, on"),
        Keys("Home End", "first, last query"),
    ),
    "scores": (
        Keys("Left Right PgUp PgDown", "previous, next query"),
        Keys("Up Down", "key above, below"),
        Keys("S", "divide by √d_k, or not"),
    ),
    "positions": (
        Keys(_ARROWS, "read another cell"),
        Keys("PgUp PgDown", "ten positions back, on"),
        Keys("Return Space", "follow its dimension as a curve"),
    ),
    "decoding": (
        Keys("Space", "play, pause"),
        Keys("Left Right", "step back, on"),
        Keys("Home End", "first, last step"),
        Keys("F2", "put another token here"),
    ),
    "candidates and hypotheses": (
        Keys("Up Down", "go to another"),
        Keys("Return", "take it"),
    ),
    "beam tree": (
        Keys("Left Right", "along a hypothesis"),
        Keys("Up Down", "through a step"),
        Keys("Home", "to the beginning"),
        Keys("End", "to the winner"),
        Keys("Return", "show this hypothesis"),
        _ZOOM,
        Keys("0", "show the whole tree"),
    ),
    "comparison": (
        Keys(_ARROWS, "go to another cell"),
        Keys("PgUp PgDown", "ten rows up, down"),
        Keys("Return Space", "pin the cell"),
        Keys("Return", "pin it beside the others", "Ctrl+"),
        _ZOOM,
        Keys("0 Home", "show the whole map"),
    ),
    "far links": (
        Keys("Up Down", "select the link above, below"),
        Keys("PgUp PgDown", "ten links up, down"),
        Keys("Home End", "the heaviest, the last one"),
        Keys("Return", "select this one"),
    ),
    "distances": (Keys(_ARROWS, "select another head"),),
    "accuracy by distance": (Keys("Left Right", "read off another distance"),),
    "heads by accuracy": (
        Keys("Up Down", "select the head above, below"),
        Keys("Home End", "the best, the last one"),
        Keys("Return", "select this one"),
    ),
    "inspector": (Keys("Up Down", "pin the key above, below"),),
    "table of heads": (
        Keys("Up Down PgUp PgDown", "select another head"),
        Keys("Left Right Home End", "go to another column"),
        Keys("S", "sort by that column; again, the other way round"),
        Keys("Return", "go to the sentences that show the role"),
    ),
    "map of measured heads": (
        Keys(_ARROWS, "select another head"),
        Keys("PgUp PgDown", "the same place in another kind"),
        Keys("Return", "go to the sentences that show the role"),
    ),
    "sentences of a role": (
        Keys("Up Down Home End", "go to another sentence"),
        Keys("Return", "show it with its head and cell"),
    ),
    "heads that resolve it": (
        Keys("Up Down", "go to another head"),
        Keys("Return", "show it in the sentence"),
        Keys("Space", "flip the adjective"),
    ),
    "curves of training": (
        Keys("Left Right", "read off the point before, after"),
        Keys("PgUp PgDown", "ten points back, on"),
        Keys("Return", "replay that step, where attention was recorded"),
        Keys(_ARROWS, "move the part that is shown", "Shift+"),
        _ZOOM,
        Keys("0 Home", "show all"),
    ),
    "slider over training": (
        Keys("Left Right Down Up", "recorded step before, after"),
        Keys("PgDown PgUp", "four back, on"),
        Keys("Home End", "first, newest step"),
        Keys("Space", "play, pause"),
    ),
}
