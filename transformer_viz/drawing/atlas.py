"""The heads map: every head of all three kinds as a tile of one picture.

One section per kind, one row of tiles per layer, one column per head; each kind has its own depth
and width. `AtlasLayout` is the geometry (integers, logical pixels), `Atlas` the picture.

Shapes: h × w cells of a thumbnail.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QPainter

from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.colormap import MASKED, encode
from transformer_viz.drawing.hatch import hatch
from transformer_viz.drawing.images import to_image
from transformer_viz.drawing.pooling import pool_max
from transformer_viz.theme import GRID, Theme, scaled_font

THUMBNAIL = 64
"""The most cells a thumbnail keeps along a side."""

MARGIN = 3 * GRID
NUMBERS = 4 * GRID  # room for a layer's number, and for the heads' numbers
TITLE = 6 * GRID
GAP = GRID

HeadCounts: TypeAlias = tuple[tuple[AttentionKind, tuple[int, ...]], ...]
"""For each kind that a model has, the number of heads of each layer."""

TITLES = {
    AttentionKind.ENCODER_SELF: "Encoder self",
    AttentionKind.DECODER_SELF: "Decoder self",
    AttentionKind.CROSS: "Cross",
}


def head_counts(trace: Trace) -> HeadCounts:
    return tuple(
        (kind, tuple(trace.heads(kind, layer) for layer in range(trace.layers(kind))))
        for kind in trace.kinds
    )


def thumbnails(trace: Trace, size: int = THUMBNAIL) -> Iterator[tuple[Head, np.ndarray]]:
    """Every head with its codes, uint8 [min(Q, size), min(K, size)], in reading order.

    One head's map exists at a time, so the memory needed is that of one map, whatever the model.
    Safe to run in any thread.
    """
    for kind in trace.kinds:
        allowed = trace.allowed(kind)
        for layer in range(trace.layers(kind)):
            for head in range(trace.heads(kind, layer)):
                codes = encode(trace.weights(kind, layer, head), allowed)
                yield Head(kind, layer, head), pool_max(codes, size)


@dataclass(frozen=True, slots=True)
class Section:
    kind: AttentionKind
    heads: tuple[int, ...]  # of each layer
    top: int  # of the title
    first_row: int  # top of the first layer's tiles


class AtlasLayout:
    """Where each head's tile lies, and which head lies at a point."""

    def __init__(self, heads: HeadCounts, tile: int) -> None:
        """`tile`: the side of a tile."""
        self.heads = heads
        self.tile = tile
        self.pitch = tile + GAP
        self.left = MARGIN + NUMBERS
        sections = []
        bottom = 2 * GRID
        for kind, per_layer in heads:
            first_row = bottom + TITLE + NUMBERS
            sections.append(Section(kind, per_layer, bottom, first_row))
            bottom = first_row + len(per_layer) * self.pitch + GRID
        self.sections = tuple(sections)
        widest = max((max(counts, default=0) for _, counts in heads), default=0)
        self.width = self.left + widest * self.pitch - GAP + MARGIN
        self.height = bottom + GRID

    def rect(self, head: Head) -> QRect:
        section = next(s for s in self.sections if s.kind == head.kind)
        x = self.left + head.head * self.pitch
        y = section.first_row + head.layer * self.pitch
        return QRect(x, y, self.tile, self.tile)

    def head_at(self, x: int, y: int) -> Head | None:
        """The head whose tile covers the point; None between tiles."""
        column, in_column = divmod(x - self.left, self.pitch)
        for section in self.sections:
            row, in_row = divmod(y - section.first_row, self.pitch)
            if 0 <= row < len(section.heads) and 0 <= column < section.heads[row]:
                inside = in_row < self.tile and in_column < self.tile
                return Head(section.kind, row, column) if inside else None
        return None

    def __iter__(self) -> Iterator[Head]:
        """Every head, in reading order."""
        for section in self.sections:
            for layer, count in enumerate(section.heads):
                for head in range(count):
                    yield Head(section.kind, layer, head)


