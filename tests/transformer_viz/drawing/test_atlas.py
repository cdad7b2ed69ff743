from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.atlas import (
    Atlas,
    AtlasLayout,
    HeadCounts,
    fitting_tile,
    head_counts,
    thumbnails,
    tile_pixels,
)
from transformer_viz.drawing.colormap import MASKED, ColorMap, lookup_table
from transformer_viz.drawing.hatch import hatch
from transformer_viz.drawing.images import to_array
from transformer_viz.theme import DARK, LIGHT, Theme

depth = st.lists(st.integers(1, 16), min_size=1, max_size=5).map(tuple)
models = st.lists(depth, min_size=1, max_size=3).map(
    lambda layers: tuple(zip(AttentionKind, layers, strict=False))
)


@given(models, st.integers(1, 60), st.data())
def test_a_head_lies_where_its_tile_is(heads: HeadCounts, tile: int, data: st.DataObject) -> None:
    layout = AtlasLayout(heads, tile)
    head = data.draw(st.sampled_from(list(layout)))
    rect = layout.rect(head)
    for x in (rect.left(), rect.right()):
        for y in (rect.top(), rect.bottom()):
            assert layout.head_at(x, y) == head
    assert 0 < rect.left() <= rect.right() < layout.width
    assert 0 < rect.top() <= rect.bottom() < layout.height


@given(models, st.integers(1, 60), st.integers(-50, 1500), st.integers(-50, 1500))
def test_a_point_belongs_to_the_tile_that_contains_it_and_to_no_other(
    heads: HeadCounts, tile: int, x: int, y: int
) -> None:
    layout = AtlasLayout(heads, tile)
    containing = [head for head in layout if layout.rect(head).contains(x, y)]
    assert [layout.head_at(x, y)] == (containing or [None])


@given(models)
def test_every_head_appears_once_in_reading_order(heads: HeadCounts) -> None:
    expected = [
        Head(kind, layer, head)
        for kind, counts in heads
        for layer, count in enumerate(counts)
        for head in range(count)
    ]
    assert list(AtlasLayout(heads, 10)) == expected


@given(models, st.integers(100, 900), st.integers(100, 1200))
def test_tiles_fit_the_widget_unless_they_would_be_too_small(
    heads: HeadCounts, width: int, height: int
) -> None:
    tile = fitting_tile(heads, width, height)
    layout = AtlasLayout(heads, tile)
    assert 26 <= tile <= 128
    assert (layout.width <= width and layout.height <= height) or tile == 26


def test_a_trace_without_heads_has_a_layout() -> None:
    assert list(AtlasLayout((), fitting_tile((), 300, 300))) == []


def test_kinds_have_their_own_depth_and_width(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace(encoder=(5,), decoder=(2, 3, 2))
    assert head_counts(trace) == (
        (AttentionKind.ENCODER_SELF, (5,)),
        (AttentionKind.DECODER_SELF, (2, 3, 2)),
        (AttentionKind.CROSS, (2, 3, 2)),
    )
    assert [head for head, _ in thumbnails(trace)] == list(AtlasLayout(head_counts(trace), 9))


def test_thumbnails_are_small_and_know_what_is_masked(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace("▁a " * 100 + "</s>", "<s> " + "▁b " * 30)
    tiles = dict(thumbnails(trace, 64))
    assert tiles[Head(AttentionKind.ENCODER_SELF, 0, 0)].shape == (64, 64)
    assert tiles[Head(AttentionKind.CROSS, 0, 0)].shape == (31, 64)
    decoder = tiles[Head(AttentionKind.DECODER_SELF, 0, 0)]
    assert ((decoder == MASKED) == ~np.tri(31, dtype=bool)).all()


def test_one_map_exists_at_a_time(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace()
    computed: list[AttentionKind] = []

    class Counting:
        source_tokens, target_tokens = trace.source_tokens, trace.target_tokens
        kinds, allowed, layers, heads = trace.kinds, trace.allowed, trace.layers, trace.heads

        def weights(self, kind: AttentionKind, layer: int, head: int) -> np.ndarray:
            computed.append(kind)
            return trace.weights(kind, layer, head)

    tiles = thumbnails(Counting())  # type: ignore[arg-type]
    next(tiles)
    next(tiles)
    assert len(computed) == 2


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_a_hot_cell_is_painted_at_its_row_and_column(qapp, theme: Theme, ratio: float) -> None:
    layout = AtlasLayout(((AttentionKind.CROSS, (2, 2)),), 40)
    table = lookup_table(ColorMap.PAPER, theme)
    atlas = Atlas(layout, theme, table, ratio, qapp.font())
    codes = np.ones((4, 8), np.uint8)
    codes[1, 6] = 255
    head = Head(AttentionKind.CROSS, 1, 0)
    atlas.draw({head: codes})
    pixels = to_array(atlas.image)
    rect = layout.rect(head)
    x, y = rect.left() + 40 * 6.5 / 8, rect.top() + 40 * 1.5 / 4
    assert pixels[int(y * ratio), int(x * ratio)].tolist() == table[255].tolist()
    x, y = rect.left() + 40 * 1.5 / 8, rect.top() + 40 * 3.5 / 4
    assert pixels[int(y * ratio), int(x * ratio)].tolist() == table[1].tolist()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_masked_cells_differ_from_zero_cells(theme: Theme) -> None:
    table = lookup_table(ColorMap.PAPER, theme)
    codes = np.array([[1, MASKED]], np.uint8)
    pixels = tile_pixels(codes, 24, table, hatch(24, 24, theme))
    zero, masked = pixels[:, :12].reshape(-1, 4), pixels[:, 12:].reshape(-1, 4)
    assert (zero == table[1]).all()
    assert not (masked == table[1]).all(axis=1).any()
    assert len(np.unique(masked, axis=0)) == 2, "ground and lines"


def test_a_diagonal_of_a_long_text_survives_in_a_small_tile() -> None:
    codes = np.ones((64, 64), np.uint8)
    np.fill_diagonal(codes, 255)
    table = lookup_table(ColorMap.PAPER, LIGHT)
    pixels = tile_pixels(codes, 28, table, hatch(28, 28, LIGHT))
    assert (table[255] == np.diagonal(pixels).T).all()
