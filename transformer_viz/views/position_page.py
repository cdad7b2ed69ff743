"""What the pictures of positions share."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from core.trace.positions import PositionTable
from transformer_viz.drawing.extent import Extent
from transformer_viz.theme import Theme, set_role
from transformer_viz.views.picture import Picture


@dataclass(frozen=True, slots=True)
class PositionState:
    """
    Attributes:
        extent: which positions are shown.
        dimensions: the columns chosen to be followed.
    """

    table: PositionTable
    extent: Extent
    dimensions: tuple[int, ...]


class PositionPage(QWidget):
    """One picture of positions with its controls."""

    def show_state(self, state: PositionState, theme: Theme) -> None:
        raise NotImplementedError

    def picture(self) -> Picture:
        """The part that is exported."""
        raise NotImplementedError


def dimension_name(table: PositionTable, dimension: int) -> str:
    """ "dimension 24: sine, wavelength 19.9"; of a learned table the number alone."""
    wavelengths = table.wavelengths
    if wavelengths is None:
        return f"dimension {dimension}"
    pair, part = table.pair_of(dimension)
    return f"dimension {dimension}: {part}, wavelength {wavelengths[pair]:,.1f}"


def label(role: str, *, wrap: bool = False) -> QLabel:
    """A line of plain text that never makes its window wider."""
    made = QLabel()
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(wrap)
    made.setSizePolicy(policy)
    set_role(made, role)
    return made
