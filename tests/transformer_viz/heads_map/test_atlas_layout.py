import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect
from PySide6.QtGui import QFontMetrics

from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.theme import scaled_font
from transformer_viz.heads_map.atlas_layout import (
    LEAST,
    LEAST_IN_FIGURE,
    MARGIN,
    MOST,
    AtlasLayout,
    Rows,
    fit_by_layer,
    fit_figure,
    fit_ranked,
    rows_by_layer,
)

E, D, C = AttentionKind


def by_layer(kind: AttentionKind, counts: tuple[int, ...]) -> Rows:
    return tuple(
        tuple(Head(kind, layer, head) for head in range(count))
        for layer, count in enumerate(counts)
    )


depth = st.lists(st.integers(1, 16), min_size=1, max_size=5).map(tuple)
models = st.lists(depth, min_size=1, max_size=3).map(
    lambda layers: tuple(map(by_layer, AttentionKind, layers))
)
rankings = st.lists(st.integers(1, 40), min_size=1, max_size=3).map(
    lambda counts: [
        by_layer(kind, (count,))[0] for kind, count in zip(AttentionKind, counts, strict=False)
    ]
)


@given(models, st.integers(1, 60), st.booleans(), st.data())
def test_a_head_lies_where_its_tile_is(
    kinds: tuple[Rows, ...], tile: int, captions: bool, data: st.DataObject
) -> None:
    layout = AtlasLayout(kinds, tile, captions=captions)
    head = data.draw(st.sampled_from(list(layout)))
    rect = layout.rect(head)
    for x in (rect.left(), rect.right()):
        for y in (rect.top(), rect.bottom()):
            assert layout.head_at(x, y) == head
            assert layout.heads_at(x, y) == (head,)
    assert 0 < rect.left() <= rect.right() < layout.width
    assert 0 < rect.top() <= rect.bottom() < layout.height


@given(models, st.integers(1, 60), st.integers(-50, 1500), st.integers(-50, 1500))
def test_a_point_belongs_to_the_tile_that_contains_it_and_to_no_other(
    kinds: tuple[Rows, ...], tile: int, x: int, y: int
) -> None:
    layout = AtlasLayout(kinds, tile)
    containing = [head for head in layout if layout.rect(head).contains(x, y)]
    assert [layout.head_at(x, y)] == (containing or [None])


@given(models)
def test_every_head_appears_once_in_reading_order(kinds: tuple[Rows, ...]) -> None:
    expected = [head for rows in kinds for row in rows for head in row]
    assert list(AtlasLayout(kinds, 10)) == expected


@given(models, st.data())
def test_a_number_stands_for_its_layer_and_a_title_for_its_kind(
    kinds: tuple[Rows, ...], data: st.DataObject
) -> None:
    layout = AtlasLayout(kinds, 30)
    section = data.draw(st.sampled_from(layout.sections))
    row = data.draw(st.sampled_from(section.rows))
    assert layout.heads_at(layout.left - 10, layout.rect(row[0]).center().y()) == row
    assert layout.heads_at(30, section.top + 4) == section.heads
    assert set(section.heads) == {head for head in layout if head.kind is section.kind}
    assert layout.heads_at(-1000, 100_000) == ()


@given(models, st.integers(150, 900), st.integers(100, 1200))
def test_tiles_fit_the_widget_unless_they_would_be_too_small(
    kinds: tuple[Rows, ...], width: int, height: int
) -> None:
    layout = fit_by_layer(kinds, width, height)
    assert LEAST <= layout.tile <= MOST
    assert (layout.width <= width and layout.height <= height) or layout.tile == LEAST


def test_the_map_of_a_single_head_has_room_for_its_title(qapp) -> None:
    layout = fit_by_layer((((Head(D, 0, 0),),),), 300, 80)
    title = QFontMetrics(scaled_font(qapp.font(), 1.0, bold=True))
    assert layout.width - 2 * MARGIN >= title.horizontalAdvance("Decoder self")


