"""How far positions go: what of them a picture shows, and where what the model knows ends."""

from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter, QPen

from transformer_viz.drawing.hatch import hatch_brush
from transformer_viz.drawing.theme import GRID, Theme, scaled_font


@dataclass(frozen=True, slots=True)
class Mark:
    """A position before which something ends, and what ends there."""

    position: int
    text: str
    token: str  # its colour, a token of the theme


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The positions that are shown.

    Attributes:
        shown: positions 0 … shown - 1 are in the picture.
        end: how many positions a learned table has; None of sinusoids, which go on.
        trained: the most tokens of a text in training; None where the model does not say.
        sentence: tokens of the sentence in the window.
    """

    shown: int
    end: int | None
    trained: int | None
    sentence: int

    @property
    def present(self) -> int:
        """How many of the positions shown exist."""
        return self.shown if self.end is None else min(self.shown, self.end)

    def marks(self) -> list[Mark]:
        """Return the marks that the picture shows, in ascending order."""
        marks = [Mark(self.sentence, f"this sentence · {self.sentence}", "accent")]
        if self.trained is not None:
            marks.append(Mark(self.trained, f"seen in training · {self.trained}", "ink"))
        if self.end is not None:
            marks.append(Mark(self.end, f"the table ends · {self.end}", "error"))
        shown = (mark for mark in marks if 0 < mark.position < self.shown)
        return sorted(shown, key=lambda mark: mark.position)

    def sentence_about_end(self) -> str:
        """What lies beyond training and beyond the table."""
        if self.end is None:
            beyond = "Beyond the longest text seen in training," if self.trained else "Without "
            "limit,"
            return f"{beyond} the angles continue by their formula."
        if self.trained is not None and self.trained < self.end:
            return (
                "Positions beyond the longest text in training kept their random initial values; "
                f"after position {self.end - 1} the table ends and the model refuses longer texts."
            )
        return f"After position {self.end - 1} the table ends, and the model refuses longer texts."


def region_brush(extent: Extent, position: int, theme: Theme, origin: QPointF) -> QBrush | None:
    """The ground at a position: the paper's own (None) up to the longest text in training, shaded
    beyond it, hatched where the table has ended."""
    if extent.end is not None and position >= extent.end:
        return hatch_brush(theme, origin)
    if extent.trained is not None and position >= extent.trained:
        return QBrush(theme.color("hover"))
    return None


def regions(extent: Extent) -> list[tuple[int, int]]:
    """The positions shown, as [start, stop) of one ground each."""
    ends = (extent.trained, extent.end)
    cuts = sorted({0, extent.shown, *(end for end in ends if end and end < extent.shown)})
    return list(pairwise(cuts))


def draw_tags(
    painter: QPainter, places: list[tuple[Mark, QPointF]], right: float, theme: Theme
) -> None:
    """A tag on the line of each mark, its right end at `right`; one that would cover the one
    before it stands further left. `places`: marks with a point on their line."""
    painter.save()
    painter.setFont(scaled_font(painter.font(), 0.85))
    metrics = QFontMetricsF(painter.font())
    height = metrics.height()
    before: QRectF | None = None
    for mark, point in places:
        width = metrics.horizontalAdvance(mark.text) + 2 * GRID
        tag = QRectF(right - width, point.y() - height / 2, width, height)
        if before is not None and tag.intersects(before):
            tag.moveRight(before.left() - GRID)
        painter.setPen(QPen(theme.color(mark.token), 1))
        painter.setBrush(theme.color("paper"))
        painter.drawRoundedRect(tag, 3, 3)
        painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, mark.text)
        before = tag
    painter.restore()
