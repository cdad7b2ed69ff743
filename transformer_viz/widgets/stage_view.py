"""What every picture on the stage has in common: it is computed only while it can be seen."""

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QPainter, QShowEvent
from PySide6.QtWidgets import QWidget

from transformer_viz.drawing.theme import LIGHT, Theme
from transformer_viz.state.options import ColorMap
from transformer_viz.state.session import Session
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.style import set_role
from transformer_viz.words.wording import head_name, heads_title


class StageView(Panel):
    """A view on the stage. Subclasses connect the signals they depend on to `invalidate`, and fill
    in `refresh` and `focus_part`."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.theme: Theme = LIGHT
        self.color_map = ColorMap.PAPER
        self._outdated = True
        self._export_room = QSize(0, 0)
        set_role(self, "paper")

    def invalidate(self, *_changed: object) -> None:
        """Follow the session: at once when visible, else when shown."""
        self._outdated = True
        if self.isVisible():
            self._follow()

    def refresh(self) -> None:
        """Make the picture anew from the session, the theme and the colour map."""
        raise NotImplementedError

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.invalidate()

    def set_color_map(self, color_map: ColorMap | str) -> None:
        if color_map != self.color_map:
            self.color_map = ColorMap(color_map)
            self.invalidate()

    @property
    def has_picture(self) -> bool:
        """Whether there is one to export; the rest of these is asked only then."""
        raise NotImplementedError

    def export_name(self) -> str:
        """What the picture shows, for the name of its file: all selected heads together."""
        heads = self.session.selection.heads
        return head_name(heads[0]) if len(heads) == 1 else heads_title(heads, averaged=True)

    def set_export_room(self, room: QSize) -> None:
        """Export for a room of this size in logical pixels, so that text need not be shrunk.

        A width or height of 0 means that the picture decides.
        """
        self._export_room = room

    def export_size(self) -> QSize:
        """The size of the exported picture, in logical pixels."""
        raise NotImplementedError

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        """Paint the picture into `rect`, of `export_size`, on any device: an image, SVG or PDF.

        Texts are drawn as texts, so that they can be searched and edited in a vector file.
        """
        raise NotImplementedError

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._outdated:
            self._follow()

    def _follow(self) -> None:
        self._outdated = False
        self.refresh()
