"""What lies beyond the view: the tokens at the far ends of marked links, named at its edges."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from core.text.tokens import Token
from transformer_viz.drawing.labels import display_text, isolated
from transformer_viz.drawing.theme import GRID, Theme, scaled_font
from transformer_viz.links.link_layout import MARGIN, NUMBER_SIZE, Track
from transformer_viz.links.link_scene import LinksScene
from transformer_viz.state.selection import Cell

MOST_NAMED = 3  # tokens at one edge; then how many more there are
_Align = Qt.AlignmentFlag
_ARROWS = {True: ("↑", "↓"), False: ("←", "→")}


def draw_far_ends(
    painter: QPainter, scene: LinksScene, theme: Theme, rect: QRectF, cells: Sequence[Cell]
) -> None:
    """Draw what else is linked at the edges of `rect`, the part in view: in columns above and below
    the labels, in rows and arcs in one line at the bottom."""
    layout, picture = scene.layout, scene.picture
    painter.setFont(scaled_font(scene.font, NUMBER_SIZE))
    line = QFontMetricsF(painter.font()).height()
    tops = rect.top() + layout.head, rect.bottom() - line - GRID
    tracks = [(1, layout.keys, picture.keys)]
    if layout.queries is not layout.keys:
        tracks.append((0, layout.queries, picture.queries))
    texts = []
    for side, track, tokens in tracks:
        low, high = track.band
        left, right = (low, layout.size.width() - MARGIN) if side else (MARGIN, high)
        align = _Align.AlignLeft if side else _Align.AlignRight
        for after, ends in enumerate(far_ends(scene, rect, track, cells, side)):
            if ends:
                texts.append(f"{_ARROWS[layout.vertical][after]} {_named(tokens, ends)}")
                if layout.vertical:
                    box = QRectF(left, tops[after], right - left, line)
                    _draw_note(painter, box, texts[-1], theme, align)
    if texts and not layout.vertical:
        box = QRectF(rect.left() + MARGIN, tops[1], rect.width() - 2 * MARGIN, line)
        _draw_note(painter, box, "   ".join(texts), theme, _Align.AlignRight)
    painter.setFont(scene.font)


def far_ends(
    scene: LinksScene, rect: QRectF, track: Track, cells: Sequence[Cell], side: int
) -> tuple[dict[int, float], dict[int, float]]:
    """The tokens before and after what is in view that a marked token of the other side is
    linked to, each with the weight of its heaviest link; heaviest first."""
    layout, links = scene.layout, scene.picture.links
    start, end = (
        (rect.top() + layout.head, rect.bottom())
        if layout.vertical
        else (rect.left(), rect.right())
    )
    before: dict[int, float] = {}
    after: dict[int, float] = {}
    own, other = (links.key, links.query) if side else (links.query, links.key)
    named = {cell[1 - side] for cell in cells} - {None}
    for index in np.flatnonzero(scene.marked(cells))[::-1].tolist():
        token, weight = int(own[index]), float(links.weight[index])
        if int(other[index]) not in named:
            continue
        middle = track.middles[token]
        if middle < start or middle > end:
            (before if middle < start else after).setdefault(token, weight)
    return before, after


def _named(tokens: Sequence[Token], weights: dict[int, float]) -> str:
    """As in "animal 0.52, The 0.10, +4"."""
    shown = [
        f"{isolated(display_text(tokens[token]))} {weight:.2f}"
        for token, weight in list(weights.items())[:MOST_NAMED]
    ]
    more = len(weights) - len(shown)
    return ", ".join([*shown, f"+{more}"] if more else shown)


def _draw_note(painter: QPainter, box: QRectF, text: str, theme: Theme, align: _Align) -> None:
    """Over whatever is there."""
    metrics = QFontMetricsF(painter.font())
    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    width = metrics.horizontalAdvance(text)
    if align is _Align.AlignRight:
        box.setLeft(box.right() - width)
    box.setWidth(width)
    painter.fillRect(box.adjusted(-GRID, -GRID / 2, GRID, GRID / 2), theme.color("paper"))
    painter.setPen(theme.color("ink"))
    painter.drawText(box, _Align.AlignVCenter, text)
