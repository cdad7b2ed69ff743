"""Where tokens and links lie in the links view, in its three forms.

Columns: queries on the left, keys on the right, a straight line for each link, as in the paper's
Figures 3 to 5. Rows: queries above, keys below. Arcs: the text once; a link to an earlier token
bends above it, one to a later token below it.

*Along* is the direction in which the tokens follow each other, *across* the other one.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QFont, QFontMetricsF

from core.text.tokens import Token
from transformer_viz.drawing.axes import LONGEST
from transformer_viz.drawing.cubics import Floats
from transformer_viz.drawing.labels import ARROW, display_text, label_widths
from transformer_viz.drawing.theme import GRID, scaled_font
from transformer_viz.state.options import LinksForm

MARGIN = 4 * GRID
SWATCH = 1.5 * GRID  # the mark of a head before a number
NUMBER_SIZE = 0.85  # of the font
MOST_NUMBERS = 3  # that one end of links shows; then how many more there are
THICKEST = 2.0 * GRID  # pixels: a link of weight 1, where there is room
SPREAD = 0.7  # of a token's room, over which the links of several heads are spread
_WIDEST_PITCH = 10 * GRID
_LONGEST_REACH = 120 * GRID  # from queries to keys
_SHORTEST_REACH = 24 * GRID
_WORD_GAP = 2 * GRID
_PIECE_GAP = GRID / 2
_MOST_STRETCHED = 1.75  # how far a short text is spread to fill the view
_FROM_RIGHT = {"R", "AL"}


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """A line of tokens, one after the other.

    Attributes:
        starts, lengths: [n], the room of each token along the track, gaps included.
        band: where the labels lie across it, from and to.
    """

    starts: Floats
    lengths: Floats
    band: tuple[float, float]

    @property
    def middles(self) -> Floats:
        return self.starts + self.lengths / 2

    def at(self, position: float) -> int | None:
        """The token at a position along the track."""
        inside = (self.starts <= position) & (position < self.starts + self.lengths)
        found = np.flatnonzero(inside)
        return int(found[0]) if len(found) else None

    def within(self, start: float, end: float) -> list[int]:
        """The tokens that lie, wholly or in part, between two positions."""
        inside = (self.starts < end) & (self.starts + self.lengths > start)
        return np.flatnonzero(inside).tolist()


@dataclass(frozen=True, slots=True, eq=False)
class LinkLayout:
    """The places of tokens and links.

    Attributes:
        size: of the whole picture, which may be larger than the view.
        queries, keys: for arcs, the same.
        edges: where links leave the queries and reach the keys, across; for arcs, where those
            that look back and those that look ahead touch the text.
        thickness: of a link of weight 1.
        lift: how high the longest arc rises.
    """

    form: LinksForm
    size: QSizeF
    queries: Track
    keys: Track
    edges: tuple[float, float]
    thickness: float
    lift: float = 0.0

    @property
    def vertical(self) -> bool:
        return self.form is LinksForm.COLUMNS

    @property
    def head(self) -> float:
        """The height of the headings of columns, which stay in place while these are scrolled."""
        return float(self.queries.starts[0]) if self.vertical else 0.0

    def label_rect(self, track: Track, index: int) -> QRectF:
        start, length = float(track.starts[index]), float(track.lengths[index])
        low, high = track.band
        if self.vertical:
            return QRectF(low, start, high - low, length)
        return QRectF(start, low, length, high - low)


def lay_out(
    form: LinksForm,
    queries: Sequence[Token],
    keys: Sequence[Token],
    predicted: Sequence[Token],
    *,
    font: QFont,
    view: QSizeF,
    series: int,
    ahead: bool,
) -> LinkLayout:
    """Lay out tokens for a view of a size.

    Args:
        predicted: what each query's row predicts, or nothing.
        series: how many heads have links of their own.
        ahead: whether some query may look at a later key; for arcs.
    """
    if form is LinksForm.COLUMNS:
        return _columns(queries, keys, predicted, font, view, series)
    if form is LinksForm.ROWS:
        return _rows(queries, keys, predicted, font, view, series)
    return _arcs(queries, font, view, series, ahead)


def number_size(font: QFont, series: int) -> QSizeF:
    """The room for the weight of one link, with the mark of its head where there are several."""
    metrics = QFontMetricsF(scaled_font(font, NUMBER_SIZE))
    mark = SWATCH + GRID / 2 if series > 1 else 0.0
    return QSizeF(metrics.horizontalAdvance("0.00") + mark + GRID, metrics.height())


def _columns(
    queries: Sequence[Token],
    keys: Sequence[Token],
    predicted: Sequence[Token],
    font: QFont,
    view: QSizeF,
    series: int,
) -> LinkLayout:
    line = QFontMetricsF(font).height()
    numbers = min(series, MOST_NUMBERS + 1) * number_size(font, series).width()
    head = line + 3 * GRID
    count = max(len(queries), len(keys))
    room = view.height() - head - MARGIN
    pitch = min(max(room / count, line + GRID / 2), max(_WIDEST_PITCH, 2 * line))
    left = min(_widest(font, queries, predicted), view.width() / 3)
    right = min(_widest(font, keys), view.width() / 3)
    rest = view.width() - 2 * (MARGIN + numbers + 2 * GRID) - left - right
    reach = min(max(rest, _SHORTEST_REACH), _LONGEST_REACH * line / 16)
    width = max(view.width(), view.width() - rest + reach)
    label = MARGIN + numbers + max(0.0, rest - reach) / 2
    start = label + left + 2 * GRID
    end = start + reach
    height = max(view.height(), head + count * pitch + MARGIN)
    return LinkLayout(
        form=LinksForm.COLUMNS,
        size=QSizeF(width, height),
        queries=_even(len(queries), head, pitch, (label, label + left)),
        keys=_even(len(keys), head, pitch, (end + 2 * GRID, end + 2 * GRID + right)),
        edges=(start, end),
        thickness=_thickness(line, pitch, series),
    )


def _rows(
    queries: Sequence[Token],
    keys: Sequence[Token],
    predicted: Sequence[Token],
    font: QFont,
    view: QSizeF,
    series: int,
) -> LinkLayout:
    line = QFontMetricsF(font).height()
    above = _line(font, queries, predicted)
    below = _line(font, keys)
    length = _stretched(max(above.length, below.length), view)
    left = max(MARGIN, (view.width() - length) / 2)
    upper = line * (2 if predicted else 1)  # one more for what a query predicts
    numbers = min(series, MOST_NUMBERS + 1) * number_size(font, series).height()
    top = GRID + line + numbers + GRID  # a heading, and numbers beside the labels
    reach = view.height() - 2 * top - upper - line - 4 * GRID
    reach = min(max(reach, _SHORTEST_REACH), _LONGEST_REACH * line / 16)
    height = max(view.height(), 2 * top + upper + line + 4 * GRID + reach)
    top = (height - reach - upper - line - 4 * GRID) / 2
    start = top + upper + 2 * GRID
    end = start + reach
    return LinkLayout(
        form=LinksForm.ROWS,
        size=QSizeF(max(view.width(), length + 2 * MARGIN), height),
        queries=_spread(queries, above, left, length, (top, top + upper)),
        keys=_spread(keys, below, left, length, (end + 2 * GRID, end + 2 * GRID + line)),
        edges=(start, end),
        thickness=_thickness(line, length / max(len(queries), len(keys)), series),
    )


def _arcs(
    tokens: Sequence[Token], font: QFont, view: QSizeF, series: int, ahead: bool
) -> LinkLayout:
    line = QFontMetricsF(font).height()
    text = _line(font, tokens)
    length = _stretched(text.length, view)
    left = max(MARGIN, (view.width() - length) / 2)
    sides = 2 if ahead else 1
    height = line + 2 * GRID
    head = line + 2 * GRID
    numbers = min(series, MOST_NUMBERS + 1) * number_size(font, series).height()
    foot = GRID + (line if ahead else numbers)  # a heading below arcs, else the numbers
    lift = (view.height() - 2 * MARGIN - head - height - foot) / sides
    lift = min(max(lift, _SHORTEST_REACH), length / 2)
    used = sides * lift + height + foot
    total = max(view.height(), used + head + 2 * MARGIN)
    top = head + (total - head - used) / 2 + lift
    track = _spread(tokens, text, left, length, (top + GRID, top + GRID + line))
    return LinkLayout(
        form=LinksForm.ARCS,
        size=QSizeF(max(view.width(), length + 2 * MARGIN), total),
        queries=track,
        keys=track,
        edges=(top, top + height),
        thickness=0.75 * _thickness(line, length / len(tokens), series),
        lift=lift,
    )


def _widest(font: QFont, tokens: Sequence[Token], predicted: Sequence[Token] = ()) -> float:
    widths = np.minimum(label_widths(font, tokens, word_marks=True), LONGEST)
    if predicted:
        arrow = QFontMetricsF(font).horizontalAdvance(ARROW)
        after = np.minimum(label_widths(font, predicted, word_marks=True), LONGEST)
        widths = widths + arrow + after
    return float(widths.max())


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """Running text: the width of each label, and the gaps around it, half of those between."""

    labels: Floats
    gaps: Floats

    @property
    def length(self) -> float:
        return float(self.labels.sum() + self.gaps.sum())


def _line(font: QFont, tokens: Sequence[Token], predicted: Sequence[Token] = ()) -> _Line:
    widths = np.minimum(label_widths(font, tokens), LONGEST)
    if predicted:
        arrow = QFontMetricsF(font).horizontalAdvance(ARROW.strip()) + GRID
        widths = np.maximum(widths, np.minimum(label_widths(font, predicted), LONGEST) + arrow)
    before = [_WORD_GAP if token.starts_word or predicted else _PIECE_GAP for token in tokens]
    gaps = np.array([*before, _WORD_GAP])
    return _Line(widths, (gaps[:-1] + gaps[1:]) / 2)


def _thickness(line: float, room: float, series: int) -> float:
    """Of a link of weight 1: so that those of several heads on one token are seen side by side."""
    return min(THICKEST * line / 16, max(GRID, 1.25 * SPREAD * room / series))


def _stretched(length: float, view: QSizeF) -> float:
    return max(length, min(view.width() - 2 * MARGIN, _MOST_STRETCHED * length))


def _even(count: int, start: float, pitch: float, band: tuple[float, float]) -> Track:
    return Track(start + pitch * np.arange(count, dtype=np.float64), np.full(count, pitch), band)


def _spread(
    tokens: Sequence[Token], line: _Line, left: float, length: float, band: tuple[float, float]
) -> Track:
    """Running text stretched to a length in its gaps; from the right for a script that is written
    so."""
    stretch = 1 + (length - line.length) / float(line.gaps.sum())
    lengths = line.labels + line.gaps * stretch
    starts = left + np.cumsum(lengths) - lengths
    if _from_right(tokens):
        starts = 2 * left + length - starts - lengths
    return Track(starts, lengths, band)


def _from_right(tokens: Sequence[Token]) -> bool:
    letters = [unicodedata.bidirectional(c) for token in tokens for c in display_text(token)]
    right = sum(letter in _FROM_RIGHT for letter in letters)
    return right > letters.count("L")
