"""What a feature may ask of the program as a whole, without knowing how it is put together."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from core.trace.trace import Trace
from transformer_viz.state.gates import ALL_ON, Gates
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Search
from transformer_viz.state.settings import Settings


class Explorer(QObject):
    """Opens models, translates texts and shows traces; the controller implements it.

    Features are built with an `Explorer` instead of the controller, because the controller is built
    of the features.
    """

    noticed = Signal(str)  # one sentence that the user should read once
    openFailed = Signal(str)  # of a file, one that matters until another one is opened
    settled = Signal(object)  # Status: nothing is being computed any more
    closing = Signal()  # what is shown for the moment is to be put back before it is remembered

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        raise NotImplementedError

    @property
    def trace_file(self) -> Path | None:
        """The file that the trace shown was read from; None if the model made it."""
        raise NotImplementedError

    def change_settings(self, **changes: object) -> None:
        """Change the named fields of the settings, which are saved a moment later."""
        raise NotImplementedError

    def open(
        self,
        path: Path,
        *,
        passing: bool = False,
        gates: Gates = ALL_ON,
        search: Search | None = None,
    ) -> None:
        """Load a model beside the one in use, which it replaces once it is there, with these gates
        and this search, else the one that it brings along.

        A `passing` one is soon replaced by the next: what is selected and the gates stay, it is
        not remembered for the next start, and nothing is said if it is gone already.
        """
        raise NotImplementedError

    def translate(
        self, text: str, selection: Selection | None = None, *, at: int = 0, whole: bool = False
    ) -> None:
        """Show the sentence of this text that is at a place in it, and its translation as soon as
        there is one, with this selection in it, else with what is selected now. `whole`: the text
        is one sentence, however many it has."""
        raise NotImplementedError

    def show_trace(
        self, trace: Trace, path: Path, selection: Selection | None = None, about: str = ""
    ) -> None:
        """Show a trace from a file, until the text is edited: the model then answers again.
        `about` says in the status line what it is, in place of the file's name."""
        raise NotImplementedError
