"""Where each head's tile lies in the heads map, and which heads lie at a point.

One section per kind, each with its own depth and width. By layer: a row of tiles per layer, a
column per head, both numbered; where a head was pruned there is no tile. Ranked: the heads of the
kind in the order of a statistic, wrapped into lines, each tile with a caption. All numbers are
logical pixels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

from PySide6.QtCore import QRect
from PySide6.QtGui import QFont

from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.theme import GRID, taller

MARGIN = 3 * GRID
_NARROWEST = 32 * GRID  # of the map: room for the titles
GAP = GRID
LEAST, MOST = 26, 128  # side of a tile
LEAST_IN_FIGURE = 3 * GRID  # where text has a size of its own
_BESIDE = 4 * GRID  # between kinds that stand beside each other

Rows: TypeAlias = tuple[tuple[Head, ...], ...]
"""The heads of one kind as they stand below each other."""


def rows_by_layer(trace: Trace) -> tuple[Rows, ...]:
    """One row per layer, for each kind that the trace has."""
    return tuple(
        tuple(
            tuple(Head(kind, layer, head) for head in trace.heads(kind, layer))
            for layer in range(trace.layers(kind))
        )
        for kind in trace.kinds
    )


@dataclass(frozen=True, slots=True)
class Bands:
    """The heights of lines of text, in pixels.

    Attributes:
        numbers: the heads' numbers; also the width of a layer's.
        caption: the line below a ranked tile.
        title: of a kind.
    """

    numbers: int = 4 * GRID
    caption: int = 4 * GRID
    title: int = 6 * GRID

    def fitted(self, font: QFont) -> "Bands":
        """Return higher bands where the text of the window is large."""
        return Bands(*(taller(height, font) for height in astuple(self)))


USUAL = Bands()


@lru_cache(maxsize=4)
def fit_by_layer(
    kinds: tuple[Rows, ...], width: int, height: int, bands: Bands = USUAL, least: int = LEAST
) -> "AtlasLayout":
    """The largest tiles that fit width and height; where even the least do not, it overflows."""
    by_width, by_height = _room(kinds, width, height, bands, captions=False)
    return AtlasLayout(kinds, max(least, min(by_width, by_height, MOST)), bands)


def fit_figure(
    kinds: tuple[Rows, ...], width: int, height: int, bands: Bands = USUAL
) -> "AtlasLayout":
    """Lay the heads out by layer for a figure, with the kinds below or beside each other, whichever
    gives larger tiles."""
    below = fit_by_layer(kinds, width, height, bands, LEAST_IN_FIGURE)
    fixed = AtlasLayout(kinds, 0, bands, beside=True)
    columns = sum(_widest([rows], False) for rows in kinds)
    rows = max(map(len, kinds), default=1)
    tile = min((width - fixed.width) // max(1, columns), (height - fixed.height) // max(1, rows))
    if tile <= below.tile:
        return below
    return AtlasLayout(kinds, min(tile, MOST), bands, beside=True)


def fit_ranked(
    ranked: Sequence[Sequence[Head]], width: int, height: int, least: int, bands: Bands = USUAL
) -> "AtlasLayout":
    """Choose lines as long as gives the largest tiles that fit; where they would be smaller than
    `least`, the side that a caption needs, choose tiles that fill the width and overflow the
    height."""
    fitting, filling = AtlasLayout((), 0, bands, captions=True), None
    for columns in range(1, max(map(len, ranked), default=0) + 1):
        rows = tuple(_wrapped(heads, columns) for heads in ranked)
        by_width, by_height = _room(rows, width, height, bands, captions=True)
        tile = min(by_width, by_height, MOST)
        if tile >= fitting.tile:
            fitting = AtlasLayout(rows, tile, bands, captions=True)
        if filling is None or by_width >= least:
            filling = AtlasLayout(rows, max(least, min(by_width, MOST)), bands, captions=True)
    return fitting if fitting.tile >= least or filling is None else filling


def _wrapped(heads: Sequence[Head], columns: int) -> Rows:
    return tuple(tuple(heads[at : at + columns]) for at in range(0, len(heads), columns))


@dataclass(frozen=True)
class Section:
    """The tiles of one kind of attention, below its title."""

    rows: Rows  # one may be empty, all heads of its layer being pruned
    left: int  # of the title
    right: int  # of the last tile
    top: int  # of the title
    first_row: int  # top of the first row of tiles

    @property
    def kind(self) -> AttentionKind:
        return self.heads[0].kind

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """The heads in reading order."""
        return tuple(head for row in self.rows for head in row)

    @cached_property
    def columns(self) -> int:
        """The number of columns by layer, up to the last head that any layer has."""
        return 1 + max(head.head for head in self.heads)

    @property
    def pruned(self) -> tuple[Head, ...]:
        """The heads that are missing among these columns, by layer."""
        present = set(self.heads)
        every = (
            Head(self.kind, layer, head)
            for layer in range(len(self.rows))
            for head in range(self.columns)
        )
        return tuple(head for head in every if head not in present)


class AtlasLayout:
    def __init__(
        self,
        kinds: Sequence[Rows],
        tile: int,
        bands: Bands = USUAL,
        *,
        captions: bool = False,
        beside: bool = False,
    ) -> None:
        """
        Args:
            tile: the side of a tile.
            captions: ranked, with a line below each tile.
            beside: whether the kinds stand beside each other, for a figure that nobody clicks.
        """
        self.kinds = tuple(kinds)
        self.tile, self.bands = tile, bands
        self.captions = captions
        self.pitch = tile + GAP
        self.row_pitch = self.pitch + bands.caption * captions
        numbers = 0 if captions else bands.numbers
        self.left = MARGIN + numbers
        sections = []
        left, top = MARGIN, 2 * GRID
        for rows in self.kinds:
            columns = _widest([rows] if beside else self.kinds, captions)
            right = left + numbers + columns * self.pitch - GAP
            section = Section(rows, left, right, top, top + bands.title + numbers)
            sections.append(section)
            if beside:
                left = right + _BESIDE
            else:
                top = section.first_row + len(rows) * self.row_pitch + GRID
        self.sections = tuple(sections)
        self.width = max([_NARROWEST, *(section.right + MARGIN for section in sections)])
        bottoms = [one.first_row + len(one.rows) * self.row_pitch + GRID for one in sections]
        self.height = max([2 * GRID, *bottoms]) + GRID
        self._rects = {
            head: self._place(section, row, column)
            for section in self.sections
            for row, heads in enumerate(section.rows)
            for column, head in zip(_columns(heads, captions), heads, strict=True)
        }
        self.gaps = {
            head: self._place(section, head.layer, head.head)
            for section in self.sections
            if not captions
            for head in section.pruned
        }
        """Where a tile would be if the head had not been pruned."""

    def _place(self, section: Section, row: int, column: int) -> QRect:
        left, top = self.first_column(section) + column * self.pitch, row * self.row_pitch
        return QRect(left, section.first_row + top, self.tile, self.tile)

    def first_column(self, section: Section) -> int:
        """The left edge of a section's first tiles."""
        return section.left + self.left - MARGIN

    def rect(self, head: Head) -> QRect:
        return QRect(self._rects[head])

    def head_at(self, x: int, y: int) -> Head | None:
        """The head whose tile covers the point; None between tiles."""
        return next((head for head, rect in self._rects.items() if rect.contains(x, y)), None)

    def heads_at(self, x: int, y: int) -> tuple[Head, ...]:
        """What a click at the point means: a tile's head, all heads of the layer whose number is
        there, or all of the kind whose title is there."""
        head = self.head_at(x, y)
        if head is not None:
            return (head,)
        for section in self.sections:
            if section.top <= y < section.top + self.bands.title:
                return section.heads
            row = (y - section.first_row) // self.row_pitch
            if not self.captions and x < self.left and 0 <= row < len(section.rows):
                return section.rows[row]
        return ()

    def __iter__(self) -> Iterator[Head]:
        """Every head, in reading order."""
        return iter(self._rects)


def _columns(row: Sequence[Head], captions: bool) -> Sequence[int]:
    """Where the heads of a row stand: ranked side by side, else by their numbers."""
    return range(len(row)) if captions else [head.head for head in row]


def _widest(kinds: Sequence[Rows], captions: bool) -> int:
    rows = (row for rows in kinds for row in rows)
    return max((column + 1 for row in rows for column in _columns(row, captions)), default=0)


def _room(
    kinds: Sequence[Rows], width: int, height: int, bands: Bands, *, captions: bool
) -> tuple[int, int]:
    """The sides of a tile at which the map fills the width, and the height."""
    fixed = AtlasLayout(kinds, 0, bands, captions=captions)
    columns, rows = max(1, _widest(kinds, captions)), max(1, sum(map(len, kinds)))
    by_width = (width - fixed.left - MARGIN + GAP) // columns - GAP
    return by_width, (height - fixed.height) // rows
