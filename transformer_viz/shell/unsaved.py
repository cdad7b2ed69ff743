"""Whether what is shown differs from the session file that the window belongs to."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from transformer_viz.shell.controller import Controller
from transformer_viz.shell.session_file import SavedSession
from transformer_viz.state.session import Session


def window_title(file: Path | None, model: str) -> str:
    """What the title bar says; Qt puts its mark of changes behind the file."""
    shown = [f"{_literal(file.name)}[*]"] if file is not None else []
    shown += [_literal(model)] if model else []
    return " – ".join([*shown, "Transformer Viz"])


def _literal(name: str) -> str:
    """A name in a title, where Qt takes [*] for the place of the mark."""
    return name.replace("[*]", "[*][*]")


class Unsaved(QObject):
    """Compares what would be saved now with what the file holds.

    It compares values, so undoing a change takes the mark away again. A session that has just been
    opened takes a moment to appear: until then only its text is compared, and what the program
    itself adapts, such as a selection in a shorter translation, is no change.
    """

    changed = Signal()  # `there` is another

    def __init__(
        self,
        session: Session,
        controller: Controller,
        shown: Callable[[], SavedSession],
        parent: QObject,
    ) -> None:
        """`shown` returns what would be saved now, without checksums."""
        super().__init__(parent)
        self._controller = controller
        self._shown = shown
        self._saved: SavedSession | None = None
        self._appearing = False
        self._there = False
        for signal in (
            session.passageChanged,
            session.traceChanged,
            session.selectionChanged,
            session.optionsChanged,
            session.gatesChanged,
            session.modelChanged,
            controller.settingsChanged,  # the search and the view
            controller.comparison.changed,
        ):
            signal.connect(self._compare)
        controller.settled.connect(self._on_settled)

    @property
    def there(self) -> bool:
        """Whether there are changes that the file does not hold; False without a file."""
        return self._there

    def follow(self, saved: SavedSession, *, appearing: bool = False) -> None:
        """Compare with this from now on; `appearing` if it is yet to be shown."""
        self._saved, self._appearing = saved, appearing
        self._compare()

    def forget(self) -> None:
        """Take what is shown for saved, if there is a file."""
        if self._saved is not None:
            self.follow(self._shown())

    def _on_settled(self) -> None:
        saved = self._saved
        if saved is None or not self._appearing or self._controller.loading:
            return
        self._appearing = False
        shown = self._shown()
        if shown.text == saved.text:
            kept = {name: getattr(saved, name) for name in ("view", "options", "second_text")}
            self._saved = replace(shown, **kept)
        self._compare()

    def _compare(self) -> None:
        if self._saved is None:
            return
        shown = self._shown()
        differs = shown.text != self._saved.text if self._appearing else shown != self._saved
        if differs != self._there:
            self._there = differs
            self.changed.emit()
