"""The way of one token as a river: its width is the length of the stream, what sub-layers add flows
in from the sides, and beside it the vectors themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from core.trace.states import Sublayer
from transformer_viz.drawing.numbers import compact, signed
from transformer_viz.drawing.strips import draw_strip
from transformer_viz.drawing.theme import GRID, Theme, grown, scaled_font, taller
from transformer_viz.stream.token_stream import Source, Step, TokenStream

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_CENTRE = Qt.AlignmentFlag.AlignCenter
_SMALL = 0.85
_LINE = 5 * GRID  # of one vector in a band
_GAP = 3 * GRID  # between bands
_HEAD = 7 * GRID  # above all bands
_MARGIN = 4 * GRID
_NAMES, _RIVER, _DIAL, _LABEL, _NUMBER = (grid * GRID for grid in (27, 27, 15, 26, 13))
_SOURCES = 50 * GRID
_LEAST_STRIP = 20 * GRID
_WIDEST = 0.5  # of the river's column, for the longest vector
_THINNEST = 1.5
_THICKEST = 0.3  # of a band, for a branch where it enters
_DIAL_RADIUS = 3.5 * GRID


@dataclass(frozen=True, slots=True)
class Band:
    """The places of one step."""

    whole: QRectF
    name: QRectF
    river: QRectF
    dial: QRectF
    lines: tuple[QRectF, ...]  # of its vectors, from the bottom to the top
    sources: QRectF


@dataclass(frozen=True, slots=True)
class StreamStyle:
    """The theme, font and colours; `colors` is RGBA uint8 [256, 4] (`diverging_table`)."""

    theme: Theme
    colors: np.ndarray
    font: QFont


def least_width(font: QFont) -> int:
    columns = _NAMES + _RIVER + _DIAL + _LABEL + _LEAST_STRIP + _NUMBER + _SOURCES
    return math.ceil(grown(columns, font)) + 2 * _MARGIN + 4 * GRID


def stream_height(stream: TokenStream, font: QFont) -> int:
    lines = sum(len(step.vectors) for step in stream.steps)
    return lines * taller(_LINE, font) + len(stream.steps) * _GAP + heads_height(font) + _MARGIN


def lay_out_stream(stream: TokenStream, width: float, font: QFont) -> tuple[Band, ...]:
    """Return the band of each step, from the bottom to the top."""
    line = taller(_LINE, font)
    names, river, dial, sources = (grown(room, font) for room in (_NAMES, _RIVER, _DIAL, _SOURCES))
    bands = []
    bottom = float(stream_height(stream, font) - _MARGIN)
    for step in stream.steps:
        height = line * len(step.vectors) + _GAP
        whole = QRectF(_MARGIN, bottom - height, width - 2 * _MARGIN, height)
        inner = whole.adjusted(0, _GAP / 2, 0, -_GAP / 2)
        left = inner.left()
        name = QRectF(left, inner.top(), names, inner.height())
        course = QRectF(name.right(), whole.top(), river, height)
        turn = QRectF(course.right(), inner.top(), dial, inner.height())
        beside = QRectF(inner.right() - sources, inner.top(), sources, inner.height())
        room = QRectF(turn.right() + 2 * GRID, 0, beside.left() - turn.right() - 5 * GRID, line)
        lines = tuple(
            room.translated(0, inner.bottom() - (number + 1) * line)
            for number in range(len(step.vectors))
        )
        bands.append(Band(whole, name, course, turn, lines, beside))
        bottom -= height
    return tuple(bands)


def source_rects(band: Band, step: Step, font: QFont) -> tuple[QRectF, ...]:
    """The column of each head or unit of a step."""
    if not step.sources:
        return ()
    pitch = min(grown(10 * GRID, font), band.sources.width() / len(step.sources))
    return tuple(
        QRectF(
            band.sources.left() + number * pitch, band.sources.top(), pitch, band.sources.height()
        )
        for number in range(len(step.sources))
    )


def draw_token_stream(
    painter: QPainter, stream: TokenStream, width: float, style: StreamStyle
) -> None:
    bands = lay_out_stream(stream, width, style.font)
    _Drawing(painter, stream, bands, style).draw()


def draw_column_heads(
    painter: QPainter, stream: TokenStream, width: float, style: StreamStyle, top: float
) -> None:
    """Draw what each column shows, on ground of its own, where the bands are scrolled."""
    bands = lay_out_stream(stream, width, style.font)
    height = heads_height(style.font)
    painter.fillRect(QRectF(0, top, width, height), style.theme.color("paper"))
    _Drawing(painter, stream, bands, style).draw_heads(top)
    painter.setPen(QPen(style.theme.color("line"), 1))
    painter.drawLine(QLineF(0, top + height - 0.5, width, top + height - 0.5))


def heads_height(font: QFont) -> int:
    """Return the height of the heads of the columns."""
    return taller(_HEAD, font)


class _Drawing:
    def __init__(
        self,
        painter: QPainter,
        stream: TokenStream,
        bands: tuple[Band, ...],
        style: StreamStyle,
    ) -> None:
        self._painter = painter
        self._stream = stream
        self._bands = bands
        self._style = style
        self._theme = style.theme
        self._plain = scaled_font(style.font, 1.0)
        self._bold = scaled_font(style.font, 1.0, bold=True)
        self._small = scaled_font(style.font, _SMALL)

    def draw(self) -> None:
        self.draw_heads(0.0)
        layer: int | None = None
        for step, band in zip(self._stream.steps, self._bands, strict=True):
            if step.layer != layer:
                self._rule(band.whole.bottom(), band)
                layer = step.layer
            self._draw_names(step, band)
            self._draw_river(step, band)
            self._draw_dial(step, band)
            self._draw_vectors(step, band)
            self._draw_sources(step, band)

    # Parts

    def draw_heads(self, top: float) -> None:
        """What each column shows."""
        band = self._bands[0]
        height = heads_height(self._style.font)
        limit = compact(float(f"{self._stream.limit:.2g}"))
        label = grown(_LABEL, self._style.font)
        for rect, text, align in (
            (band.river, "length", _CENTRE),
            (band.dial, "turn", _CENTRE),
            (band.lines[0].adjusted(label, 0, 0, 0), f"−{limit} orange, +{limit} blue", _LEFT),
            (band.lines[0], "length", _RIGHT),
            (band.sources, "heads · most active units", _LEFT),
        ):
            place = QRectF(rect.left(), top, rect.width(), height)
            self._write(place, text, "soft", self._small, align)

    def _rule(self, y: float, band: Band) -> None:
        self._painter.setPen(QPen(self._theme.color("line"), 1))
        self._painter.drawLine(QLineF(band.whole.left(), y, band.whole.right(), y))

    def _draw_names(self, step: Step, band: Band) -> None:
        line = taller(_LINE, self._style.font)
        upper = QRectF(band.name.left(), band.name.center().y() - line, band.name.width(), line)
        if step.layer is None or len(step.vectors) < 2:
            self._write(band.name, step.title, "ink", self._bold, _LEFT)
            return
        self._write(upper, step.title, "ink", self._bold, _LEFT)
        self._write(
            upper.translated(0, line), f"layer {step.layer + 1}", "soft", self._small, _LEFT
        )

    def _draw_river(self, step: Step, band: Band) -> None:
        """From below, where the stream enters; a branch comes in from one side; a norm may narrow
        or widen what leaves."""
        painter, theme, rect = self._painter, self._theme, band.river
        before, total, after = (
            self._width(length, rect) for length in (step.before, step.total, step.after)
        )
        x, low, high = rect.center().x(), rect.bottom(), rect.top()
        joined = low - rect.height() * 0.55
        settled = high + rect.height() * 0.2
        course = [(low, before), (joined, total), (settled, after), (high, after)]
        path = QPainterPath(QPointF(x + before / 2, low))
        for side, places in ((1, course), (-1, course[::-1])):
            path.lineTo(x + side * places[0][1] / 2, places[0][0])
            for (y0, w0), (y1, w1) in pairwise(places):
                a, b, middle = x + side * w0 / 2, x + side * w1 / 2, (y0 + y1) / 2
                path.cubicTo(a, middle, b, middle, b, y1)
        path.closeSubpath()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent_soft"))
        painter.drawPath(path)
        if step.added is not None and step.layer is not None:
            self._draw_branch(step, rect, joined, total)
        if step.added is None or not math.isclose(step.total, step.after):
            half = max(total, after) / 2 + 2 * GRID
            painter.setPen(QPen(theme.color("soft"), 1))
            painter.drawLine(QLineF(x - half, settled, x + half, settled))

    def _draw_branch(self, step: Step, rect: QRectF, joined: float, total: float) -> None:
        """Attention comes in from the left, the network from the right."""
        assert step.added is not None
        width = self._width(step.added, rect)
        side = 1 if step.sublayer is Sublayer.FEED_FORWARD else -1
        x, thick = rect.center().x(), min(width, _THICKEST * rect.height())
        outer, edge = x + side * rect.width() / 2, x + side * total / 2
        inner = edge - side * min(width, total / 2)
        upper, lower = rect.bottom() - thick - 2, rect.bottom() - 2
        path = QPainterPath(QPointF(outer, upper))
        path.quadTo(edge, upper, edge, joined)
        path.lineTo(inner, joined)
        path.quadTo(inner, lower, outer, lower)
        path.closeSubpath()
        color = self._theme.color("accent")
        color.setAlphaF(0.75)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(color)
        self._painter.drawPath(path)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)

    def _width(self, length: float, rect: QRectF) -> float:
        share = length / self._stream.longest if self._stream.longest else 0.0
        return max(_THINNEST, share * rect.width() * _WIDEST)

    def _draw_dial(self, step: Step, band: Band) -> None:
        """The stream before points up; after, it is turned."""
        if math.isnan(step.angle):
            return
        painter, theme = self._painter, self._theme
        line = taller(_LINE, self._style.font)
        room = band.dial
        radius = min(_DIAL_RADIUS, room.height() / 2)
        if room.height() >= 2 * radius + line:
            centre = QPointF(room.center().x(), room.center().y() - line / 2)
            text = QRectF(room.left(), centre.y() + radius, room.width(), line)
            align = _CENTRE
        else:
            centre = QPointF(room.left() + radius + GRID, room.center().y())
            text = QRectF(centre.x() + radius + GRID, room.top(), room.width(), room.height())
            align = _LEFT
        circle = QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("chip"))
        painter.drawEllipse(circle)
        painter.setBrush(theme.color("accent_soft"))
        painter.drawPie(circle, round(16 * (90 - step.angle)), round(16 * step.angle))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("faint"), 1))
        painter.drawLine(QLineF(centre, QPointF(centre.x(), circle.top())))
        turned = math.radians(step.angle)
        end = centre + QPointF(math.sin(turned), -math.cos(turned)) * radius
        painter.setPen(QPen(theme.color("accent"), 2))
        painter.drawLine(QLineF(centre, end))
        self._write(text, f"{step.angle:.0f}°", "ink", self._plain, align)

    def _draw_vectors(self, step: Step, band: Band) -> None:
        label, number = grown(_LABEL, self._style.font), grown(_NUMBER, self._style.font)
        for vector, line in zip(step.vectors, band.lines, strict=True):
            self._write(
                QRectF(line.left(), line.top(), label - GRID, line.height()),
                vector.name,
                "soft",
                self._small,
                _LEFT,
            )
            strip = QRectF(
                line.left() + label,
                line.top() + GRID,
                line.width() - label - number,
                line.height() - 2 * GRID,
            )
            draw_strip(
                self._painter,
                strip,
                vector.values,
                self._stream.limit,
                self._style.colors,
                self._theme,
            )
            self._write(line, signed(vector.length), "ink", self._plain, _RIGHT)

    def _draw_sources(self, step: Step, band: Band) -> None:
        if not step.sources:
            return
        largest = max(abs(source.value) for source in step.sources) or 1.0
        line = QFontMetricsF(self._small).height()
        for source, rect in zip(
            step.sources, source_rects(band, step, self._style.font), strict=True
        ):
            self._draw_source(source, rect, largest, line)

    def _draw_source(self, source: Source, rect: QRectF, largest: float, line: float) -> None:
        """A bar on its name; one below 0 is orange as its number is negative."""
        painter, theme = self._painter, self._theme
        name = QRectF(rect.left(), rect.bottom() - line, rect.width(), line)
        self._write(name, source.name, "soft", self._small, _CENTRE)
        room = rect.height() - 2 * line
        height = max(1.0, room * abs(source.value) / largest)
        thickness = min(4.0 * GRID, rect.width() - GRID)
        bar = QRectF(rect.center().x() - thickness / 2, name.top() - height, thickness, height)
        painter.fillRect(bar, theme.color("accent" if source.value >= 0 else "warning"))
        if rect.width() >= QFontMetricsF(self._small).horizontalAdvance("0.00"):
            value = QRectF(rect.left(), bar.top() - line, rect.width(), line)
            self._write(value, signed(source.value), "ink", self._small, _CENTRE)

    def _write(
        self, rect: QRectF, text: str, token: str, font: QFont, align: Qt.AlignmentFlag
    ) -> None:
        self._painter.setFont(font)
        self._painter.setPen(self._theme.color(token))
        shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        self._painter.drawText(rect, align | Qt.TextFlag.TextSingleLine, shown)
