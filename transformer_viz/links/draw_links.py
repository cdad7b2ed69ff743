"""Painting a scene of links on any device: a widget, an image, SVG or PDF.

A link is as wide as its weight says and goes over into the paper where it is light, so that many
light links never look like a heavy one. Heavy links lie over light ones.
"""

from collections.abc import Iterable, Sequence
from enum import Enum, auto

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen

from core.text.tokens import Token
from transformer_viz.drawing.head_colors import head_color
from transformer_viz.drawing.labels import ARROW, draw_label, draw_transition, label_widths
from transformer_viz.drawing.theme import GRID, Theme, scaled_font
from transformer_viz.links.link_choice import Indices
from transformer_viz.links.link_edges import draw_far_ends
from transformer_viz.links.link_layout import (
    MARGIN,
    MOST_NUMBERS,
    NUMBER_SIZE,
    SWATCH,
    number_size,
)
from transformer_viz.links.link_scene import LinksPicture, LinksScene
from transformer_viz.state.options import LinksForm
from transformer_viz.state.selection import Cell

HAIRLINE = 0.75  # pixels: the narrowest link
_FADED = 0.85  # how far links go over into the paper while others are marked
_UNLINKED = 0.3  # … while a cell is marked whose link is too light to be drawn
_MARKED_WIDTH = 1.5  # pixels: the narrowest marked link
_MARKED_COLOR = 0.75  # how much of its colour a marked link has at least
_ASIDE = 0.5  # opacity of tokens that have no part in what is marked
_LEAST_COLOR = 0.3  # how much of its colour a link of weight 0 keeps
_TINTS = 32
_SCALE = (0.1, 0.5, 1.0)  # parts of the thickness, beside the headings
_SAMPLE = 5.0 * GRID  # the length of a link there

_Align = Qt.AlignmentFlag


class Look(Enum):
    PLAIN = auto()
    MARKED = auto()
    ASIDE = auto()  # something is marked, and this has no part in it


def series_color(picture: LinksPicture, theme: Theme, series: int) -> QColor:
    """The colour of a head's links, or the accent for the mean of several."""
    if not picture.slots:
        return theme.color("accent")
    return head_color(theme, picture.slots[series])


_DASH = 5.0  # pixels, of links to sinks


def draw_links(
    painter: QPainter, scene: LinksScene, theme: Theme, cells: Sequence[Cell] = ()
) -> None:
    """The whole picture with what is marked in it, `scene.layout.size` large, from the origin."""
    fade = fading(scene, cells)
    draw_curves(painter, scene, theme, range(len(scene.picture.links)), fade=fade)
    if cells:
        draw_curves(painter, scene, theme, np.flatnonzero(scene.marked(cells)), marked=True)
    draw_tokens(painter, scene, theme, QRectF(QPointF(0, 0), scene.layout.size), cells)


def fading(scene: LinksScene, cells: Sequence[Cell]) -> float:
    """How far the links go over into the paper while these cells are marked."""
    if not cells:
        return 0.0
    return _FADED if scene.marked(cells).any() else _UNLINKED


def draw_curves(
    painter: QPainter,
    scene: LinksScene,
    theme: Theme,
    indices: Iterable[int],
    *,
    fade: float = 0.0,
    marked: bool = False,
) -> None:
    """Draw some of the links, in the order given.

    Args:
        fade: how far they go over into the paper.
        marked: whether they must be seen, however light they are.
    """
    links, layout = scene.picture.links, scene.layout
    straight = layout.form is not LinksForm.ARCS
    pens: dict[tuple[int, int, bool], QPen] = {}
    sinks = scene.picture.sinks
    chosen = np.fromiter(indices, np.intp)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for series, key, strength, points in zip(
        links.series[chosen].tolist(),
        links.key[chosen].tolist(),
        scene.strengths[chosen].tolist(),
        scene.curves[chosen].tolist(),
        strict=True,
    ):
        tint = round(_TINTS * strength**0.5)
        look = series, tint, (series, key) in sinks
        if look not in pens:
            color = series_color(scene.picture, theme, series)
            part = (1 - fade) * _color_part((tint / _TINTS) ** 2)
            part = max(part, _MARKED_COLOR) if marked else part
            pens[look] = QPen(_mixed(theme.color("paper"), color, part))
            pens[look].setCapStyle(Qt.PenCapStyle.FlatCap)
        pen = pens[look]
        pen.setWidthF(max(_MARKED_WIDTH if marked else HAIRLINE, layout.thickness * strength))
        if look[2]:
            dash = _DASH / pen.widthF()  # a pattern counts in widths
            pen.setDashPattern([dash, dash])
        painter.setPen(pen)
        start, end = QPointF(*points[0]), QPointF(*points[3])
        if straight:
            painter.drawLine(start, end)
        else:
            path = QPainterPath(start)
            path.cubicTo(QPointF(*points[1]), QPointF(*points[2]), end)
            painter.drawPath(path)


