"""From a trace, heads and options to pictures. No widget in here: safe to run in any thread."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.text.tokens import Token
from core.trace.head_map import Entries, entries, head_map, mean_rows
from core.trace.sinks import Sink, sink_entries
from core.trace.trace import AttentionKind, Floats, Head, Trace, without_repetition
from transformer_viz.drawing.colormap import encode
from transformer_viz.drawing.matrix import MatrixPicture
from transformer_viz.drawing.pooling import Pyramid, pool_max
from transformer_viz.drawing.scales import WEIGHT, Measure, legend
from transformer_viz.state.options import ViewOptions
from transformer_viz.state.selection import Cell


@dataclass(frozen=True, slots=True)
class MapAxes:
    """What rows and columns stand for, and the way from tokens to cells and back."""

    rows: Entries
    columns: Entries

    @property
    def empty(self) -> bool:
        return not (len(self.rows) and len(self.columns))

    def cell(self, query: int | None, key: int | None) -> Cell:
        """The row and column of two tokens; (None, None) where one of them is left out."""
        row = None if query is None else self.rows.of_token(query)
        column = None if key is None else self.columns.of_token(key)
        shown = (row is None) == (query is None) and (column is None) == (key is None)
        return (row, column) if shown else (None, None)

    def tokens(self, row: int | None, column: int | None) -> Cell:
        """The query and the key that stand for a row and a column."""
        return (
            None if row is None else self.rows.token(row),
            None if column is None else self.columns.token(column),
        )


@dataclass(frozen=True, slots=True, eq=False)
class HeadPicture:
    """The picture of one head, or of the mean of several.

    Attributes:
        hidden_share, blank_share: of all that the rows have, what falls on the columns that are
            left out, and what lies below the threshold.
        peak: the largest value of a cell.
        sinks: of a map of weights, their keys being columns.
    """

    heads: tuple[Head, ...]
    axes: MapAxes
    matrix: MatrixPicture
    hidden_share: float
    blank_share: float
    peak: float
    sinks: tuple[Sink, ...] = ()


def map_axes(trace: Trace, kind: AttentionKind, options: ViewOptions) -> MapAxes:
    rows, columns = (
        entries(tokens, merge_words=options.merge_words, hide_specials=options.hide_specials)
        for tokens in (trace.query_tokens(kind), trace.key_tokens(kind))
    )
    return MapAxes(rows, columns)


def head_picture(
    trace: Trace,
    heads: Sequence[Head],
    axes: MapAxes,
    options: ViewOptions,
    largest: int | None = None,
    measure: Measure = WEIGHT,
    source: Floats | None = None,
) -> HeadPicture:
    """The picture of a map that is not empty, with no more than `largest` cells along a side.

    `source`: [Q], the share of each query that comes from the source, where it is to be shown.
    """
    shown = head_map(trace, heads, axes.rows, axes.columns)
    weights, allowed = shown.weights, shown.allowed
    kind = heads[0].kind
    found: tuple[Sink, ...] = ()
    if measure is WEIGHT:
        tokens = trace.key_tokens(kind)
        found = sink_entries(weights, allowed, axes.columns.spans, tokens, kind)
    codes = encode(weights, allowed, options.scale, options.threshold, measure.top)
    peak = float(weights.max())
    top = peak if largest is None else None
    hidden = float(shown.hidden.sum())
    blank = float(weights[weights < options.threshold].sum()) if options.threshold else 0.0
    total = float(weights.sum()) + hidden if hidden or blank else 1.0
    return HeadPicture(
        heads=tuple(heads),
        axes=axes,
        matrix=MatrixPicture(
            pyramid=Pyramid(codes if largest is None else pool_max(codes, largest)),
            rows=axes.rows.tokens,
            columns=axes.columns.tokens,
            row_numbers=_numbers(axes.rows),
            column_numbers=_numbers(axes.columns),
            predicted=_predicted(trace, heads[0].kind, axes.rows),
            masked=not without_repetition(allowed).all(),
            legend=legend(options.scale, top, options.threshold, measure),
            hidden=shown.hidden if options.hide_specials else None,
            source=None if source is None else mean_rows(source, axes.rows),
            sinks=tuple(sink.key for sink in found),
        ),
        sinks=found,
        hidden_share=hidden / total if total else 0.0,
        blank_share=blank / total if total else 0.0,
        peak=peak,
    )


def _numbers(axis: Entries) -> tuple[int, ...]:
    """Of each entry's first token, from 1."""
    return tuple(span.start + 1 for span in axis.spans)


def _predicted(trace: Trace, kind: AttentionKind, rows: Entries) -> tuple[Token, ...]:
    """What follows the last token of each row; nothing for encoder rows."""
    predicted = trace.predicted_tokens
    if kind is AttentionKind.ENCODER_SELF or len(predicted) != len(trace.target_tokens):
        return ()
    return tuple(predicted[span[-1]] for span in rows.spans)