def fitting_tile(
    heads: HeadCounts,
    width: int,
    height: int,
    *,
    least: int = 26,
    most: int = 128,
) -> int:
    """The side of a tile so that the map fits width and height; never below `least` (the map
    then scrolls)."""
    widest = max((max(counts, default=0) for _, counts in heads), default=0)
    rows = sum(len(counts) for _, counts in heads)
    if widest == 0:
        return least
    fixed = AtlasLayout(heads, 0)
    by_width = (width - fixed.left - MARGIN + GAP) // widest - GAP
    by_height = (height - fixed.height) // rows
    return max(least, min(by_width, by_height, most))


class Atlas:
    """The picture. Tiles may arrive one by one; those still missing are empty frames."""

    def __init__(
        self, layout: AtlasLayout, theme: Theme, table: np.ndarray, ratio: float, font: QFont
    ) -> None:
        """`table`: RGBA uint8 [256, 4] by code; `ratio`: device pixels per logical pixel."""
        self.layout = layout
        self._theme = theme
        self._table = table
        self._ratio = ratio
        self._side = max(1, round(layout.tile * ratio))
        self._hatch = hatch(self._side, self._side, theme, period=max(3, round(4 * ratio)))
        self.image = QImage(
            max(1, round(layout.width * ratio)),
            max(1, round(layout.height * ratio)),
            QImage.Format.Format_ARGB32_Premultiplied,
        )
        self.image.setDevicePixelRatio(ratio)
        self.image.fill(theme.color("paper"))
        self._draw_frame(font)

    def draw(self, tiles: Mapping[Head, np.ndarray]) -> None:
        """Paint thumbnails, uint8 [h, w] each, into their tiles."""
        with QPainter(self.image) as painter:
            painter.setPen(self._theme.color("line"))
            for head, codes in tiles.items():
                tile = to_image(tile_pixels(codes, self._side, self._table, self._hatch))
                tile.setDevicePixelRatio(self._ratio)
                rect = self.layout.rect(head)
                painter.drawImage(rect.topLeft(), tile)
                painter.drawRect(rect.adjusted(-1, -1, 0, 0))

    def _draw_frame(self, font: QFont) -> None:
        layout, theme = self.layout, self._theme
        title, small = scaled_font(font, 1.0, bold=True), scaled_font(font, 0.75)
        right = layout.width - MARGIN
        left_middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        with QPainter(self.image) as painter:
            for section in layout.sections:
                name = TITLES[section.kind]
                painter.setFont(title)
                painter.setPen(theme.color("ink"))
                painter.drawText(QRect(MARGIN, section.top, right, TITLE), left_middle, name)
                note_left = MARGIN + QFontMetrics(title).horizontalAdvance(name) + 2 * GRID
                note = QRect(note_left, section.top, right - note_left, TITLE)
                self._draw_note(painter, note, small)
                painter.setPen(theme.color("faint"))
                for layer in range(len(section.heads)):
                    row = layout.rect(Head(section.kind, layer, 0))
                    row.setLeft(MARGIN)
                    painter.drawText(row, left_middle, str(layer + 1))
                for column in range(max(section.heads, default=0)):
                    rect = layout.rect(Head(section.kind, 0, column))
                    above = QRect(rect.left(), rect.top() - NUMBERS, rect.width(), NUMBERS)
                    painter.drawText(above, Qt.AlignmentFlag.AlignCenter, str(column + 1))
            painter.setPen(theme.color("line"))
            for head in layout:
                painter.drawRect(layout.rect(head).adjusted(-1, -1, 0, 0))

    def _draw_note(self, painter: QPainter, rect: QRect, font: QFont) -> None:
        """What rows and columns are, in the longest wording that fits."""
        metrics = QFontMetrics(font)
        for note in ("rows layers · columns heads", "layers × heads"):
            if metrics.horizontalAdvance(note) <= rect.width():
                painter.setFont(font)
                painter.setPen(self._theme.color("soft"))
                align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                painter.drawText(rect, align, note)
                break
        painter.setFont(font)


def tile_pixels(codes: np.ndarray, side: int, table: np.ndarray, masked: np.ndarray) -> np.ndarray:
    """A thumbnail [h, w] as a square of RGBA uint8 [side, side, 4].

    Shrinks by the maximum, grows by repetition; masked cells show `masked`, RGBA [side, side, 4].
    """
    codes = pool_max(codes, side)
    height, width = codes.shape
    rows = np.arange(side) * height // side
    columns = np.arange(side) * width // side
    codes = codes[rows[:, None], columns]  # [side, side]
    return np.where((codes == MASKED)[..., None], masked, table[codes])