def draw_tokens(
    painter: QPainter,
    scene: LinksScene,
    theme: Theme,
    rect: QRectF,
    cells: Sequence[Cell] = (),
) -> None:
    """The labels in a part of the picture, the weights of marked links, at the edges what else is
    linked, and the headings, which stay in place."""
    layout, links = scene.layout, scene.picture.links
    painter.setFont(scene.font)
    marked = np.flatnonzero(scene.marked(cells)) if cells else np.zeros(0, np.intp)
    queries = _looks(cells, 0, links.query[marked])
    keys = _looks(cells, 1, links.key[marked])
    other = Look.ASIDE if len(marked) else Look.PLAIN
    span = (rect.top(), rect.bottom()) if layout.vertical else (rect.left(), rect.right())
    if layout.form is LinksForm.ARCS:
        queries = keys | queries
    else:
        for index in layout.keys.within(*span):
            _draw_key(painter, scene, theme, index, keys.get(index, other))
    for index in layout.queries.within(*span):
        _draw_query(painter, scene, theme, index, queries.get(index, other))
    _draw_weights(painter, scene, theme, marked, cells, rect)
    draw_far_ends(painter, scene, theme, rect, cells)
    _draw_headings(painter, scene, theme, rect)


def _looks(cells: Sequence[Cell], side: int, linked: Indices) -> dict[int, Look]:
    """How those tokens of a side look that are marked, or linked to what is."""
    looks = dict.fromkeys(linked.tolist(), Look.PLAIN)
    for cell in cells:
        token = cell[side]
        if token is not None:
            looks[token] = Look.MARKED
    return looks


def _draw_key(painter: QPainter, scene: LinksScene, theme: Theme, index: int, look: Look) -> None:
    layout = scene.layout
    align = _Align.AlignLeft if layout.vertical else _Align.AlignHCenter
    box = layout.label_rect(layout.keys, index)
    _draw_token(painter, box, scene.picture.keys[index], theme, look, align)


def _draw_query(painter: QPainter, scene: LinksScene, theme: Theme, index: int, look: Look) -> None:
    """A query's label, in columns and rows with what its row predicts."""
    layout, picture = scene.layout, scene.picture
    box, token = layout.label_rect(layout.queries, index), picture.queries[index]
    if layout.vertical and picture.predicted:
        painter.setOpacity(_opacity(look))
        strong = look is Look.MARKED
        draw_transition(painter, box, token, picture.predicted[index], theme, strong=strong)
        painter.setOpacity(1.0)
        return
    if layout.form is LinksForm.ROWS and picture.predicted:
        half = QSizeF(box.width(), box.height() / 2)
        _draw_predicted(painter, QRectF(box.topLeft(), half), picture.predicted[index], theme, look)
        box.setTop(box.top() + half.height())
    align = _Align.AlignRight if layout.vertical else _Align.AlignHCenter
    _draw_token(painter, box, token, theme, look, align)


def _draw_predicted(painter: QPainter, box: QRectF, token: Token, theme: Theme, look: Look) -> None:
    """An arrow and the token that it leads to, centred."""
    painter.setOpacity(_opacity(look))
    arrow = ARROW.strip()
    room = QFontMetricsF(painter.font()).horizontalAdvance(arrow) + GRID
    width = min(room + label_widths(painter.font(), [token])[0], box.width())
    left = box.center().x() - width / 2
    painter.setPen(theme.color("faint"))
    painter.drawText(QRectF(left, box.top(), room, box.height()), _Align.AlignVCenter, arrow)
    label = QRectF(left + room, box.top(), width - room, box.height())
    draw_label(painter, label, token, theme, align=_Align.AlignLeft, soft=True)
    painter.setOpacity(1.0)


