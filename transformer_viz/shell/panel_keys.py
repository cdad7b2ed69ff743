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
    """A group of keys that do one thing, each in its own direction.

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
        """The keys in words, with the modifier named once: "Ctrl+← →"."""
        held = QKeySequence(self.modifier + "A").toString(how)[:-1] if self.modifier else ""
        return held + " ".join(
            _SYMBOLS.get(name) or QKeySequence(name).toString(how) for name in self.names.split(" ")
        )


_ZOOM = Keys("+ -", "zoom in, zoom out")

PANEL_KEYS: dict[str, tuple[Keys, ...]] = {
    "English text": (
        Keys("Up Down", "previous, next sentence in the history"),
        Keys("Return", "add the sentence to the history"),
        Keys("Return", "new line", "Shift+"),
    ),
    "whole translation": (
        Keys(_ARROWS, "choose another sentence"),
        Keys("C", "copy what is selected", "Ctrl+"),
    ),
    "German text": (
        Keys("Left Right", "previous, next token"),
        Keys("Home End", "first, last token"),
        Keys("C", "copy the translation", "Ctrl+"),
    ),
    "heads map": (
        Keys(_ARROWS, "select another head"),
        Keys("PgUp PgDown", "same place in another kind"),
        Keys("Home End", "first, last head in the row"),
        Keys("Home End", "very first, very last head", "Ctrl+"),
        Keys(_ARROWS, "extend the selection", "Shift+"),
        Keys(_ARROWS, "move the focus without selecting", "Ctrl+"),
        Keys("Space", "add or remove the focused head"),
        Keys("A", "select all heads of this kind", "Ctrl+"),
    ),
    "heatmap": (
        Keys(_ARROWS, "move the pin"),
        Keys("PgUp PgDown", "move the pin ten rows"),
        Keys(_ARROWS, "add a pin", "Ctrl+"),
        Keys("Del", "release the current pin"),
        _ZOOM,
        Keys("0 Home", "show the whole map"),
    ),
    "links": (
        Keys(_ARROWS, "next query, next link of the query"),
        Keys("PgUp PgDown", "ten queries back, forward"),
        Keys("Home End", "first, last query"),
    ),
    "scores": (
        Keys("Left Right PgUp PgDown", "previous, next query"),
        Keys("Up Down", "key above, below"),
        Keys("S", "toggle division by √d_k"),
    ),
    "positions": (
        Keys(_ARROWS, "move to another cell"),
        Keys("PgUp PgDown", "ten positions back, forward"),
        Keys("Return Space", "plot this dimension as a curve"),
    ),
    "decoding": (
        Keys("Space", "play, pause"),
        Keys("Left Right", "step back, forward"),
        Keys("Home End", "first, last step"),
        Keys("F2", "replace this token"),
    ),
    "candidates and hypotheses": (
        Keys("Up Down", "move through the list"),
        Keys("Return", "choose this one"),
    ),
    "beam tree": (
        Keys("Left Right", "along a hypothesis"),
        Keys("Up Down", "between the hypotheses of a step"),
        Keys("Home", "to the beginning"),
        Keys("End", "to the winner"),
        Keys("Return", "show this hypothesis"),
        _ZOOM,
        Keys("0", "show the whole tree"),
    ),
    "diagram": (
        Keys(_ARROWS, "walk to another box"),
        Keys("PgUp PgDown", "previous, next token"),
        Keys("Return", "show the heads of a block as maps"),
        Keys("Z", "zoom to the open block; press again for the whole"),
        _ZOOM,
        Keys("0", "show the whole diagram"),
    ),
    "comparison": (
        Keys(_ARROWS, "move to another cell"),
        Keys("PgUp PgDown", "ten rows up, down"),
        Keys("Return Space", "pin the cell"),
        Keys("Return", "add the cell to the pins", "Ctrl+"),
        _ZOOM,
        Keys("0 Home", "show the whole map"),
    ),
    "far links": (
        Keys("Up Down", "link above, below"),
        Keys("PgUp PgDown", "ten links up, down"),
        Keys("Home End", "first, last link"),
        Keys("Return", "select this one"),
    ),
    "distances": (Keys(_ARROWS, "select another head"),),
    "accuracy by distance": (Keys("Left Right", "previous, next distance"),),
    "heads by accuracy": (
        Keys("Up Down", "head above, below"),
        Keys("Home End", "best, last head"),
        Keys("Return", "select this one"),
    ),
    "inspector": (Keys("Up Down", "pin the key above, below"),),
    "table of heads": (
        Keys("Up Down PgUp PgDown", "select another head"),
        Keys("Left Right Home End", "move to another column"),
        Keys("S", "sort by this column; press again to reverse"),
        Keys("Return", "go to the sentences that show its role"),
    ),
    "map of measured heads": (
        Keys(_ARROWS, "select another head"),
        Keys("PgUp PgDown", "same place in another kind"),
        Keys("Return", "go to the sentences that show its role"),
    ),
    "heads that matter": (
        Keys("Up Down", "head above, below"),
        Keys("Return", "switch it off, or all heads on again"),
    ),
    "sentences of a role": (
        Keys("Up Down Home End", "move to another sentence"),
        Keys("Return", "show it with its head selected and cell pinned"),
    ),
    "heads that resolve it": (
        Keys("Up Down", "move to another head"),
        Keys("Return", "show it in the sentence"),
        Keys("Space", "switch the adjective"),
    ),
    "training curves": (
        Keys("Left Right", "previous, next point"),
        Keys("PgUp PgDown", "ten points back, forward"),
        Keys("Return", "replay this step, if its attention was recorded"),
        Keys(_ARROWS, "pan", "Shift+"),
        _ZOOM,
        Keys("0 Home", "show all"),
    ),
    "training slider": (
        Keys("Left Right Down Up", "previous, next recorded step"),
        Keys("PgDown PgUp", "four steps back, forward"),
        Keys("Home End", "first, newest step"),
        Keys("Space", "play, pause"),
    ),
}
