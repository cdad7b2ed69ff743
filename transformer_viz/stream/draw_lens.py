"""The layer lens as a grid of a row for each layer and a column for each decoder row, and below it
the first words of one column with their probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from core.text.tokens import Token
from transformer_viz.drawing.labels import draw_label, label_widths
from transformer_viz.drawing.numbers import share
from transformer_viz.drawing.theme import GRID, Theme, grown, scaled_font, taller
from transformer_viz.engine.readings import Lens
from transformer_viz.words.wording import token_name

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_CENTRE = Qt.AlignmentFlag.AlignCenter
_MARGIN = 4 * GRID
_CELL = 7 * GRID  # height
_NARROWEST, _WIDEST = 12 * GRID, 34 * GRID  # of a column
_LAYERS = 16 * GRID  # the names of the rows
_BETWEEN = 6 * GRID  # grid and list
_LEAST_WORD, _MOST_WORD = 28 * GRID, 48 * GRID  # one of the first words, with bar and number
_NUMBER = 13 * GRID
_MOST_COLOR = 0.4  # of the accent over the paper, at probability 1


@dataclass(frozen=True, slots=True)
class LensLayout:
    """The places of cells and list.

    Attributes:
        cells: the grid without its labels; the top row is the last layer.
        pitch: the width of a column.
        line: the height of a row.
        listed: where the list begins.
        word: the width of a word in it.
    """

    cells: QRectF
    pitch: float
    line: float
    rows: int
    columns: int
    listed: float
    word: float
    size: QSize

    def cell(self, layer: int, column: int) -> QRectF:
        """Return the rectangle of a cell; layer 0 is the input."""
        return QRectF(
            self.cells.left() + column * self.pitch,
            self.cells.bottom() - (layer + 1) * self.line,
            self.pitch,
            self.line,
        )

    def cell_at(self, point: QPointF) -> tuple[int, int] | None:
        """Return layer and column at a point of the grid."""
        if not self.cells.contains(point):
            return None
        layer = int((self.cells.bottom() - point.y()) / self.line)
        column = int((point.x() - self.cells.left()) / self.pitch)
        return min(layer, self.rows - 1), min(column, self.columns - 1)

    def column(self, column: int) -> QRectF:
        """Return a column with its labels."""
        return QRectF(
            self.cells.left() + column * self.pitch,
            self.cells.top() - self.line,
            self.pitch,
            self.cells.height() + 2 * self.line,
        )


def lay_out_lens(lens: Lens, width: int, font: QFont) -> LensLayout:
    rows, columns, top = lens.lens.ids.shape
    line = float(taller(_CELL, font))
    names = grown(_LAYERS, font)
    words = [*lens.tokens.values(), *lens.trace.target_tokens, *lens.trace.predicted_tokens]
    needed = max(label_widths(font, words)) + 2 * GRID
    pitch = max(
        grown(_NARROWEST, font),
        min(needed, grown(_WIDEST, font), (width - names - 2 * _MARGIN) / max(1, columns)),
    )
    cells = QRectF(_MARGIN + names, _MARGIN + line, pitch * columns, rows * line)
    listed = cells.bottom() + line + _BETWEEN
    room = (width - cells.left() - _MARGIN) / top
    word = max(grown(_LEAST_WORD, font), min(room, grown(_MOST_WORD, font)))
    height = listed + line * (rows + 1) + _MARGIN
    whole = math.ceil(max(width, cells.right() + _MARGIN, cells.left() + top * word + _MARGIN))
    return LensLayout(
        cells, pitch, line, rows, columns, listed, word, QSize(whole, math.ceil(height))
    )


def layer_name(layer: int) -> str:
    return f"layer {layer}" if layer else "input"


class LensDrawing:
    """Draws one lens; make one for each time it is painted."""

    def __init__(
        self,
        painter: QPainter,
        lens: Lens,
        column: int,
        layout: LensLayout,
        theme: Theme,
        font: QFont,
    ) -> None:
        """`column`: the one whose first words are listed."""
        self._painter = painter
        self._lens = lens
        self._column = column
        self._layout = layout
        self._theme = theme
        self._plain = scaled_font(font, 1.0)
        self._bold = scaled_font(font, 1.0, bold=True)
        self._small = scaled_font(font, 0.85)

    def draw(self) -> None:
        layout = self._layout
        for layer in range(layout.rows):
            name = layout.cell(layer, 0)
            name = QRectF(_MARGIN, name.top(), name.left() - _MARGIN - 2 * GRID, name.height())
            self._write(name, layer_name(layer), "soft", self._plain, _RIGHT)
        self._draw_axis_names()
        for column in range(layout.columns):
            self._draw_column(column)
        frame = layout.column(self._column)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.setPen(QPen(self._theme.color("accent"), 1.5))
        self._painter.drawRect(frame.adjusted(0.5, 0.5, -0.5, -0.5))
        self._draw_list()

    def _draw_axis_names(self) -> None:
        cells, line = self._layout.cells, self._layout.line
        for y, text in ((cells.top() - line, "predicts"), (cells.bottom(), "reads")):
            rect = QRectF(_MARGIN, y, cells.left() - _MARGIN - 2 * GRID, line)
            self._write(rect, text, "soft", self._small, _RIGHT)

    def _draw_column(self, column: int) -> None:
        painter, theme, layout, lens = self._painter, self._theme, self._layout, self._lens
        position, found = lens.positions[column], lens.lens
        lead = int(found.leads()[column])
        chosen = column == self._column
        top, bottom = layout.cell(layout.rows - 1, column), layout.cell(0, column)
        predicted, fed = lens.trace.predicted_tokens, lens.trace.target_tokens
        for token, rect, strong in (
            (predicted[position], top.translated(0, -layout.line), chosen),
            (fed[position], bottom.translated(0, layout.line), False),
        ):
            painter.setFont(self._plain)
            draw_label(
                painter,
                rect.adjusted(GRID, 0, -GRID, 0),
                token,
                theme,
                align=Qt.AlignmentFlag.AlignHCenter,
                strong=strong,
                soft=not strong,
            )
        for layer in range(layout.rows):
            word, probability = lens.best(layer, column)
            rect = layout.cell(layer, column)
            painter.fillRect(rect.adjusted(1, 1, -1, -1), self._shade(probability))
            painter.setFont(self._bold if layer >= lead else self._plain)
            draw_label(
                painter,
                rect.adjusted(GRID, 0, -GRID, 0),
                word,
                theme,
                align=Qt.AlignmentFlag.AlignHCenter,
            )
        base = layout.cell(lead, column).bottomLeft()
        painter.setPen(QPen(theme.color("ink"), 2))
        painter.drawLine(base + QPointF(2, -1), base + QPointF(layout.pitch - 2, -1))

    def _draw_list(self) -> None:
        """The first words of the column at each layer, with bars."""
        layout, lens = self._layout, self._lens
        room = layout.word
        rows, _, count = lens.lens.ids.shape
        lead = int(lens.lens.leads()[self._column])
        left = layout.cells.left()
        final = int(lens.lens.ids[-1, self._column, 0])
        for layer in range(rows):
            y = layout.listed + (rows - layer) * layout.line
            name = QRectF(_MARGIN, y, left - _MARGIN - 2 * GRID, layout.line)
            self._write(
                name,
                layer_name(layer),
                "ink" if layer == lead else "soft",
                self._bold if layer == lead else self._plain,
                _RIGHT,
            )
            for place in range(count):
                id_ = int(lens.lens.ids[layer, self._column, place])
                cell = QRectF(left + place * room, y, room - 3 * GRID, layout.line)
                self._draw_word(
                    cell,
                    lens.tokens[id_],
                    float(lens.lens.probabilities[layer, self._column, place]),
                    id_ == final,
                )
        heading = QRectF(left, layout.listed, layout.size.width() - left, layout.line)
        self._write(heading, column_in_words(lens, self._column), "ink", self._bold, _LEFT)

    def _draw_word(self, cell: QRectF, token: Token, probability: float, final: bool) -> None:
        painter, theme = self._painter, self._theme
        number = grown(_NUMBER, self._plain)
        track = QRectF(cell.left(), cell.bottom() - 6, cell.width(), 3)
        painter.fillRect(track, theme.color("chip"))
        track.setWidth(track.width() * probability)
        painter.fillRect(track, theme.color("accent"))
        upper = cell.adjusted(0, 0, 0, -5)
        painter.setFont(self._plain)
        draw_label(
            painter,
            upper.adjusted(0, 0, -number, 0),
            token,
            theme,
            align=Qt.AlignmentFlag.AlignLeft,
            strong=final,
        )
        self._write(upper, share(probability), "soft", self._small, _RIGHT)

    def _shade(self, probability: float) -> QColor:
        """From the paper towards the accent."""
        paper, accent = self._theme.color("paper"), self._theme.color("accent")
        part = _MOST_COLOR * min(1.0, probability)
        return QColor.fromRgbF(
            paper.redF() + (accent.redF() - paper.redF()) * part,
            paper.greenF() + (accent.greenF() - paper.greenF()) * part,
            paper.blueF() + (accent.blueF() - paper.blueF()) * part,
        )

    def _write(
        self, rect: QRectF, text: str, token: str, font: QFont, align: Qt.AlignmentFlag
    ) -> None:
        self._painter.setFont(font)
        self._painter.setPen(self._theme.color(token))
        shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        self._painter.drawText(rect, align | Qt.TextFlag.TextSingleLine, shown)


def column_in_words(lens: Lens, column: int) -> str:
    """Where in the layers the final word of a column takes the lead."""
    position = lens.positions[column]
    fed = token_name(lens.trace.target_tokens[position])
    final = token_name(lens.best(len(lens.lens.ids) - 1, column)[0])
    lead = int(lens.lens.leads()[column])
    where = "already at the input" if lead == 0 else f"in layer {lead}"
    return f"Row {position + 1}, which reads “{fed}”: “{final}” takes the lead {where}"