def _draw_token(
    painter: QPainter, box: QRectF, token: Token, theme: Theme, look: Look, align: _Align
) -> None:
    painter.setOpacity(_opacity(look))
    strong, mark = look is Look.MARKED, align is not _Align.AlignHCenter
    draw_label(painter, box, token, theme, align=align, strong=strong, word_mark=mark)
    painter.setOpacity(1.0)


def _opacity(look: Look) -> float:
    return _ASIDE if look is Look.ASIDE else 1.0


def _draw_headings(painter: QPainter, scene: LinksScene, theme: Theme, rect: QRectF) -> None:
    """What each side is, and how wide a link of some weights is, over the part `rect` of the
    picture: at the top of columns, at the left of rows and arcs."""
    layout, (first, second) = scene.layout, scene.picture.headings
    line = QFontMetricsF(painter.font()).height()
    numbers = min(scene.picture.series, MOST_NUMBERS + 1) * number_size(scene.font, 1).height()
    width = layout.size.width()
    low, high = layout.edges
    if layout.vertical:
        painter.fillRect(QRectF(0, rect.top(), width, layout.head), theme.color("paper"))
        painter.setPen(theme.color("soft"))
        top = rect.top() + layout.head - line - 2 * GRID
        queries, keys = QRectF(0, top, low - 2 * GRID, line), QRectF(high, top, width - high, line)
        painter.drawText(queries, _Align.AlignRight, first)
        painter.drawText(keys.adjusted(2 * GRID, 0, 0, 0), _Align.AlignLeft, second)
        _draw_scale(painter, scene, theme, QPointF((low + high - _scale_width(scene)) / 2, top))
        return
    if layout.form is LinksForm.ARCS:
        top, bottom = low - layout.lift - line - GRID, high + layout.lift + GRID
    else:
        top = layout.queries.band[0] - numbers - line - GRID
        bottom = layout.keys.band[1] + numbers + GRID
    left = rect.left() + MARGIN
    painter.setPen(theme.color("soft"))
    painter.drawText(QRectF(left, top, width, line), _Align.AlignLeft, first)
    painter.drawText(QRectF(left, bottom, width, line), _Align.AlignLeft, second)
    end = left + QFontMetricsF(painter.font()).horizontalAdvance(first)
    _draw_scale(painter, scene, theme, QPointF(end + 2 * _SAMPLE, top))


def _draw_scale(painter: QPainter, scene: LinksScene, theme: Theme, corner: QPointF) -> None:
    """Links of some weights, as a colour bar is for a map, in one line of text from a corner."""
    height = QFontMetricsF(painter.font()).height()
    small = scaled_font(scene.font, NUMBER_SIZE)
    painter.setFont(small)
    x, middle = corner.x(), corner.y() + height / 2
    for strength, text in zip(_SCALE, _scale_texts(scene), strict=True):
        width = QFontMetricsF(small).horizontalAdvance(text)
        painter.setPen(theme.color("soft"))
        box = QRectF(x, corner.y(), width, height)
        painter.drawText(box, _Align.AlignVCenter, text)
        x += width + GRID
        color = _mixed(theme.color("paper"), theme.color("soft"), _color_part(strength))
        pen = QPen(color, max(HAIRLINE, scene.layout.thickness * strength))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawLine(QPointF(x, middle), QPointF(x + _SAMPLE, middle))
        x += _SAMPLE + 3 * GRID
    painter.setFont(scene.font)


def _scale_width(scene: LinksScene) -> float:
    metrics = QFontMetricsF(scaled_font(scene.font, NUMBER_SIZE))
    texts = sum(map(metrics.horizontalAdvance, _scale_texts(scene)))
    return texts + len(_SCALE) * (_SAMPLE + GRID) + (len(_SCALE) - 1) * 3 * GRID


def _scale_texts(scene: LinksScene) -> list[str]:
    return [f"{strength * scene.picture.top:.3g}" for strength in _SCALE]


def _color_part(strength: float) -> float:
    """How much of its colour a link has."""
    return _LEAST_COLOR + (1 - _LEAST_COLOR) * strength**0.5


