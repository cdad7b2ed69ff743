"""A picture of links laid out for one size: what lies where, and what a point of it touches.

Shapes: N links.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont

from core.text.tokens import Token
from core.trace.trace import Booleans
from transformer_viz.drawing.cubics import Floats, distances, sampled
from transformer_viz.drawing.theme import GRID
from transformer_viz.links.link_choice import NO_LINKS, Indices, Links, touching
from transformer_viz.links.link_curves import curves
from transformer_viz.links.link_layout import LinkLayout, lay_out
from transformer_viz.state.options import LinksForm
from transformer_viz.state.selection import Cell

REACH = float(GRID)  # pixels beside a link that still touch it
_SAMPLES = 24  # points of an arc that stand for it when it is pointed at


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinksPicture:
    """What is to be drawn.

    Attributes:
        predicted: what the row of each query predicts, or nothing.
        slots: the colour of each series, see `head_colors`; nothing for the accent.
        names: of each series, for tooltips.
        headings: what stands over the queries and over the keys.
        ahead: whether some query may look at a later key.
        noun: what the weight of a link is called; it may be another amount.
        top: the weight of a link as thick as can be.
        sinks: series and key of each sink; links to it are dashed.
    """

    form: LinksForm
    queries: tuple[Token, ...]
    keys: tuple[Token, ...]
    predicted: tuple[Token, ...] = ()
    links: Links = field(default=NO_LINKS)
    slots: tuple[int, ...] = ()
    names: tuple[str, ...] = ("",)
    headings: tuple[str, str] = ("", "")
    ahead: bool = True
    noun: str = "weight"
    top: float = 1.0
    sinks: frozenset[tuple[int, int]] = frozenset()

    @property
    def series(self) -> int:
        return max(1, len(self.slots))


class LinksScene:
    """A picture laid out for a view of a size.

    `before`: the scene that was shown before, whose layout is kept where only the links differ.
    """

    def __init__(
        self,
        picture: LinksPicture,
        font: QFont,
        view: QSizeF,
        before: "LinksScene | None" = None,
    ) -> None:
        self.picture = picture
        self.font = font
        self.view = view
        if before is not None and before._fits(picture, font, view):
            self.layout: LinkLayout = before.layout
        else:
            self.layout = lay_out(
                picture.form,
                picture.queries,
                picture.keys,
                picture.predicted,
                font=font,
                view=view,
                series=picture.series,
                ahead=picture.ahead,
            )

    @cached_property
    def curves(self) -> Floats:
        """The control points from query to key, [N, 4, 2]."""
        return curves(self.layout, self.picture.links, self.picture.series)

    @cached_property
    def strengths(self) -> Floats:
        """The parts of the thickness that the links have, [N]."""
        strengths: Floats = np.minimum(self.picture.links.weight / self.picture.top, 1)
        return strengths

    def marked(self, cells: Sequence[Cell]) -> Booleans:
        """Return which links belong to any of the cells, [N]."""
        found = np.zeros(len(self.picture.links), np.bool_)
        for query, key in cells:
            found |= touching(self.picture.links, query, key)
        return found

    def within(self, rect: QRectF) -> Indices:
        """The links that may be seen in a part of the picture, in the order of painting."""
        low, high = self._bounds
        spare = self.layout.thickness
        seen = (low[:, 0] <= rect.right() + spare) & (high[:, 0] >= rect.left() - spare)
        seen &= (low[:, 1] <= rect.bottom() + spare) & (high[:, 1] >= rect.top() - spare)
        return np.flatnonzero(seen)

    def token_at(self, point: QPointF) -> Cell:
        """The query or the key whose label, or the room beside it, is at a point."""
        layout, x, y = self.layout, point.x(), point.y()
        along, across = (y, x) if layout.vertical else (x, y)
        first, second = layout.edges
        if layout.form is LinksForm.ARCS:
            inside = first <= across <= second
            return (layout.queries.at(along) if inside else None), None
        if across <= first:
            return layout.queries.at(along), None
        return None, (layout.keys.at(along) if across >= second else None)

    def link_at(self, point: QPointF, among: Booleans) -> int | None:
        """The link, of those `among` [N] the links, that is under a point: the nearest within
        `REACH`, of several the one painted last."""
        at = np.array([point.x(), point.y()])
        near = self.within(QRectF(point, QSizeF(0, 0)).adjusted(-REACH, -REACH, REACH, REACH))
        candidates = near[among[near]]
        if not len(candidates):
            return None
        lines = sampled(self.curves[candidates], 2 if self._straight else _SAMPLES)
        half = self.layout.thickness * self.strengths[candidates] / 2
        gaps = np.maximum(distances(lines, at) - half, 0)
        nearest = len(gaps) - 1 - int(np.argmin(gaps[::-1]))
        return int(candidates[nearest]) if gaps[nearest] <= REACH else None

    def _fits(self, picture: LinksPicture, font: QFont, view: QSizeF) -> bool:
        """Whether another picture is laid out as this one is."""
        here = (
            *(self.picture.form, self.picture.queries, self.picture.keys, self.picture.predicted),
            *(self.picture.series, self.picture.ahead, self.font, self.view),
        )
        there = (
            *(picture.form, picture.queries, picture.keys, picture.predicted),
            *(picture.series, picture.ahead, font, view),
        )
        return here == there

    @property
    def _straight(self) -> bool:
        return self.layout.form is not LinksForm.ARCS

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        """[N, 2] each, the corners of a box around each link."""
        a, b, c, d = self.curves.swapaxes(0, 1)  # pairwise: a reduction of four is 10 times slower
        low = np.minimum(np.minimum(a, b), np.minimum(c, d))
        return low, np.maximum(np.maximum(a, b), np.maximum(c, d))
