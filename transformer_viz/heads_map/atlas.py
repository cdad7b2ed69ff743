"""The heads map as one picture: every head of all three kinds as a tile of it.

Shapes: h × w cells of a thumbnail.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter

import numpy as np
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QPainter

from core.trace.pooled import pooled_weights
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.colormap import MASKED, encode
from transformer_viz.drawing.hatch import hatch
from transformer_viz.drawing.pooling import pool_max
from transformer_viz.drawing.theme import GRID, Theme, caption_font, scaled_font
from transformer_viz.engine.parallel import in_parallel
from transformer_viz.heads_map.atlas_layout import (
    GAP,
    MARGIN,
    AtlasLayout,
    Section,
)
from transformer_viz.words.titles import TITLES

THUMBNAIL = 64
"""The most cells a thumbnail keeps along a side."""
_SMALL = THUMBNAIL**2  # cells

_OUTLINE = 0.7  # opacity
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def thumbnails(
    trace: Trace, tops: Mapping[AttentionKind, float] | None = None, size: int = THUMBNAIL
) -> Iterator[tuple[Head, np.ndarray]]:
    """Every head with its codes, uint8 [min(Q, size), min(K, size)], in reading order.

    `tops`: the value of each kind that has the last colour; 1 where there is none.

    Small maps are made layer by layer; of large ones no more is made than the largest weights of
    their blocks. Safe to run in any thread.
    """
    for kind in trace.kinds:
        allowed, top = trace.allowed(kind), (tops or {}).get(kind, 1.0)
        small = allowed.size <= _SMALL
        shown = pool_max(allowed, size)
        heads = trace.every_head(kind)
        if not small:
            pooled = in_parallel(partial(pooled_weights, trace, size=size), heads)
            for head, weights in zip(heads, pooled, strict=True):
                yield head, encode(weights, shown, top=top)
            continue
        for layer, group in itertools.groupby(heads, key=attrgetter("layer")):
            maps = encode(trace.layer_weights(kind, layer), allowed, top=top)
            yield from zip(group, pool_max(maps, size), strict=True)


class Atlas:
    """The picture of all heads. Tiles may arrive one by one; those still missing are empty
    frames."""

    def __init__(
        self,
        layout: AtlasLayout,
        theme: Theme,
        table: np.ndarray,
        ratio: float,
        font: QFont,
        *,
        notes: tuple[str, ...],
        captions: Mapping[Head, tuple[str, str]] | None = None,
    ) -> None:
        """
        Args:
            table: RGBA uint8 [256, 4] by code.
            ratio: device pixels per logical pixel.
            notes: what the arrangement is, in wordings of falling length.
            captions: texts at the left and at the right below a tile.
        """
        self.layout = layout
        self._theme = theme
        self._ratio = ratio
        self._side = max(1, round(layout.tile * ratio))
        period = max(3, round(4 * ratio))
        self._masked = pack(hatch(self._side, self._side, theme, period=period))
        self._colors = pack(table)
        height, width = (max(1, round(n * ratio)) for n in (layout.height, layout.width))
        self.image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
        self.image.setDevicePixelRatio(ratio)
        self.image.fill(theme.color("paper"))
        self._pixels = np.frombuffer(self.image.bits(), np.uint32).reshape(height, width)
        self._font, self._notes, self._captions = font, notes, captions or {}
        with QPainter(self.image) as painter:
            self._draw_frame(painter)

    def draw(self, tiles: Mapping[Head, np.ndarray]) -> None:
        """Paint thumbnails, uint8 [h, w] each, into their tiles."""
        alike: dict[tuple[int, ...], list[Head]] = {}
        for head, codes in tiles.items():
            alike.setdefault(codes.shape, []).append(head)
        for heads in alike.values():
            codes = np.stack([tiles[head] for head in heads])
            pixels = tile_pixels(codes, self._side, self._colors, self._masked)
            for head, tile in zip(heads, pixels, strict=True):
                rect = self.layout.rect(head)
                top, left = round(rect.top() * self._ratio), round(rect.left() * self._ratio)
                self._pixels[top : top + self._side, left : left + self._side] = tile

    def paint(self, painter: QPainter) -> None:
        """The picture on another device, texts as texts."""
        for head in self.layout:
            rect, side = self.layout.rect(head), self._side
            left, top = round(rect.left() * self._ratio), round(rect.top() * self._ratio)
            painter.drawImage(rect, self.image.copy(left, top, side, side))
        self._draw_frame(painter)

    def _draw_frame(self, painter: QPainter) -> None:
        layout, theme = self.layout, self._theme
        for section in layout.sections:
            self._draw_title(painter, section)
            painter.setFont(caption_font(self._font))
            painter.setPen(theme.color("faint"))
            if not layout.captions:
                self._draw_numbers(painter, section)
        for head, (left, right) in self._captions.items():
            rect = layout.rect(head)
            line = QRect(rect.left(), rect.bottom() + 2, rect.width(), layout.bands.caption - 2)
            painter.setPen(theme.color("faint"))
            painter.drawText(line, _LEFT, left)
            painter.setPen(theme.color("ink"))
            painter.drawText(line, _RIGHT, right)
        painter.setPen(theme.color("line"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRects([layout.rect(head).adjusted(-1, -1, 0, 0) for head in layout])
        for gap in layout.gaps.values():
            middle = gap.center()
            painter.drawLine(middle - QPoint(GRID, 0), middle + QPoint(GRID, 0))

    def _draw_title(self, painter: QPainter, section: Section) -> None:
        """The kind, and what the arrangement is in the longest wording that fits."""
        layout, theme = self.layout, self._theme
        title, small = scaled_font(self._font, 1.0, bold=True), caption_font(self._font)
        right = section.right
        name = TITLES[section.kind]
        painter.setFont(title)
        painter.setPen(theme.color("ink"))
        painter.drawText(
            QRect(section.left, section.top, layout.width, layout.bands.title), _LEFT, name
        )
        left = section.left + QFontMetrics(title).horizontalAdvance(name) + 2 * GRID
        metrics = QFontMetrics(small)
        note = next((n for n in self._notes if metrics.horizontalAdvance(n) <= right - left), "")
        painter.setFont(small)
        painter.setPen(theme.color("soft"))
        painter.drawText(QRect(left, section.top, right - left, layout.bands.title), _RIGHT, note)

    def _draw_numbers(self, painter: QPainter, section: Section) -> None:
        layout = self.layout
        for layer in range(len(section.rows)):
            top = section.first_row + layer * layout.row_pitch
            beside = QRect(section.left, top, layout.left - MARGIN, layout.tile)
            painter.drawText(beside, _LEFT, str(layer + 1))
        numbers = layout.bands.numbers
        top = section.first_row - numbers
        for column in range(section.columns):
            left = layout.first_column(section) + column * layout.pitch
            above = QRect(left, top, layout.tile, numbers - GAP // 2)
            painter.drawText(above, Qt.AlignmentFlag.AlignCenter, str(column + 1))


def row_outlines(
    rows: Sequence[int], queries: int, tile: int, ratio: float, theme: Theme
) -> QImage:
    """Return outlines around rows of a map of so many queries, with neighbours in one, for a tile
    and a pixel around it, to be laid over every tile that shows such a map."""
    side = round((tile + 2) * ratio)
    image = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    color = theme.color("accent")
    color.setAlphaF(_OUTLINE)
    height = tile / queries
    with QPainter(image) as painter:
        painter.setPen(color)
        for first in sorted(row for row in rows if row - 1 not in rows):
            count = next(n for n in itertools.count(1) if first + n not in rows)
            painter.drawRect(0, round(first * height), tile + 1, max(2, round(count * height)) + 1)
    return image


def pack(pixels: np.ndarray) -> np.ndarray:
    """Convert opaque or empty RGBA uint8 [..., 4] to QImage's ARGB32, uint32 [...]."""
    wide = pixels.astype(np.uint32)
    return wide[..., 3] << 24 | wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2]


def tile_pixels(codes: np.ndarray, side: int, colors: np.ndarray, masked: np.ndarray) -> np.ndarray:
    """Thumbnails [..., h, w] as squares of ARGB32, uint32 [..., side, side].

    Shrinks by the maximum, grows by repetition; a code is drawn as `colors` [256] says, masked
    cells as `masked` [side, side].
    """
    codes = pool_max(codes, side)
    height, width = codes.shape[-2:]
    if (height, width) != (side, side):
        places = np.arange(side)
        codes = codes.take(places * height // side, axis=-2).take(places * width // side, axis=-1)
    pixels = colors.take(codes)  # [..., side, side]
    empty = codes == MASKED
    return np.where(empty, masked, pixels) if empty.any() else pixels
