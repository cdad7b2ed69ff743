"""From two traces and a head of each to three pictures on common axes: A, B and A − B.

No widget in here: safe to run in any thread. R rows and C columns of the common axes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from core.text.tokens import WORD_START, Token, TokenKind
from core.trace.alignment import GAP, Alignment, Indices
from core.trace.difference import Difference, align_entries, difference, on_axes
from core.trace.head_map import HeadMap, head_map
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.compare.comparison import Sides
from transformer_viz.compare.signed_pyramid import SignedPyramid
from transformer_viz.drawing.colormap import MASKED, encode
from transformer_viz.drawing.diverging import encode_signed
from transformer_viz.drawing.matrix import MatrixPicture
from transformer_viz.drawing.pooling import Pyramid
from transformer_viz.drawing.scales import Legend, legend
from transformer_viz.state.facing_words import Facing, facing_words
from transformer_viz.state.options import ViewOptions
from transformer_viz.state.selection import Cell
from transformer_viz.widgets.head_pictures import MapAxes, map_axes
from transformer_viz.words.wording import head_numbers, predicted_token, token_name

NOTHING = Token("–", kind=TokenKind.SPECIAL)
"""The label of a row or a column that one side lacks."""


class Shown(StrEnum):
    A = "a"
    B = "b"
    MINUS = "minus"


@dataclass(frozen=True, slots=True)
class CommonAxes:
    """What the rows and columns of all three pictures stand for.

    `a`, `b`: the axes of either side; `rows`, `columns`: how they lie beside each other.
    """

    a: MapAxes
    b: MapAxes
    rows: Alignment
    columns: Alignment

    def place(self, query: int | None, key: int | None) -> Cell:
        """Return where a cell of A lies, given by its tokens."""
        row, column = self.a.cell(query, key)
        return _place(self.rows.first, row), _place(self.columns.first, column)

    def tokens(self, row: int | None, column: int | None) -> Cell:
        """The tokens of A at a place, None where A has nothing."""
        return self.a.tokens(_entry(self.rows.first, row), _entry(self.columns.first, column))


@dataclass(frozen=True, slots=True)
class Request:
    """A comparison to draw, with its options.

    `full`: the colours of A − B range over ±1, else up to its largest magnitude.
    """

    sides: Sides
    a: Head
    b: Head
    options: ViewOptions
    full: bool

    @property
    def cells(self) -> int:
        """The number of cells of the larger map."""
        kind = self.a.kind
        return max(
            len(trace.query_tokens(kind)) * len(trace.key_tokens(kind))
            for trace in (self.sides.a, self.sides.b)
        )


@dataclass(frozen=True, slots=True, eq=False)
class ComparePictures:
    """The three pictures of a comparison.

    Attributes:
        names: what tells the maps apart.
        words: of the two translations.
    """

    request: Request
    axes: CommonAxes
    maps: Mapping[Shown, MatrixPicture]
    names: Mapping[Shown, str]
    difference: Difference
    words: tuple[Facing, ...]

    @property
    def minus(self) -> MatrixPicture:
        return self.maps[Shown.MINUS]


@dataclass(frozen=True, slots=True)
class _Labels:
    rows: tuple[Token, ...]
    columns: tuple[Token, ...]
    predicted: tuple[Token, ...]


def common_axes(sides: Sides, kind: AttentionKind, options: ViewOptions) -> CommonAxes:
    """Return the axes that both sides share. Models of different vocabularies are compared word by
    word: their pieces are not the same things."""
    options = replace(options, merge_words=options.merge_words or not sides.same_vocabulary)
    a, b = map_axes(sides.a, kind, options), map_axes(sides.b, kind, options)
    return CommonAxes(a, b, align_entries(a.rows, b.rows), align_entries(a.columns, b.columns))


def compare_pictures(request: Request) -> ComparePictures | None:
    """The three pictures; None where the options leave no token to show. A and B have one scale."""
    sides, options = request.sides, request.options
    axes = common_axes(sides, request.a.kind, options)
    if axes.a.empty or axes.b.empty:
        return None
    rows, columns = axes.rows, axes.columns
    first = head_map(sides.a, [request.a], axes.a.rows, axes.a.columns)
    second = head_map(sides.b, [request.b], axes.b.rows, axes.b.columns)
    a = _labels(sides.a, request.a.kind, axes.a, rows.first, columns.first)
    b = _labels(sides.b, request.b.kind, axes.b, rows.second, columns.second)
    codes_a, codes_b = _codes(first, second, axes, options)
    largest = float(max(first.weights.max(), second.weights.max()))
    weights = legend(options.scale, largest, options.threshold)
    if not (rows.shared.all() and columns.shared.all()):
        weights = replace(weights, hatched="no weight")
    apart = difference(first, second, rows, columns)
    limit = 1.0 if request.full else float(np.abs(apart.values).max())
    signed = SignedPyramid(encode_signed(apart.values, limit, apart.compared))
    return ComparePictures(
        request=request,
        axes=axes,
        maps={
            Shown.A: _picture(Pyramid(codes_a), a, weights),
            Shown.B: _picture(Pyramid(codes_b), b, weights),
            Shown.MINUS: _picture(signed, _both_labels(a, b), _signed_legend(limit, request.full)),
        },
        names=names(request),
        difference=apart,
        words=facing_words(sides.a.predicted_tokens, sides.b.predicted_tokens),
    )


def names(request: Request) -> dict[Shown, str]:
    """Return names of the maps: the models with their heads, or, of one model, the words that
    differ."""
    sides = request.sides
    if sides.same_model:
        words = facing_words(sides.a.source_tokens, sides.b.source_tokens)
        differing = [facing for facing in words if facing.differ]
        a = " ".join(token_name(facing.a) for facing in differing if facing.a)
        b = " ".join(token_name(facing.b) for facing in differing if facing.b)
    else:
        name = sides.model_a.name if sides.model_a is not None else "from a file"
        a = f"{name} {head_numbers(request.a)}"
        b = f"{sides.model_b.name} {head_numbers(request.b)}"
    named = {Shown.A: ("A", a), Shown.B: ("B", b), Shown.MINUS: ("A − B", "")}
    return {shown: " · ".join(filter(None, parts)) for shown, parts in named.items()}


def _picture(pyramid: Pyramid, labels: _Labels, words: Legend) -> MatrixPicture:
    return MatrixPicture(
        pyramid=pyramid,
        rows=labels.rows,
        columns=labels.columns,
        row_numbers=tuple(range(1, len(labels.rows) + 1)),
        column_numbers=tuple(range(1, len(labels.columns) + 1)),
        predicted=labels.predicted,
        masked=bool((pyramid.levels[0] == MASKED).any()),
        legend=words,
    )


def _codes(
    first: HeadMap, second: HeadMap, axes: CommonAxes, options: ViewOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of A and of B, [R, C] each, encoded as one map [R, 2C]: the largest weight of a row
    or of the map is that of both."""

    def place(name: str) -> np.ndarray:
        rows, columns = axes.rows, axes.columns
        a = on_axes(getattr(first, name), rows.first, columns.first, 0)
        return np.hstack([a, on_axes(getattr(second, name), rows.second, columns.second, 0)])

    codes = encode(place("weights"), place("allowed"), options.scale, options.threshold)
    middle = len(axes.columns)
    return codes[:, :middle], codes[:, middle:]


