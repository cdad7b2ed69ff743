"""Far links as arcs over a text that is seen whole, however long it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from core.counted import counted
from core.text.tokens import Token
from core.trace.reach import FarLink
from core.trace.trace import Head
from transformer_viz.drawing.cubics import distances, sampled
from transformer_viz.drawing.labels import draw_label, label_step, label_widths
from transformer_viz.drawing.theme import GRID, Theme, scaled_font

MARGIN = 4 * GRID
REACH = 1.5 * GRID  # pixels beside an arc that still touch it
_KAPPA = 4 / 3  # height of a cubic's control points over that of its curve
_SLANT = 18 * GRID  # the longest slanted label
_THICKEST = 1.25 * GRID  # pixels: a link of weight 1,
_THINNER = 0.75 * GRID  # over a text too long for its words
_HAIRLINE = 0.75
_DOT = 0.75 * GRID
_FADED = 0.35  # how much of its colour an arc keeps while another is in focus
_LEAST_COLOR = 0.3
_OTHERS = 0.55  # how much of the soft colour the arcs of heads have that are not selected


class Labels(Enum):
    """How the text below the arcs is written, in the order of the room that it takes."""

    RUNNING = auto()
    SLANTED = auto()
    RULER = auto()  # places in the text; the words of the link in focus alone


@dataclass(frozen=True, slots=True, eq=False)
class ArcsPicture:
    """Far links to be drawn as arcs.

    Attributes:
        links: heaviest first.
        heads: the selected ones, whose arcs have the accent.
        focus: which of the links stands out.
    """

    tokens: tuple[Token, ...]
    links: tuple[FarLink, ...]
    heads: frozenset[Head] = frozenset()
    focus: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ArcsLayout:
    """The places of tokens and arcs.

    Attributes:
        middles: [n], where each token is.
        rooms: [n], the width of each label in running text.
        ground: where the arcs stand.
        lift: how high an arc over the whole text rises.
    """

    labels: Labels
    middles: NDArray[np.float64]
    rooms: NDArray[np.float64]
    ground: float
    lift: float

    def thickness(self, link: FarLink) -> float:
        most = _THINNER if self.labels is Labels.RULER else _THICKEST
        return max(_HAIRLINE, most * link.weight)

    def curves(self, links: Sequence[FarLink]) -> NDArray[np.float64]:
        """Return control points from query to key, [N, 4, 2]; the longer a link, the higher."""
        ends = np.array([(link.query, link.key) for link in links], np.intp).reshape(-1, 2)
        longest = max(1, len(self.middles) - 1)
        span = np.abs(ends[:, 0] - ends[:, 1])
        top = self.ground - _KAPPA * self.lift * np.sqrt(np.maximum(span, 0.5) / longest)
        points = np.empty((len(links), 4, 2))
        points[:, :2, 0] = self.middles[ends[:, 0], None]
        points[:, 2:, 0] = self.middles[ends[:, 1], None]
        points[:, (0, 3), 1] = self.ground
        points[:, (1, 2), 1] = top[:, None]
        return points

    def link_at(self, point: QPointF, links: Sequence[FarLink]) -> int | None:
        """The arc under a point; of several equally near the heaviest, which is painted last."""
        if not links:
            return None
        lines = sampled(self.curves(links), 32)
        thickness = np.array([self.thickness(link) for link in links])
        gaps = np.maximum(distances(lines, np.array([point.x(), point.y()])) - thickness / 2, 0)
        nearest = int(gaps.argmin())
        return nearest if gaps[nearest] <= REACH else None

    def token_at(self, point: QPointF) -> int | None:
        """The token whose label, or place on the ruler, is under a point."""
        if point.y() < self.ground:
            return None
        nearest = int(np.abs(self.middles - point.x()).argmin())
        pitch = self.rooms[nearest] / 2 + GRID
        return nearest if abs(self.middles[nearest] - point.x()) <= pitch else None


def lay_out_arcs(rect: QRectF, tokens: Sequence[Token], font: QFont) -> ArcsLayout:
    """Lay out running text where it fits, else slanted labels, else a ruler."""
    line = QFontMetricsF(font).height()
    widths: NDArray[np.float64] = np.array(label_widths(font, tokens))
    middles: NDArray[np.float64]
    room = rect.width() - 2 * MARGIN
    gap = 2 * GRID
    needed = float(widths.sum()) + gap * (len(tokens) - 1)
    if needed <= room:
        labels, below = Labels.RUNNING, line + 2 * GRID
        spare = min(room - needed, 0.75 * needed)
        rooms = widths + gap + spare / len(tokens)
        left = rect.left() + MARGIN + (room - float(rooms.sum())) / 2
        middles = left + np.cumsum(rooms) - rooms / 2
    else:
        fits = room / len(tokens) >= 0.8 * line
        labels = Labels.SLANTED if fits else Labels.RULER
        longest = min(float(widths.max()), _SLANT) / 2**0.5
        below = longest + line if fits else 2 * line + 3 * GRID
        inset = min(longest, room / 8) if fits else 0.0  # the first label hangs to the left
        pitch, numbers = (room - inset) / len(tokens), np.arange(len(tokens), dtype=np.float64)
        middles = rect.left() + MARGIN + inset + pitch * (numbers + 0.5)
        rooms = np.full(len(tokens), pitch)
    ground = rect.bottom() - below - GRID
    return ArcsLayout(labels, middles, rooms, ground, max(8.0 * GRID, ground - rect.top() - line))


def draw_arcs(
    painter: QPainter, picture: ArcsPicture, layout: ArcsLayout, theme: Theme, font: QFont
) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(scaled_font(font, 1.0))
    left, right = layout.middles[0], layout.middles[-1]
    painter.setPen(QPen(theme.color("line"), 1))
    painter.drawLine(QPointF(left, layout.ground), QPointF(right, layout.ground))
    curves = layout.curves(picture.links)
    for index in _painting_order(picture):
        width = layout.thickness(picture.links[index])
        _draw_arc(painter, picture, curves[index], index, width, theme)
    _draw_text(painter, picture, layout, theme)
    if picture.focus is not None:
        _draw_weight(painter, picture.links[picture.focus], curves[picture.focus], theme)
    painter.restore()


def _painting_order(picture: ArcsPicture) -> list[int]:
    """Lightest first, those of the selected heads over the others, the one in focus last."""
    order = reversed(range(len(picture.links)))
    return sorted(
        order,
        key=lambda index: (index == picture.focus, picture.links[index].head in picture.heads),
    )


def _draw_arc(
    painter: QPainter,
    picture: ArcsPicture,
    curve: NDArray[np.float64],
    index: int,
    width: float,
    theme: Theme,
) -> None:
    """From the query to the key, where it ends in a dot."""
    link, points = picture.links[index], curve.tolist()
    mine = link.head in picture.heads
    part = _LEAST_COLOR + (1 - _LEAST_COLOR) * link.weight**0.5
    if not mine:
        part *= _OTHERS
    if picture.focus is not None:
        part = 1.0 if index == picture.focus else part * _FADED
    strong = mine or index == picture.focus
    color = _mixed(theme.color("paper"), theme.color("accent" if strong else "soft"), part)
    pen = QPen(color, width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    path = QPainterPath(QPointF(*points[0]))
    path.cubicTo(*(QPointF(*point) for point in points[1:]))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen)
    painter.drawPath(path)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(QPointF(*points[3]), _DOT, _DOT)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _draw_weight(
    painter: QPainter, link: FarLink, points: NDArray[np.float64], theme: Theme
) -> None:
    """On the top of the arc in focus, on paper, so that the arcs behind do not cross it."""
    text = f"{link.weight:.2f} · {counted(link.distance, 'token')}"
    metrics = QFontMetricsF(painter.font())
    size = metrics.size(0, text)
    middle = (points[0, 0] + points[3, 0]) / 2
    top = points[0, 1] + 0.75 * (points[1, 1] - points[0, 1])
    box = QRectF(middle - size.width() / 2, top - size.height(), size.width(), size.height())
    box.translate(0, -_THICKEST / 2)
    painter.fillRect(box.adjusted(-GRID, 0, GRID, 0), theme.color("paper"))
    painter.setPen(theme.color("ink"))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _draw_text(painter: QPainter, picture: ArcsPicture, layout: ArcsLayout, theme: Theme) -> None:
    focus = None if picture.focus is None else picture.links[picture.focus]
    ends = () if focus is None else (focus.query, focus.key)
    if layout.labels is Labels.RULER:
        _draw_ruler(painter, picture.tokens, layout, theme, ends)
        return
    touched = {end for link in picture.links for end in (link.query, link.key)}
    line = QFontMetricsF(painter.font()).height()
    for index, token in enumerate(picture.tokens):
        strong = index in ends
        soft = not strong and (bool(ends) or index not in touched)
        middle = float(layout.middles[index])
        if layout.labels is Labels.RUNNING:
            room = float(layout.rooms[index])
            box = QRectF(middle - room / 2, layout.ground + 2 * GRID, room, line)
            center = Qt.AlignmentFlag.AlignHCenter
            draw_label(painter, box, token, theme, align=center, strong=strong, soft=soft)
            continue
        painter.save()
        painter.translate(middle, layout.ground + 2 * GRID)
        painter.rotate(-45)
        box = QRectF(-_SLANT, -line / 2, _SLANT, line)
        draw_label(painter, box, token, theme, strong=strong, soft=soft)
        painter.restore()


def _draw_ruler(
    painter: QPainter,
    tokens: Sequence[Token],
    layout: ArcsLayout,
    theme: Theme,
    ends: Sequence[int],
) -> None:
    """Places from 1 on, and below them the tokens that the link in focus joins."""
    font = painter.font()
    small = scaled_font(font, 0.85)
    metrics = QFontMetricsF(small)
    painter.setFont(small)
    widest = metrics.horizontalAdvance(f"{len(tokens):,}")
    pitch = float(layout.middles[1] - layout.middles[0])
    for place in range(0, len(tokens) + 1, label_step(pitch, 3 * widest)):
        index = max(0, place - 1)
        x = float(layout.middles[index])
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawLine(QPointF(x, layout.ground), QPointF(x, layout.ground + GRID))
        painter.setPen(theme.color("faint"))
        box = QRectF(x - widest, layout.ground + GRID, 2 * widest, metrics.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"{index + 1:,}")
    painter.setFont(font)
    line = QFontMetricsF(font).height()
    top = layout.ground + GRID + metrics.height()
    widths = label_widths(font, [tokens[end] for end in ends])
    for end, width, (left, other) in zip(ends, widths, _apart(layout, ends, widths), strict=True):
        align = Qt.AlignmentFlag.AlignHCenter
        box = QRectF(left, top, min(width, other), line)
        draw_label(painter, box, tokens[end], theme, align=align, strong=True)


def _apart(
    layout: ArcsLayout, ends: Sequence[int], widths: Sequence[float]
) -> list[tuple[float, float]]:
    """Left edge and room of the labels of two ends: centred below them, but never over each
    other nor over the edge."""
    low, high = float(layout.middles[0]), float(layout.middles[-1])
    room = (high - low) / 2
    lefts = {}
    for end, width in zip(ends, widths, strict=True):
        left = float(layout.middles[end]) - min(width, room) / 2
        lefts[end] = min(max(left, low), high - min(width, room))
    if len(lefts) == 2:
        (first, first_width), (second, _) = sorted(zip(ends, widths, strict=True))
        end_of_first = lefts[first] + min(first_width, room) + 2 * GRID
        over = end_of_first - lefts[second]
        if over > 0:
            lefts[first] = max(low, lefts[first] - over)
            lefts[second] = lefts[first] + min(first_width, room) + 2 * GRID
    return [(lefts[end], room) for end in ends]


def _mixed(ground: QColor, color: QColor, part: float) -> QColor:
    pairs = zip(ground.getRgb()[:3], color.getRgb()[:3], strict=True)  # type: ignore[index]
    return QColor(*(round(low + part * (high - low)) for low, high in pairs))