def _draw_weights(
    painter: QPainter,
    scene: LinksScene,
    theme: Theme,
    marked: Indices,
    cells: Sequence[Cell],
    rect: QRectF,
) -> None:
    """At the far end of each marked link its weight; of several at one end the heaviest few."""
    links = scene.picture.links
    queries = {query for query, _ in cells if query is not None}
    ends: dict[tuple[bool, int], list[int]] = {}
    for index in marked[::-1].tolist():
        query, key = int(links.query[index]), int(links.key[index])
        from_query = query in queries
        ends.setdefault((from_query, key if from_query else query), []).append(index)
    painter.setFont(scaled_font(scene.font, NUMBER_SIZE))
    for (at_key, token), indices in ends.items():
        track = scene.layout.keys if at_key else scene.layout.queries
        if not scene.layout.label_rect(track, token).intersects(rect):
            continue
        shown = sorted(indices[:MOST_NUMBERS], key=lambda index: int(links.series[index]))
        more = len(indices) - len(shown)
        count = len(shown) + (more > 0)
        boxes = [
            _weight_rect(scene, token, indices[0], place, count, at_key=at_key)
            for place in range(count)
        ]
        for index, box in zip(shown, boxes, strict=False):
            _draw_weight(painter, scene, theme, box, index)
        if more:
            painter.setPen(theme.color("soft"))
            painter.drawText(boxes[-1], _Align.AlignLeft | _Align.AlignVCenter, f"+{more}")
    painter.setFont(scene.font)


def _weight_rect(
    scene: LinksScene, token: int, index: int, place: int, count: int, *, at_key: bool
) -> QRectF:
    """Where the n-th number beside a token stands, on the side that its link does not touch."""
    layout, picture = scene.layout, scene.picture
    track = layout.keys if at_key else layout.queries
    label = layout.label_rect(track, token)
    size = number_size(scene.font, picture.series)
    if layout.vertical:
        top = label.center().y() - size.height() / 2
        if at_key:
            used = _width(scene, picture.keys[token], label.width())
            return QRectF(QPointF(label.left() + used + GRID + place * size.width(), top), size)
        used = _query_width(scene, token, label.width())
        right = label.right() - used - GRID - (count - place - 1) * size.width()
        return QRectF(QPointF(right - size.width(), top), size)
    left = label.center().x() - size.width() / 2
    below = at_key
    if layout.form is LinksForm.ARCS:
        below = bool(picture.links.key[index] <= picture.links.query[index])
    if below:
        return QRectF(QPointF(left, label.bottom() + GRID / 2 + place * size.height()), size)
    return QRectF(QPointF(left, label.top() - GRID / 2 - (place + 1) * size.height()), size)


def _query_width(scene: LinksScene, index: int, room: float) -> float:
    """How wide a query's label in columns is."""
    picture = scene.picture
    width = _width(scene, picture.queries[index], room)
    if picture.predicted:
        arrow = QFontMetricsF(scene.font).horizontalAdvance(ARROW)
        width += arrow + _width(scene, picture.predicted[index], room)
    return min(width, room)


def _width(scene: LinksScene, token: Token, room: float) -> float:
    return min(label_widths(scene.font, [token], word_marks=True)[0], room)


def _draw_weight(
    painter: QPainter, scene: LinksScene, theme: Theme, box: QRectF, index: int
) -> None:
    """Two digits, after a mark in the colour of the head where there are several heads."""
    links = scene.picture.links
    if scene.picture.series > 1:
        color = series_color(scene.picture, theme, int(links.series[index]))
        top = box.center().y() - SWATCH / 2
        painter.fillRect(QRectF(box.left(), top, SWATCH, SWATCH), color)
        box = box.adjusted(SWATCH + GRID / 2, 0, 0, 0)
    painter.setPen(theme.color("ink"))
    flags = _Align.AlignLeft | _Align.AlignVCenter
    painter.drawText(box, flags, f"{links.weight[index]:.2f}")


def _mixed(ground: QColor, color: QColor, part: float) -> QColor:
    pairs = zip(ground.getRgb()[:3], color.getRgb()[:3], strict=True)  # type: ignore[index]
    return QColor(*(round(low + part * (high - low)) for low, high in pairs))
