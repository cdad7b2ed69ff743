"""A constituency tree over its words, what a bracket looks at, and the gold tree upside down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from transformer_viz.drawing.numbers import share
from transformer_viz.drawing.theme import GRID, Theme, caption_font, taller
from transformer_viz.tree.parsed import Node, Parsed

_CENTRE = Qt.AlignmentFlag.AlignCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_MARGIN = 4 * GRID
_SIDE = 16 * GRID  # names of the strips
_PAD = 3 * GRID  # between columns
_CHIP = 6 * GRID  # height of a label
_GAP = 4 * GRID  # between levels
_STRIP = 6 * GRID
_NUMBER_FROM = 0.05  # smaller weights are shown by their colour alone
_MOST_COLOR = 0.75  # of the accent over the paper, at weight 1


@dataclass(frozen=True, slots=True)
class Strip:
    """What one decoder row looks at.

    Attributes:
        name: of the token that the row wrote.
        weights: one for each word.
    """

    name: str
    weights: Sequence[float]


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """The places of all parts; ``nodes`` and ``gold`` have a rectangle for each node."""

    nodes: tuple[QRectF, ...]
    gold: tuple[QRectF, ...]
    words: tuple[QRectF, ...]
    strips: tuple[float, ...]  # top of each
    strip_height: float
    size: QSize

    def node_at(self, point: QPointF) -> int | None:
        """Return the node of the output at a point: its label, or the column of its word."""
        for place, rect in enumerate(self.nodes):
            if rect.adjusted(-GRID, -GRID, GRID, GRID).contains(point):
                return place
        return None

    def word_at(self, point: QPointF) -> int | None:
        """Return the word at a point."""
        return next((at for at, rect in enumerate(self.words) if rect.contains(point)), None)


def lay_out_tree(parsed: Parsed, strips: int, width: int, font: QFont) -> TreeLayout:
    """Place the tree, its words, the strips below them and the gold tree.

    Columns are as wide as their words and labels need, and wider if there is room.
    """
    metrics = QFontMetricsF(font)
    chip, strip = float(taller(_CHIP, font)), float(taller(_STRIP, font))
    level = chip + _GAP
    widths = [metrics.horizontalAdvance(word) + _PAD for word in parsed.words]
    for node in (*parsed.nodes, *parsed.gold):
        need = metrics.horizontalAdvance(node.label) + 2 * GRID + _PAD
        have = sum(widths[node.first : node.end])
        for at in range(node.first, node.end):
            widths[at] += max(0.0, need - have) / (node.end - node.first)
    spare = max(0.0, width - 2 * _MARGIN - _SIDE - sum(widths)) / len(widths)
    widths = [one + min(spare, 8 * GRID) for one in widths]
    edges = [float(_MARGIN + _SIDE)]
    for one in widths:
        edges.append(edges[-1] + one)

    def chips(nodes: Sequence[Node], *, top: float, down: bool) -> tuple[QRectF, ...]:
        heights = _heights(nodes)
        most = max(heights, default=0)
        rects = []
        for node, height in zip(nodes, heights, strict=True):
            across = metrics.horizontalAdvance(node.label) + 2 * GRID
            middle = (edges[node.first] + edges[node.end]) / 2
            y = top + (height if down else most - height) * level
            rects.append(QRectF(middle - across / 2, y, across, chip))
        return tuple(rects)

    top = float(_MARGIN)
    nodes = chips(parsed.nodes, top=top, down=False)
    y = max(rect.bottom() for rect in nodes) + GRID
    words = tuple(
        QRectF(edges[at], y, edges[at + 1] - edges[at], chip) for at in range(len(widths))
    )
    y += chip + GRID
    tops = tuple(y + row * (strip + GRID / 2) for row in range(strips))
    y += strips * (strip + GRID / 2) + _GAP
    gold = chips(parsed.gold, top=y, down=True)
    bottom = max((rect.bottom() for rect in gold), default=y) + _MARGIN
    size = QSize(round(edges[-1]) + _MARGIN, round(bottom))
    return TreeLayout(nodes, gold, words, tops, strip, size)


def _heights(nodes: Sequence[Node]) -> list[int]:
    """How many nodes are below each on the longest way to a word."""
    heights = [0] * len(nodes)
    for place in range(len(nodes) - 1, 0, -1):
        parent = nodes[place].parent
        assert parent is not None
        heights[parent] = max(heights[parent], heights[place] + 1)
    return heights


class TreeDrawing:
    """One painting of a tree on a device."""

    def __init__(
        self, painter: QPainter, parsed: Parsed, layout: TreeLayout, theme: Theme, font: QFont
    ) -> None:
        self._painter = painter
        self._parsed = parsed
        self._layout = layout
        self._theme = theme
        self._font = font

    def draw(self, current: int, strips: Sequence[Strip]) -> None:
        """Paint everything, with ``current`` as the node whose strips are shown."""
        painter, layout, parsed = self._painter, self._layout, self._parsed
        painter.save()
        painter.setFont(self._font)
        self._lines(parsed.nodes, layout.nodes, current, down=False)
        self._chips(parsed.nodes, layout.nodes, current)
        inside = parsed.nodes[current]
        for at, (word, rect) in enumerate(zip(parsed.words, layout.words, strict=True)):
            chosen = inside.first <= at < inside.end
            painter.setPen(self._theme.color("accent" if chosen else "ink"))
            painter.drawText(rect, _CENTRE, word)
        for strip, top in zip(strips, layout.strips, strict=True):
            self._strip(strip, top)
        if parsed.gold:
            self._lines(parsed.gold, layout.gold, None, down=True)
            self._chips(parsed.gold, layout.gold, None)
            self._name("gold", layout.gold[-1].top(), layout.gold[-1].height())
        painter.restore()

    def _lines(
        self, nodes: Sequence[Node], rects: Sequence[QRectF], current: int | None, *, down: bool
    ) -> None:
        """Draw each line along its parent's level and then straight, so that it meets no label."""
        for node, rect in zip(nodes, rects, strict=True):
            if node.parent is None:
                continue
            chosen = current is not None and node.parent == current
            color = self._theme.color("accent" if chosen else "border")
            self._painter.setPen(QPen(color, 1.5 if chosen else 1))
            parent = rects[node.parent]
            edge, turn, end = (
                (parent.top(), parent.top() - _GAP / 2, rect.bottom())
                if down
                else (parent.bottom(), parent.bottom() + _GAP / 2, rect.top())
            )
            here, there = parent.center().x(), rect.center().x()
            points = [(here, edge), (here, turn), (there, turn), (there, end)]
            self._painter.drawPolyline([QPointF(x, y) for x, y in points])

    def _chips(self, nodes: Sequence[Node], rects: Sequence[QRectF], current: int | None) -> None:
        painter, theme = self._painter, self._theme
        for place, (node, rect) in enumerate(zip(nodes, rects, strict=True)):
            wrong = node.shared is False
            chosen = place == current
            painter.setBrush(theme.color("accent_soft" if chosen else "paper"))
            edge = "error" if wrong else "accent" if chosen else "border"
            if node.word is not None and not chosen:
                painter.setPen(Qt.PenStyle.NoPen)
            else:
                style = Qt.PenStyle.DashLine if wrong else Qt.PenStyle.SolidLine
                painter.setPen(QPen(theme.color(edge), 1.5 if wrong or chosen else 1, style))
            painter.drawRoundedRect(rect, GRID, GRID)
            ink = "error" if wrong else "soft" if node.word is not None else "ink"
            painter.setPen(theme.color(ink))
            painter.drawText(rect, _CENTRE, node.label)

    def _strip(self, strip: Strip, top: float) -> None:
        painter, height = self._painter, self._layout.strip_height
        self._name(strip.name, top, height)
        small = caption_font(self._font)
        painter.setFont(small)
        for rect, weight in zip(self._layout.words, strip.weights, strict=True):
            cell = QRectF(rect.left() + 1, top, rect.width() - 2, height)
            painter.fillRect(cell, self._blended(weight))
            painter.setPen(QPen(self._theme.color("line"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(cell)
            if weight >= _NUMBER_FROM:
                strong = weight * _MOST_COLOR > 0.5
                painter.setPen(self._theme.color("on_accent" if strong else "ink"))
                painter.drawText(cell, _CENTRE, f"{weight:.2f}")
        painter.setFont(self._font)

    def _name(self, name: str, top: float, height: float) -> None:
        self._painter.setPen(self._theme.color("soft"))
        room = QRectF(_MARGIN, top, _SIDE - 2 * GRID, height)
        self._painter.drawText(room, _RIGHT, name)

    def _blended(self, weight: float) -> QColor:
        part = _MOST_COLOR * max(0.0, min(1.0, weight))
        paper, accent = self._theme.color("paper"), self._theme.color("accent")
        return QColor(
            *(
                round(a + (b - a) * part)
                for a, b in (
                    (paper.red(), accent.red()),
                    (paper.green(), accent.green()),
                    (paper.blue(), accent.blue()),
                )
            )
        )


def node_in_words(parsed: Parsed, place: int) -> str:
    """Name a node with its words: "NP: the street"."""
    node = parsed.nodes[place]
    return f"{node.label}: {' '.join(parsed.words[node.first : node.end])}"


def strips_in_words(parsed: Parsed, strips: Sequence[Strip]) -> str:
    """Say which words each row looks at most."""
    told = []
    for strip in strips:
        order = sorted(range(len(parsed.words)), key=lambda at: -strip.weights[at])[:3]
        words = ", ".join(f"{parsed.words[at]} {share(strip.weights[at])}" for at in order)
        told.append(f"{strip.name} looks at {words}.")
    return " ".join(told)