@given(rankings, st.integers(150, 900), st.integers(100, 1200))
def test_ranked_heads_keep_their_order_and_never_overflow_the_width(
    ranked: list[tuple[Head, ...]], width: int, height: int
) -> None:
    layout = fit_ranked(ranked, width, height, least=46)
    assert list(layout) == [head for heads in ranked for head in heads]
    assert 46 <= layout.tile <= MOST
    assert layout.width <= width
    lengths = [[len(row) for row in section.rows] for section in layout.sections]
    longest = max(map(max, lengths))
    assert all(set(one[:-1]) <= {longest} for one in lengths), "lines are filled"


def test_ranked_heads_take_the_room_there_is() -> None:
    few = fit_ranked([by_layer(E, (24,))[0]], 400, 900, least=46)
    assert few.height <= 900
    many = fit_ranked([by_layer(kind, (24,))[0] for kind in AttentionKind], 300, 300, least=46)
    assert many.height > 300, "it scrolls"
    assert many.width > 300 - many.pitch / 2, "and fills the width"


@pytest.mark.parametrize("fit", [fit_by_layer, lambda *a: fit_ranked(*a, least=46)])
def test_a_trace_without_heads_has_a_layout(fit: Callable[..., AtlasLayout]) -> None:
    assert list(fit((), 300, 300)) == []


def test_kinds_have_their_own_depth_and_width(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace(encoder=(5,), decoder=(2, 3, 2))
    counts = [[len(row) for row in rows] for rows in rows_by_layer(trace)]
    assert counts == [[5], [2, 3, 2], [2, 3, 2]]
    assert [rows[0][0].kind for rows in rows_by_layer(trace)] == [E, D, C]


HOLES: tuple[Rows, ...] = (
    ((Head(E, 0, 1), Head(E, 0, 3)), (), (Head(E, 2, 0),)),
    ((), (Head(C, 1, 2),)),
)


def test_a_pruned_head_leaves_its_place_empty() -> None:
    layout = AtlasLayout(HOLES, 40)
    assert list(layout) == [Head(E, 0, 1), Head(E, 0, 3), Head(E, 2, 0), Head(C, 1, 2)]
    column = [layout.rect(Head(E, 0, head)).left() for head in (1, 3)]
    assert column[1] - column[0] == 2 * layout.pitch
    assert layout.rect(Head(C, 1, 2)).left() == layout.left + 2 * layout.pitch
    assert layout.rect(Head(E, 2, 0)).top() == layout.sections[0].first_row + 2 * layout.row_pitch
    pruned = set(layout.gaps)
    assert Head(E, 0, 0) in pruned
    assert {head.head for head in pruned if head[:2] == (E, 1)} == {0, 1, 2, 3}
    assert len(pruned) + len(list(layout)) == 3 * 4 + 2 * 3
    for gap in layout.gaps.values():
        assert layout.head_at(gap.center().x(), gap.center().y()) is None
    assert layout.width >= column[1] + 40


def test_ranked_no_place_is_empty() -> None:
    layout = AtlasLayout(
        tuple((tuple(head for row in rows for head in row),) for rows in HOLES), 40, captions=True
    )
    assert not layout.gaps
    assert layout.rect(Head(E, 0, 1)).left() == layout.left
    assert layout.rect(Head(E, 0, 3)).left() == layout.left + layout.pitch


@given(rows=models, width=st.integers(300, 1200), height=st.integers(200, 900))
def test_a_figure_takes_the_larger_tiles_of_below_and_beside(
    rows: tuple[Rows, ...], width: int, height: int
) -> None:
    figure = fit_figure(rows, width, height)
    assert figure.tile >= fit_by_layer(rows, width, height, least=LEAST_IN_FIGURE).tile
    tiles = [figure.rect(head) for head in figure]
    assert all(not a.intersects(b) for a, b in itertools.combinations(tiles, 2))
    whole = QRect(0, 0, figure.width, figure.height)
    assert all(whole.contains(tile) for tile in tiles)
    if figure.tile > LEAST_IN_FIGURE:
        assert figure.width <= width
        assert figure.height <= height
