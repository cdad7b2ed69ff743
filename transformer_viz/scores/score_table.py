"""One query's row as a table: a line per key, a column per step of eq. 1, from left to right."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from core.text.tokens import Token
from transformer_viz.drawing.diverging import ZERO
from transformer_viz.drawing.images import to_image
from transformer_viz.drawing.labels import draw_label, draw_transition
from transformer_viz.drawing.numbers import share, signed
from transformer_viz.drawing.strips import draw_hatch, draw_strip
from transformer_viz.drawing.theme import GRID, Theme, scaled_font
from transformer_viz.scores.score_layout import (
    COLUMN_GAP,
    FORMULA_SIZE,
    NUMBERS,
    Column,
    ScoreLayout,
)
from transformer_viz.scores.score_picture import ScoreMarks, ScorePicture

MASKED_TEXT = "masked: s becomes −∞, so there is no weight"
INDEX_WIDTH = 9 * GRID
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_BAR = 3  # pixels
_BAR_LEVEL = 96  # of 127: the colour of plus and of minus
_LEGEND = 10 * GRID


@dataclass(frozen=True, slots=True)
class ScoreStyle:
    """The theme, fonts and colours; `colors` is RGBA uint8 [256, 4] for signed numbers
    (`diverging.diverging_table`)."""

    theme: Theme
    colors: np.ndarray
    font: QFont

    @property
    def figures(self) -> QFont:
        return scaled_font(self.font, 1.0)

    @property
    def bold(self) -> QFont:
        return scaled_font(self.font, 1.0, bold=True)

    @property
    def small(self) -> QFont:
        return scaled_font(self.font, FORMULA_SIZE)


class ScoreTable:
    """Draws one picture; make one for each time it is painted."""

    def __init__(
        self,
        painter: QPainter,
        layout: ScoreLayout,
        picture: ScorePicture,
        marks: ScoreMarks,
        style: ScoreStyle,
    ) -> None:
        self._painter = painter
        self._layout = layout
        self._picture = picture
        self._steps = picture.steps
        self._marks = marks
        self._theme = style.theme
        self._colors = style.colors
        self._figures, self._bold, self._small = style.figures, style.bold, style.small

    def draw(self) -> None:
        self._draw_header()
        self._draw_query()
        self._painter.save()
        self._painter.setClipRect(self._layout.body, Qt.ClipOperation.IntersectClip)
        for position in self._layout.visible():
            self._draw_line(position)
        self._painter.restore()
        self._draw_total()

    # Head and foot

    def _draw_header(self) -> None:
        header = self._layout.header
        for column, (title, formula) in self._picture.titles().items():
            cell = self._layout.cell(column, header)
            align = _RIGHT if column in NUMBERS else _LEFT
            upper = QRectF(cell.left(), cell.top(), cell.width(), cell.height() / 2)
            lower = upper.translated(0, upper.height() - GRID / 2)
            if column not in (Column.KEY, Column.PRODUCTS):
                gap = QRectF(cell.left() - COLUMN_GAP, upper.top(), COLUMN_GAP, upper.height())
                self._write(gap, "›", "faint", self._figures, Qt.AlignmentFlag.AlignCenter)
            left_out = column is Column.SCORE and not self._picture.scaled
            font = QFont(self._bold)
            font.setStrikeOut(left_out)
            self._write(upper, title, "soft" if left_out else "ink", font, align)
            if column in (Column.PRODUCTS, Column.VALUES):
                self._draw_legend(lower, formula)
            else:
                token = "warning" if left_out else "soft"
                self._write(lower, formula, token, self._small, align)
        self._rule(header.bottom())

    def _draw_legend(self, rect: QRectF, limit: str) -> None:
        """The colours from one end to the other, and what the ends stand for."""
        bar = QRectF(rect.left(), round(rect.center().y()) - GRID, _LEGEND, 2 * GRID)
        self._painter.drawImage(bar, to_image(self._colors[1:][None]))
        beside = rect.adjusted(_LEGEND + GRID, 0, 0, 0)
        self._write(beside, limit, "soft", self._small, _LEFT)

    def _draw_query(self) -> None:
        band, picture = self._layout.query, self._picture
        label = self._draw_index(band, picture.number)
        self._painter.setFont(self._figures)
        if picture.predicted is None:
            draw_label(
                self._painter, label, picture.query, self._theme, strong=True, word_mark=True
            )
        else:
            draw_transition(
                self._painter, label, picture.query, picture.predicted, self._theme, strong=True
            )
        strip = self._layout.strip(Column.PRODUCTS, band)
        self._draw_strip(strip, self._steps.query, picture.query_limit, self._marks.key_dimension)
        beside = QRectF(strip.right() + 2 * GRID, band.top(), 80 * GRID, band.height())
        text = f"the query’s q (±{picture.query_limit:.2g}), times each k below"
        self._write(beside, text, "soft", self._small, _LEFT)
        self._rule(band.bottom())

    def _draw_total(self) -> None:
        band, steps = self._layout.total, self._steps
        self._rule(self._layout.body.bottom())
        sums = {
            Column.EXPONENTIAL: f"{steps.exponentials.sum():.3f}",
            Column.WEIGHT: share(float(steps.weights.sum())),
        }
        for column, text in sums.items():
            self._write(self._layout.cell(column, band), text, "ink", self._bold)
        until_sums = self._layout.cell(Column.SCORE, band)
        until_sums.setLeft(band.left())
        self._write(until_sums, "sum over the keys", "soft", self._small)
        strip = self._layout.strip(Column.VALUES, band)
        limit, dimension = self._picture.value_limit, self._marks.value_dimension
        self._draw_strip(strip, steps.output, limit, dimension)
        beside = QRectF(strip.right() + GRID, band.top(), 4 * GRID, band.height())
        self._write(beside, "z", "ink", self._bold, _LEFT)

    # Keys

    def _draw_line(self, position: int) -> None:
        layout, steps = self._layout, self._steps
        key = int(self._picture.order[position])
        line = layout.line(position)
        focused = key == self._marks.key
        if focused:
            self._painter.fillRect(line, self._theme.color("accent_soft"))
        if key in self._marks.pinned:
            edge = QRectF(line.left(), line.top(), GRID, line.height())
            self._painter.fillRect(edge, self._theme.color("accent"))
        self._rule(line.bottom() - 1)
        self._draw_key(line, key, self._picture.keys[key], focused)
        self._draw_strip(
            layout.strip(Column.PRODUCTS, line),
            steps.query * steps.keys[key],
            self._picture.product_limit,
            self._marks.key_dimension if focused else None,
        )
        self._draw_signed(layout.cell(Column.SUM, line), float(steps.sums[key]))
        self._draw_signed(layout.cell(Column.SCORE, line), float(steps.scores[key]))
        if not steps.allowed[key]:
            self._draw_masked(line)
            return
        self._draw_share(layout.cell(Column.EXPONENTIAL, line), float(steps.exponentials[key]))
        self._draw_share(layout.cell(Column.WEIGHT, line), float(steps.weights[key]))
        self._draw_strip(
            layout.strip(Column.VALUES, line),
            steps.weights[key] * steps.values[key],
            self._picture.value_limit,
            self._marks.value_dimension if focused else None,
        )

    def _draw_key(self, line: QRectF, key: int, token: Token, focused: bool) -> None:
        label = self._draw_index(line, key)
        self._painter.setFont(self._figures)
        draw_label(self._painter, label, token, self._theme, strong=focused, word_mark=True)

    def _draw_signed(self, cell: QRectF, value: float) -> None:
        """A number, and below it a bar from the middle: right for plus, left for minus."""
        track = self._draw_number(cell, signed(value))
        limit = self._picture.sum_limit
        half = track.width() / 2
        length = abs(value) / limit * half if limit > 0 else 0.0
        left = track.left() + half - (length if value < 0 else 0.0)
        color = QColor(*self._colors[ZERO + (_BAR_LEVEL if value > 0 else -_BAR_LEVEL)].tolist())
        self._painter.fillRect(QRectF(left, track.top(), length, _BAR), color)

    def _draw_share(self, cell: QRectF, value: float) -> None:
        """A number from 0 to 1, and below it a bar of that share of the cell."""
        track = self._draw_number(cell, share(value))
        bar = QRectF(track.left(), track.top(), value * track.width(), _BAR)
        self._painter.fillRect(bar, self._theme.color("accent"))

    def _draw_number(self, cell: QRectF, text: str) -> QRectF:
        """The number at the right of the upper part; returns the track for its bar."""
        self._write(cell.adjusted(0, -1, 0, -GRID - 1), text, "ink", self._figures)
        track = QRectF(cell.left(), cell.bottom() - _BAR - 2, cell.width(), _BAR)
        self._painter.fillRect(track, self._theme.color("chip"))
        return track

    def _draw_masked(self, line: QRectF) -> None:
        """Hatched from the mask on: there is no weight, which is not a weight of 0."""
        first = self._layout.cell(Column.EXPONENTIAL, line)
        last = self._layout.cell(Column.VALUES, line)
        area = first.united(last).adjusted(0, 1, 0, -2)
        draw_hatch(self._painter, area, self._theme)
        self._painter.setFont(self._small)
        box = self._painter.boundingRect(area, Qt.AlignmentFlag.AlignCenter, MASKED_TEXT)
        ground = box.intersected(area).adjusted(-GRID, 0, GRID, 0)
        self._painter.fillRect(ground, self._theme.color("hatch_paper"))
        self._write(area, MASKED_TEXT, "soft", self._small, Qt.AlignmentFlag.AlignCenter)

    # Parts

    def _write(
        self,
        rect: QRectF,
        text: str,
        token: str,
        font: QFont,
        align: Qt.AlignmentFlag = _RIGHT,
    ) -> None:
        self._painter.setFont(font)
        self._painter.setPen(self._theme.color(token))
        self._painter.drawText(rect, align | Qt.TextFlag.TextSingleLine, text)

    def _draw_index(self, band: QRectF, index: int) -> QRectF:
        """The number of a token; returns the room for its label."""
        cell = self._layout.cell(Column.KEY, band)
        number = QRectF(cell.left(), cell.top(), INDEX_WIDTH - 2 * GRID, cell.height())
        self._write(number, str(index + 1), "faint", self._small)
        return cell.adjusted(INDEX_WIDTH, 0, 0, 0)

    def _draw_strip(
        self, rect: QRectF, values: np.ndarray, limit: float, marked: int | None
    ) -> None:
        draw_strip(self._painter, rect, values, limit, self._colors, self._theme, marked=marked)

    def _rule(self, y: float) -> None:
        body = self._layout.body
        self._painter.setPen(QPen(self._theme.color("line"), 1))
        self._painter.drawLine(QLineF(body.left(), y + 0.5, body.right(), y + 0.5))
