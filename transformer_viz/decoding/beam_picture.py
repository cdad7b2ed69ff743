"""The picture of a beam search. What became of a hypothesis is said by shape, line and colour:

kept: a box; pruned: no box, a broken line; finished: a capsule; winner: a filled capsule, a star.
"""

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from core.decoding.beam_tree import BeamNode, BeamTree, NodeStatus
from transformer_viz.decoding.beam_layout import BOX_WIDTH, HEADER, BeamLayout, column_left
from transformer_viz.drawing.labels import draw_label
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, Theme, scaled_font

_ENDED = (NodeStatus.FINISHED, NodeStatus.WINNER)
LEGEND = {
    NodeStatus.KEPT: "kept in the beam",
    NodeStatus.PRUNED: "pruned",
    NodeStatus.FINISHED: "finished",
    NodeStatus.WINNER: "winner",
}


def paint_beam(
    painter: QPainter,
    tree: BeamTree,
    layout: BeamLayout,
    theme: Theme,
    font: QFont,
    *,
    visible: QRectF,
    current: int | None,
    shown: int | None,
) -> None:
    """The part in `visible`; `current` has the keyboard, `shown` is what the views show."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    winning = set(tree.path(tree.winner))
    followed = set() if shown is None else set(tree.path(shown))
    _draw_steps(painter, tree, theme, font, visible)
    nodes = layout.seen(visible.left(), visible.right())
    for index in nodes:
        node, box = tree.nodes[index], layout.boxes[index]
        parent = None if node.parent is None else layout.boxes.get(node.parent)
        if parent is not None and box.united(parent).intersects(visible):
            pen = QPen(theme.color("border"), 1)
            if node.status is NodeStatus.PRUNED:
                pen.setStyle(Qt.PenStyle.DashLine)
            if index in winning or index in followed:
                pen = QPen(theme.color("accent" if index in followed else "ink"), 2)
            _draw_edge(painter, parent, box, pen)
    for index in nodes:
        box = layout.boxes[index]
        if box.intersects(visible):
            draw_node(painter, box, tree.nodes[index], theme, font, followed=index in followed)
            if index in (current, shown):
                _draw_frame(painter, box, theme, dashed=index != current)


def draw_node(
    painter: QPainter, box: QRectF, node: BeamNode, theme: Theme, font: QFont, *, followed: bool
) -> None:
    """Draw the token above, and below it log P, or the score of a finished hypothesis."""
    draw_shape(painter, box, node.status, theme, followed=followed)
    winner = node.status is NodeStatus.WINNER
    ended = node.status in _ENDED
    padding = 3 * GRID if ended else 2 * GRID
    inner = box.adjusted(padding, 0, -padding, 0)
    upper = QRectF(inner.left(), box.top() + 1, inner.width(), box.height() / 2)
    lower = QRectF(inner.left(), box.center().y() - 1, inner.width(), box.height() / 2)
    figures = scaled_font(font, 0.8)
    flags = Qt.AlignmentFlag.AlignVCenter
    if ended:
        painter.setFont(figures)
        painter.setPen(theme.color("on_accent" if winner else "soft"))
        star = "★ " if winner else ""
        painter.drawText(upper, flags, f"{star}log P {signed(node.log_probability)}")
        painter.setFont(scaled_font(font, 0.8, bold=True))
        painter.setPen(theme.color("on_accent" if winner else "ink"))
        painter.drawText(lower, flags, f"score {signed(node.score or 0.0)}")
        return
    pruned = node.status is NodeStatus.PRUNED
    painter.setFont(scaled_font(font, 0.95))
    draw_label(painter, upper, node.token, theme, align=Qt.AlignmentFlag.AlignLeft, soft=pruned)
    painter.setFont(figures)
    painter.setPen(theme.color("faint" if pruned else "soft"))
    painter.drawText(lower, flags, f"log P {signed(node.log_probability)}")


def draw_shape(
    painter: QPainter, box: QRectF, status: NodeStatus, theme: Theme, *, followed: bool = False
) -> None:
    box = box.adjusted(0.5, 0.5, -0.5, -0.5)
    edge = theme.color("accent" if followed else "soft")
    match status:
        case NodeStatus.KEPT:
            painter.setPen(QPen(theme.color("accent" if followed else "border"), 1))
            painter.setBrush(theme.color("accent_soft" if followed else "raised"))
            painter.drawRoundedRect(box, 3, 3)
        case NodeStatus.PRUNED:
            painter.setPen(QPen(theme.color("border"), 1, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box, 3, 3)
        case NodeStatus.FINISHED:
            painter.setPen(QPen(edge, 1.5))
            painter.setBrush(theme.color("accent_soft" if followed else "raised"))
            painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        case NodeStatus.WINNER:
            painter.setPen(QPen(theme.color("accent"), 1.5))
            painter.setBrush(theme.color("accent"))
            painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def draw_legend(painter: QPainter, rect: QRectF, theme: Theme, font: QFont) -> None:
    """The four shapes with their names, from the left."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(scaled_font(font, 0.9))
    metrics = QFontMetricsF(painter.font())
    x = rect.left()
    for status, text in LEGEND.items():
        sample = QRectF(x, rect.center().y() - 2 * GRID, 6 * GRID, 4 * GRID)
        draw_shape(painter, sample, status, theme)
        if status is NodeStatus.WINNER:
            painter.setPen(theme.color("on_accent"))
            painter.drawText(sample, Qt.AlignmentFlag.AlignCenter, "★")
        painter.setPen(theme.color("soft"))
        left = sample.right() + 1.5 * GRID
        width = math.ceil(metrics.horizontalAdvance(text))
        box = QRectF(left, rect.top(), width, rect.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
        x = box.right() + 4 * GRID


def _draw_steps(
    painter: QPainter, tree: BeamTree, theme: Theme, font: QFont, visible: QRectF
) -> None:
    painter.setFont(scaled_font(font, 0.8))
    painter.setPen(theme.color("faint"))
    for step in range(tree.steps):
        box = QRectF(column_left(step), 0, BOX_WIDTH, HEADER)
        if box.left() <= visible.right() and box.right() >= visible.left():
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"step {step + 1}")


def _draw_edge(painter: QPainter, parent: QRectF, child: QRectF, pen: QPen) -> None:
    start = QPointF(parent.right(), parent.center().y())
    end = QPointF(child.left(), child.center().y())
    bend = QPointF((end.x() - start.x()) / 2, 0)
    path = QPainterPath(start)
    path.cubicTo(start + bend, end - bend, end)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen)
    painter.drawPath(path)


def _draw_frame(painter: QPainter, box: QRectF, theme: Theme, *, dashed: bool) -> None:
    style = Qt.PenStyle.DotLine if dashed else Qt.PenStyle.SolidLine
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("ink" if dashed else "accent"), 2, style))
    painter.drawRoundedRect(box.adjusted(-3, -3, 3, 3), 5, 5)
