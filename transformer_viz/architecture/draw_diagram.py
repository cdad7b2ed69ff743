"""The picture of a diagram: boxes, arrows, the box that is chosen and the way to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from transformer_viz.architecture.box_reading import BoxReading
from transformer_viz.architecture.diagram import Diagram, Edge, Node
from transformer_viz.drawing.box_colors import Role, box_color
from transformer_viz.drawing.theme import GRID, Theme, scaled_font

_HEAD = 1.25 * GRID  # of an arrow
_MOST_WIDTHS = 4_000  # that are remembered
_TWO_LINES = 9 * GRID  # a box so high has its shape on a second line


@dataclass(frozen=True, slots=True)
class DiagramStyle:
    """How a diagram is drawn.

    Attributes:
        readings: what each box says of itself, by its name.
        inside: the title of the sub-layer that is open.
        heads: what stands below that title.
        chosen: the box in focus; None for none.
    """

    theme: Theme
    font: QFont
    readings: Mapping[str, BoxReading]
    inside: str
    heads: str
    chosen: str | None


@dataclass(frozen=True, slots=True)
class _Type:
    """A font, measured: each text once, since a picture follows every keystroke."""

    font: QFont
    metrics: QFontMetricsF
    widths: dict[str, float] = field(default_factory=dict)

    def width(self, text: str) -> float:
        if text not in self.widths:
            if len(self.widths) >= _MOST_WIDTHS:
                self.widths.clear()
            self.widths[text] = self.metrics.horizontalAdvance(text)
        return self.widths[text]


@dataclass(frozen=True, slots=True)
class _Types:
    """The fonts of a diagram."""

    title: _Type
    strong: _Type
    small: _Type
    small_strong: _Type
    raised: _Type


@lru_cache(maxsize=4)
def _types_of(description: str) -> _Types:
    font = QFont()
    font.fromString(description)

    def make(factor: float, *, bold: bool = False) -> _Type:
        scaled = scaled_font(font, factor, bold=bold)
        return _Type(scaled, QFontMetricsF(scaled))

    return _Types(
        make(0.95), make(0.95, bold=True), make(0.82), make(0.82, bold=True), make(0.66, bold=True)
    )


def draw_diagram(painter: QPainter, diagram: Diagram, style: DiagramStyle, visible: QRectF) -> None:
    """Draw what is in `visible`, in the coordinates of the diagram."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    lit = frozenset[str]() if style.chosen is None else diagram.way_to(style.chosen)
    _draw_inside_frame(painter, diagram, style)
    for node in diagram.nodes.values():
        if node.frame:
            _draw_frame(painter, node, style, lit=node.name in lit)
    for edge in sorted(diagram.edges, key=lambda edge: edge.target in lit and edge.source in lit):
        _draw_edge(painter, edge, style, lit=edge.target in lit and edge.source in lit)
    for node in diagram.nodes.values():
        if not node.frame and node.rect.intersects(visible):
            _draw_box(painter, node, style, lit=node.name in lit)
    for node in diagram.nodes.values():
        if node.name == style.chosen or node.name == diagram.inside:
            _draw_mark(painter, node, style, strong=node.name == style.chosen)


def _draw_box(painter: QPainter, node: Node, style: DiagramStyle, *, lit: bool) -> None:
    theme, rect = style.theme, node.rect
    if node.role is not Role.TEXT:
        painter.setPen(QPen(theme.color("accent" if lit else "border"), 1.5 if lit else 1))
        painter.setBrush(box_color(theme, node.role))
        painter.drawRoundedRect(rect, GRID, GRID)
        painter.setBrush(Qt.BrushStyle.NoBrush)
    types = _types_of(style.font.toString())
    brief = style.readings[node.name].brief
    inner = rect.adjusted(2 * GRID, 0, -2 * GRID, 0)
    two = rect.height() >= _TWO_LINES
    if two:
        upper = QRectF(inner.left(), rect.top() + 2, inner.width(), rect.height() / 2)
        lower = QRectF(inner.left(), rect.center().y() - 1, inner.width(), rect.height() / 2)
        center = Qt.AlignmentFlag.AlignCenter
        _text(painter, upper, node.title, types.strong, theme.color("ink"), center, types)
        if types.small.width(brief) > lower.width():
            brief = brief.rpartition(" · ")[2]
        _text(painter, lower, brief, types.small, theme.color("soft"), center, types)
        return
    align = Qt.AlignmentFlag.AlignVCenter
    _text(painter, inner, node.title, types.title, theme.color("ink"), align, types)
    free = inner.width() - types.title.width(node.title) - 2 * GRID
    align |= Qt.AlignmentFlag.AlignRight
    for text in (brief, brief.rpartition(" · ")[2]):
        if types.small.width(text) <= free:
            _text(painter, inner, text, types.small, theme.color("soft"), align, types)
            break


