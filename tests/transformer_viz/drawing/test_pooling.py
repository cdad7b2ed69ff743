import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_viz.drawing.pooling import Pyramid, pool_max

sides = st.integers(1, 40)


@given(sides, sides, st.integers(1, 16), st.integers(0, 99))
def test_pooling_takes_the_maximum_of_even_blocks(h: int, w: int, size: int, seed: int) -> None:
    cells = np.random.default_rng(seed).integers(0, 256, (3, h, w), dtype=np.uint8)
    pooled = pool_max(cells, size)
    rows, columns = min(h, size), min(w, size)
    assert pooled.shape == (3, rows, columns)
    for i in range(rows):
        for j in range(columns):
            block = cells[
                :, i * h // rows : (i + 1) * h // rows, j * w // columns : (j + 1) * w // columns
            ]
            assert (pooled[:, i, j] == block.max(axis=(1, 2))).all()


@pytest.mark.parametrize("count", [65, 100, 999, 2000])
def test_a_thin_diagonal_survives(count: int) -> None:
    pooled = pool_max(np.eye(count, dtype=np.uint8) * 255, 64)
    assert (np.diagonal(pooled) == 255).all()
    assert (pooled == 255).sum() <= 3 * 64, "and stays thin"


@given(sides, sides, st.integers(0, 99))
def test_every_level_of_a_pyramid_keeps_each_cell_under_its_own_place(
    h: int, w: int, seed: int
) -> None:
    cells = np.random.default_rng(seed).integers(0, 256, (h, w), dtype=np.uint8)
    pyramid = Pyramid(cells)
    assert pyramid.levels[-1].shape == (1, 1)
    for number, level in enumerate(pyramid.levels):
        assert level.shape == (-(-h // 2**number), -(-w // 2**number))
        for i in range(level.shape[0]):
            for j in range(level.shape[1]):
                side = 2**number
                block = cells[i * side : (i + 1) * side, j * side : (j + 1) * side]
                assert level[i, j] == block.max()


@given(st.floats(0.001, 5000))
def test_the_level_is_the_finest_that_loses_no_cell(cells_per_pixel: float) -> None:
    pyramid = Pyramid(np.zeros((4096, 3), np.uint8))
    number = pyramid.level(cells_per_pixel)
    assert cells_per_pixel / 2**number <= 1 or number == len(pyramid.levels) - 1
    assert number == 0 or cells_per_pixel / 2 ** (number - 1) > 1
