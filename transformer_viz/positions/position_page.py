"""What the pictures of positions share."""

from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from core.trace.positions import PositionTable
from transformer_viz.drawing.theme import Theme
from transformer_viz.positions.extent import Extent
from transformer_viz.widgets.picture import Picture


@dataclass(frozen=True, slots=True)
class PositionState:
    """What a page of the positions shows.

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
    """Format "dimension 24: sine, wavelength 19.9"; of a learned table the number alone."""
    wavelengths = table.wavelengths
    if wavelengths is None:
        return f"dimension {dimension}"
    pair, part = table.pair_of(dimension)
    return f"dimension {dimension}: {part}, wavelength {wavelengths[pair]:,.1f}"