def _text(
    painter: QPainter,
    rect: QRectF,
    text: str,
    kind: _Type,
    color: QColor,
    align: Qt.AlignmentFlag,
    types: _Types,
) -> None:
    """Draw one line; what follows a ``^`` is raised."""
    painter.setFont(kind.font)
    painter.setPen(color)
    base, _, raised = text.partition("^")
    if not raised:
        if kind.width(base) > rect.width():
            base = kind.metrics.elidedText(base, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, align, base)
        return
    wide = kind.width(base), types.raised.width(raised)
    free = rect.width() - sum(wide) if align & Qt.AlignmentFlag.AlignHCenter else 0.0
    place = rect.adjusted(free / 2, 0, 0, 0)
    painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, base)
    painter.setFont(types.raised.font)
    place.translate(wide[0] + 0.5, -0.35 * kind.metrics.ascent())
    painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, raised)


def _draw_frame(painter: QPainter, node: Node, style: DiagramStyle, *, lit: bool) -> None:
    """An open layer, with its name in the upper corner."""
    theme, rect = style.theme, node.rect
    painter.setPen(QPen(theme.color("accent" if lit else "border"), 1))
    painter.setBrush(theme.color("chrome"))
    painter.drawRoundedRect(rect, 2 * GRID, 2 * GRID)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    types = _types_of(style.font.toString())
    line = types.small.metrics.height()
    header = QRectF(rect.left() + 2 * GRID, rect.top() + 1, rect.width() - 4 * GRID, 1.3 * line)
    align, soft = Qt.AlignmentFlag.AlignVCenter, theme.color("soft")
    _text(painter, header, node.title, types.small_strong, soft, align, types)
    count = style.readings[node.name].brief.rpartition(" · ")[2]
    align |= Qt.AlignmentFlag.AlignRight
    _text(painter, header, count, types.small, soft, align, types)


def _draw_inside_frame(painter: QPainter, diagram: Diagram, style: DiagramStyle) -> None:
    theme, rect = style.theme, diagram.inside_frame
    painter.setPen(QPen(theme.color("border"), 1, Qt.PenStyle.DashLine))
    painter.setBrush(theme.color("chrome"))
    painter.drawRoundedRect(rect, 2 * GRID, 2 * GRID)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    types = _types_of(style.font.toString())
    line = types.strong.metrics.height()
    inner = rect.adjusted(4 * GRID, 2 * GRID, -4 * GRID, 0)
    row = QRectF(inner.left(), inner.top(), inner.width(), line)
    align = Qt.AlignmentFlag.AlignVCenter
    _text(painter, row, style.inside, types.strong, theme.color("ink"), align, types)
    row.translate(0, line)
    _text(painter, row, style.heads, types.small, theme.color("soft"), align, types)
    if diagram.heads_frame.isEmpty():
        return
    painter.setPen(QPen(theme.color("border"), 1))
    for step in (2, 1, 0):  # like sheets behind each other, one for each head
        sheet = diagram.heads_frame.translated(step * GRID * 0.75, -step * GRID * 0.75)
        painter.setBrush(theme.color("paper"))
        painter.drawRoundedRect(sheet, GRID, GRID)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _draw_edge(painter: QPainter, edge: Edge, style: DiagramStyle, *, lit: bool) -> None:
    theme = style.theme
    color = theme.color("accent" if lit else "faint")
    painter.setPen(QPen(color, 2 if lit else 1.2))
    painter.drawPolyline(QPolygonF(edge.points))
    _draw_arrow_head(painter, edge.points[-2], edge.points[-1], color)
    if edge.note:
        end = edge.points[-1]
        types = _types_of(style.font.toString())
        line = types.small.metrics.height()
        room = QRectF(edge.points[-2].x() + GRID, end.y() - line - 1, 14 * GRID, line)
        left = Qt.AlignmentFlag.AlignLeft
        _text(painter, room, edge.note, types.small, theme.color("soft"), left, types)


def _draw_arrow_head(painter: QPainter, start: QPointF, end: QPointF, color: QColor) -> None:
    way = end - start
    length = (way.x() ** 2 + way.y() ** 2) ** 0.5
    if length < 1:
        return
    along = way / length * _HEAD
    across = QPointF(-along.y(), along.x()) * 0.6
    painter.setBrush(color)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.drawPolygon([end, end - along + across, end - along - across])
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _draw_mark(painter: QPainter, node: Node, style: DiagramStyle, *, strong: bool) -> None:
    """The chosen box has a frame, the sub-layer that is open a broken one."""
    line = Qt.PenStyle.SolidLine if strong else Qt.PenStyle.DashLine
    painter.setPen(
        QPen(style.theme.color("accent" if strong else "soft"), 2.5 if strong else 1, line)
    )
    out = 2.5 if strong else 2
    painter.drawRoundedRect(node.rect.adjusted(-out, -out, out, out), 1.5 * GRID, 1.5 * GRID)
