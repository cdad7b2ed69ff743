import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transformer_viz.drawing.cells import cells_image, pixel_cells
from transformer_viz.drawing.colormap import MASKED, lookup_table
from transformer_viz.drawing.hatch import PERIOD, hatch_tile
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.pooling import Pyramid
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.state.options import ColorMap

TABLE = lookup_table(ColorMap.PAPER, LIGHT)


def draw(codes: np.ndarray, side: int, ratio: float = 1.0) -> np.ndarray:
    """The map in a square of so many pixels."""
    rows, columns = (pixel_cells(count, 0, side / count, side) for count in codes.shape)
    per_pixel = max(codes.shape) / side
    image = cells_image(Pyramid(codes), rows, columns, per_pixel, TABLE, LIGHT, ratio)
    return to_array(image)


@given(st.integers(1, 50), st.floats(-40, 0), st.floats(0.3, 30))
@example(16, 0.0, 1.1)  # the middle of a pixel lies on a border, as far as rounding tells
def test_a_pixel_shows_the_cell_that_its_middle_is_in(
    count: int, first: float, pitch: float
) -> None:
    rounding = 1e-9
    for pixel, cell in enumerate(pixel_cells(count, first, pitch, 60)):
        start, end = first + cell * pitch, first + (cell + 1) * pitch
        inside = start - rounding <= pixel + 0.5 <= end + rounding
        beyond = pixel + 0.5 >= first + count * pitch - rounding
        assert inside or (beyond and cell == count - 1)


def test_each_cell_has_its_colour() -> None:
    codes = np.array([[1, 128], [200, 255]], np.uint8)
    pixels = draw(codes, 8)
    for row in (0, 1):
        for column in (0, 1):
            part = pixels[4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
            assert (part == TABLE[codes[row, column]]).all()


def test_a_lone_cell_of_a_large_map_is_seen() -> None:
    codes = np.ones((1000, 1000), np.uint8)
    codes[617, 333] = 255
    assert (draw(codes, 100) == TABLE[255]).all(axis=2).any()


@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_masked_cells_are_hatched_across_their_borders(ratio: float) -> None:
    codes = np.full((6, 6), MASKED, np.uint8)
    codes[0, 0] = 255
    pixels = draw(codes, 48, ratio)
    tile = hatch_tile(LIGHT, ratio)
    assert len(tile) == PERIOD * ratio
    expected = np.tile(tile, (48 // len(tile), 48 // len(tile), 1))
    assert (pixels[8:] == expected[8:]).all()
    assert (pixels[:8, :8] == TABLE[255]).all()