def _labels(
    trace: Trace, kind: AttentionKind, axes: MapAxes, rows: Indices, columns: Indices
) -> _Labels:
    """The tokens of one side on the common axes."""
    predicted = [predicted_token(trace, kind, span[-1]) for span in axes.rows.spans]
    return _Labels(
        _at(axes.rows.tokens, rows),
        _at(axes.columns.tokens, columns),
        _at([token for token in predicted if token is not None], rows) if any(predicted) else (),
    )


def _at(tokens: Sequence[Token], places: Indices) -> tuple[Token, ...]:
    return tuple(NOTHING if index == GAP else tokens[index] for index in places)


def _both_labels(a: _Labels, b: _Labels) -> _Labels:
    """What rows predict only where both sides say so: a trace from a file may not."""
    predicted = _both(a.predicted, b.predicted) if a.predicted and b.predicted else ()
    return _Labels(_both(a.rows, b.rows), _both(a.columns, b.columns), predicted)


def _both(first: Sequence[Token], second: Sequence[Token]) -> tuple[Token, ...]:
    return tuple(both(a, b) for a, b in zip(first, second, strict=True))


def both(a: Token, b: Token) -> Token:
    """One label for what stands opposite: "tired|wide" where the sides differ."""
    if a is NOTHING or b is NOTHING:
        return b if a is NOTHING else a
    if (a.label, a.kind) == (b.label, b.kind):
        return a
    mark = WORD_START * (a.starts_word and b.starts_word)
    return Token(f"{mark}{a.label}|{b.label}")


def _signed_legend(limit: float, full: bool) -> Legend:
    caption = ("A − B", "absolute ±1" if full else "± largest")
    ends = ((1, f"+{limit:.3g}"), (0, f"−{limit:.3g}")) if limit > 0 else ()
    return Legend(caption, ((0.5, "0"), *ends), hatched="not compared")


def _place(places: Indices, entry: int | None) -> int | None:
    if entry is None:
        return None
    return int(np.flatnonzero(places == entry)[0])


def _entry(places: Indices, place: int | None) -> int | None:
    return None if place is None or places[place] == GAP else int(places[place])
