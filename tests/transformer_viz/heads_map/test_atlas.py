from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QFont

from core.trace.pooled import pooled_weights
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.colormap import MASKED, lookup_table
from transformer_viz.drawing.hatch import hatch
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.engine import parallel
from transformer_viz.heads_map import atlas as atlas_module
from transformer_viz.heads_map.atlas import Atlas, pack, row_outlines, thumbnails, tile_pixels
from transformer_viz.heads_map.atlas_layout import AtlasLayout
from transformer_viz.state.options import ColorMap

CROSS = AttentionKind.CROSS
TWO_BY_TWO = (tuple(tuple(Head(CROSS, layer, head) for head in (0, 1)) for layer in (0, 1)),)


def rgba(pixels: np.ndarray) -> np.ndarray:
    """ARGB32, uint32 [...], as RGBA uint8 [..., 4]."""
    return np.stack([pixels >> shift & 255 for shift in (16, 8, 0, 24)], axis=-1).astype(np.uint8)


def draw(layout: AtlasLayout, theme: Theme, ratio: float, font: QFont, **more: Any) -> Atlas:
    table = lookup_table(ColorMap.PAPER, theme)
    return Atlas(layout, theme, table, ratio, font, notes=("a note", "note"), **more)


def test_thumbnails_are_small_and_know_what_is_masked(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace("▁a " * 100 + "</s>", "<s> " + "▁b " * 30)
    tiles = dict(thumbnails(trace, size=64))
    assert tiles[Head(AttentionKind.ENCODER_SELF, 0, 0)].shape == (64, 64)
    assert tiles[Head(AttentionKind.CROSS, 0, 0)].shape == (31, 64)
    decoder = tiles[Head(AttentionKind.DECODER_SELF, 0, 0)]
    assert ((decoder == MASKED) == ~np.tri(31, dtype=bool)).all()


def test_small_maps_that_are_made_together_are_those_made_alone(
    make_trace: Callable[..., Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = make_trace()
    together = dict(thumbnails(trace))
    monkeypatch.setattr(atlas_module, "_SMALL", 0)
    alone = dict(thumbnails(trace))
    assert list(together) == list(alone)
    for head, codes in alone.items():
        assert np.abs(together[head].astype(int) - codes).max() <= 1  # a level, by rounding


def test_of_large_maps_no_more_is_made_than_is_asked_for(
    make_trace: Callable[..., Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atlas_module, "_SMALL", 0)
    made: list[Head] = []

    def counted(trace: Trace, head: Head, size: int) -> np.ndarray:
        made.append(head)
        return pooled_weights(trace, head, size)

    monkeypatch.setattr(atlas_module, "pooled_weights", counted)
    monkeypatch.setattr(parallel, "MOST", 1)
    trace = make_trace()
    tiles = thumbnails(trace)
    next(tiles)
    next(tiles)
    tiles.close()
    assert len(made) <= 3 < sum(len(trace.every_head(kind)) for kind in trace.kinds)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_a_hot_cell_is_painted_at_its_row_and_column(qapp, theme: Theme, ratio: float) -> None:
    layout = AtlasLayout(TWO_BY_TWO, 40)
    table = lookup_table(ColorMap.PAPER, theme)
    atlas = draw(layout, theme, ratio, qapp.font())
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
    pixels = rgba(tile_pixels(codes, 24, pack(table), pack(hatch(24, 24, theme))))
    zero, masked = pixels[:, :12].reshape(-1, 4), pixels[:, 12:].reshape(-1, 4)
    assert (zero == table[1]).all()
    assert not (masked == table[1]).all(axis=1).any()
    assert len(np.unique(masked, axis=0)) == 2, "ground and lines"


def test_a_diagonal_of_a_long_text_survives_in_a_small_tile() -> None:
    codes = np.ones((64, 64), np.uint8)
    np.fill_diagonal(codes, 255)
    table = lookup_table(ColorMap.PAPER, LIGHT)
    pixels = tile_pixels(codes, 28, pack(table), pack(hatch(28, 28, LIGHT)))
    assert (np.diagonal(pixels) == pack(table)[255]).all()


def test_captions_stand_below_their_tiles(qapp) -> None:
    layout = AtlasLayout(TWO_BY_TWO, 48, captions=True)
    head = TWO_BY_TWO[0][0][1]
    bare = to_array(draw(layout, LIGHT, 1.0, qapp.font()).image)
    said = to_array(draw(layout, LIGHT, 1.0, qapp.font(), captions={head: ("1.2", "0.50")}).image)
    rows, columns = np.nonzero((bare != said).any(axis=-1))
    cell = layout.rect(head).adjusted(0, layout.tile, 0, layout.row_pitch - layout.tile - 1)
    assert all(cell.contains(int(x), int(y)) for x, y in zip(columns, rows, strict=True))
    assert len(rows) > 0


def test_a_note_is_said_in_the_longest_wording_that_fits(qapp) -> None:
    layout = AtlasLayout(TWO_BY_TWO, 60)

    def picture(*notes: str) -> bytes:
        table = lookup_table(ColorMap.PAPER, LIGHT)
        atlas = Atlas(layout, LIGHT, table, 1.0, qapp.font(), notes=notes)
        return to_array(atlas.image).tobytes()

    assert picture("x" * 200, "short") == picture("short") != picture()
    assert picture("x" * 200) == picture()


def test_neighbouring_rows_are_outlined_as_one(qapp) -> None:
    def lines(*rows: int) -> list[int]:
        """The heights at which an outline runs across the tile."""
        opaque = to_array(row_outlines(rows, 10, 60, 1.0, LIGHT))[..., 3] > 0
        return [int(y) for y in np.flatnonzero(opaque.all(axis=1))]

    assert lines(3) == [18, 25], "one pixel around a row of six"
    assert lines(4, 3) == [18, 31]
    assert lines(0, 9) == [0, 7, 54, 61], "inside the tile and its pixel"
    assert lines() == []
