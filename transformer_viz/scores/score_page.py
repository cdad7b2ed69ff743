"""The whole picture of how one query's row comes about: how even it is, the table of its steps, and
one pair of query and key in detail. Drawn the same way on a screen, an image, an SVG or a PDF."""

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from transformer_viz.drawing.labels import display_text, isolated
from transformer_viz.drawing.numbers import share, signed
from transformer_viz.drawing.strips import draw_hatch, draw_strip
from transformer_viz.drawing.theme import GRID, taller
from transformer_viz.scores.score_layout import LEFT_STRIPS, MARGIN, ScoreLayout, Strip
from transformer_viz.scores.score_picture import ScoreMarks, ScorePicture
from transformer_viz.scores.score_table import ScoreStyle, ScoreTable

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_GAUGE = 20 * GRID


def draw_scores(
    painter: QPainter,
    layout: ScoreLayout,
    picture: ScorePicture,
    marks: ScoreMarks,
    style: ScoreStyle,
) -> None:
    painter.save()
    _draw_entropies(painter, layout.entropies, picture, style)
    ScoreTable(painter, layout, picture, marks, style).draw()
    if layout.strips:
        _draw_pair(painter, layout, picture, marks, style)
    painter.restore()


def _draw_entropies(
    painter: QPainter, rect: QRectF, picture: ScorePicture, style: ScoreStyle
) -> None:
    """The entropy of the row with and without ÷ √d_k, each as a number and as a bar up to the
    limit, log₂ of the number of keys allowed."""
    theme = style.theme
    limit = float(np.log2(max(1, picture.steps.allowed.sum())))
    x = rect.left() + MARGIN

    def write(text: str, token: str, *, strong: bool = False) -> None:
        nonlocal x
        font = style.bold if strong else style.figures
        width = QFontMetricsF(font).horizontalAdvance(text)
        painter.setFont(font)
        painter.setPen(theme.color(token))
        painter.drawText(QRectF(x, rect.top(), width + GRID, rect.height()), _LEFT, text)
        x += width + 2 * GRID

    write("entropy", "soft")
    cases = ((f"÷ {picture.root}", picture.scaled), ("unscaled", not picture.scaled))
    for (name, current), bits in zip(cases, picture.entropies, strict=True):
        write(name, "ink" if current else "soft", strong=current)
        track = QRectF(x, rect.center().y() - GRID, _GAUGE, 2 * GRID)
        painter.fillRect(track, theme.color("chip"))
        track.setWidth(bits / limit * _GAUGE if limit > 0 else 0.0)
        painter.fillRect(track, theme.color("accent" if current else "faint"))
        x += _GAUGE + 2 * GRID
        write(f"{bits:.2f} bits", "ink" if current else "soft", strong=current)
        x += 2 * GRID
    write(f"of at most {limit:.2f}", "soft")


def _pair_values(picture: ScorePicture, key: int) -> dict[Strip, tuple[np.ndarray, float]]:
    """The vectors of one pair of query and key, and the ends of their colours."""
    steps = picture.steps
    return {
        Strip.QUERY: (steps.query, picture.query_limit),
        Strip.KEY: (steps.keys[key], picture.query_limit),
        Strip.PRODUCTS: (steps.query * steps.keys[key], picture.product_limit),
        Strip.VALUE: (steps.values[key], picture.value_limit),
        Strip.WEIGHTED: (steps.weights[key] * steps.values[key], picture.value_limit),
        Strip.OUTPUT: (steps.output, picture.value_limit),
    }


def pair_name(picture: ScorePicture, key: int) -> str:
    """The two tokens: ``it → animal``."""
    return " → ".join(isolated(display_text(t)) for t in (picture.query, picture.keys[key]))


def pair_reading(picture: ScorePicture, marks: ScoreMarks) -> str:
    """The numbers of the dimension under the pointer, or what the pair comes to."""
    steps, key = picture.steps, marks.key
    if marks.key_dimension is not None:
        d = marks.key_dimension
        q, k = float(steps.query[d]), float(steps.keys[key, d])
        product = f"q {signed(q, 3)} × k {signed(k, 3)} = {signed(q * k, 3)}"
        return f"dimension {d + 1} of {len(steps.query)}:  {product}"
    if marks.value_dimension is not None:
        d = marks.value_dimension
        w, v, z = float(steps.weights[key]), float(steps.values[key, d]), float(steps.output[d])
        product = f"w {share(w)} × v {signed(v, 3)} = {signed(w * v, 3)}"
        product = product if steps.allowed[key] else f"masked, v {signed(v, 3)}"
        return f"dimension {d + 1} of {len(steps.output)}:  {product},  z {signed(z, 3)}"
    divided = f" ÷ {picture.root} = {signed(float(steps.scores[key]))}" if picture.scaled else ""
    weight = f"weight {share(float(steps.weights[key]))}" if steps.allowed[key] else "masked"
    return f"q · k = {signed(float(steps.sums[key]))}{divided},  {weight}"


def _draw_pair(
    painter: QPainter,
    layout: ScoreLayout,
    picture: ScorePicture,
    marks: ScoreMarks,
    style: ScoreStyle,
) -> None:
    theme, key = style.theme, marks.key
    top = layout.strips[Strip.QUERY].top() - taller(6 * GRID, style.font)
    line = QRectF(
        layout.pair.left() + MARGIN,
        top,
        layout.pair.width() - 2 * MARGIN,
        taller(5 * GRID, style.font),
    )
    painter.setFont(style.bold)
    painter.setPen(theme.color("ink"))
    title = QFontMetricsF(style.bold).elidedText(
        pair_name(picture, key), Qt.TextElideMode.ElideMiddle, line.width() * 0.4
    )
    painter.drawText(line, _LEFT | Qt.TextFlag.TextSingleLine, title)
    painter.setFont(style.figures)
    painter.setPen(theme.color("soft"))
    painter.drawText(line, _RIGHT | Qt.TextFlag.TextSingleLine, pair_reading(picture, marks))
    for strip, (values, limit) in _pair_values(picture, key).items():
        rect = layout.strips[strip]
        marked = marks.key_dimension if strip in LEFT_STRIPS else marks.value_dimension
        name = QRectF(0, rect.top(), rect.left() - 2 * GRID, rect.height())
        painter.setPen(theme.color("soft"))
        painter.drawText(name, _RIGHT, strip)
        if strip is Strip.WEIGHTED and not picture.steps.allowed[key]:
            draw_hatch(painter, rect, theme)
        else:
            draw_strip(painter, rect, values, limit, style.colors, theme, marked=marked)
