"""What a feature's commands may ask of the window."""

from pathlib import Path

from PySide6.QtWidgets import QMainWindow, QWidget

from transformer_viz.drawing.theme import Theme
from transformer_viz.state.selection import Selection


class Host(QMainWindow):
    """The main window as the features in it see it; `Window` implements it.

    Features are built with a `Host` instead of the window, because the window is built of the
    features.
    """

    @property
    def theme(self) -> Theme:
        """The theme that the window has now."""
        raise NotImplementedError

    @property
    def views(self) -> QWidget:
        """The views in the middle, which take the keyboard when a panel is hidden."""
        raise NotImplementedError

    def show_text(
        self, text: str, selection: Selection | None = None, *, at: int = 0, whole: bool = False
    ) -> None:
        """Put a text into the source field and translate the sentence at a place in it, or the
        whole of it as one."""
        raise NotImplementedError

    def show_a_map(self) -> None:
        """Show a view in which the cell of a head can be seen, unless one is shown."""
        raise NotImplementedError

    def open_file(self, path: Path) -> None:
        """Open a model, a trace, a session or a text, as File ▸ Open does."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Show a sentence that goes by itself."""
        raise NotImplementedError

    def show_notice(self, text: str) -> None:
        """Show a sentence that stays until it is closed."""
        raise NotImplementedError

    def fit_panels(self) -> None:
        """Hide side panels that leave a view too little room, and show those hidden so if there is
        room again."""
        raise NotImplementedError

    def make_room(self) -> None:
        """Close the hint of the first start, whose place a panel needs."""
        raise NotImplementedError
