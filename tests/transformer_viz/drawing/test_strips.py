import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from transformer_viz.drawing.diverging import diverging_table, encode_signed
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.strips import cell_rect, dimension_at, draw_strip, resampled
from transformer_viz.drawing.theme import DARK, LIGHT, Theme

VECTORS = st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=200).map(np.array)


def painted(values: np.ndarray, theme: Theme, width: int, ratio: int = 1) -> np.ndarray:
    """The row of device pixels through the middle of a strip of that width at x = 4."""
    image = QImage((width + 8) * ratio, 20 * ratio, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(0)
    with QPainter(image) as painter:
        rect = QRectF(4, 4, width, 12)
        draw_strip(painter, rect, values, 5.0, diverging_table(theme), theme)
    return to_array(image)[10 * ratio, 4 * ratio : (4 + width) * ratio]


@given(VECTORS, st.integers(1, 60))
def test_no_peak_is_lost(values: np.ndarray, columns: int) -> None:
    shown = resampled(values, columns)
    assert shown.shape == (columns,)
    assert np.isin(shown, values).all()
    if columns <= len(values):
        assert np.abs(shown).max() == np.abs(values).max()
    else:
        assert set(shown) == set(values)


def test_the_sign_of_the_peak_is_kept() -> None:
    assert resampled(np.array([1.0, -3, 2, 2, 4, -1]), 3).tolist() == [-3, 2, 4]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ratio", [1, 2])
def test_each_dimension_has_its_own_sharp_cell(theme: Theme, ratio: int) -> None:
    values = np.array([-5.0, 0, 2.5, 5])
    row = painted(values, theme, 24, ratio)
    expected = diverging_table(theme)[encode_signed(values, 5.0)]
    assert row.tolist() == np.repeat(expected, 6 * ratio, axis=0).tolist()


def test_a_strip_of_more_dimensions_than_pixels_shows_the_peak() -> None:
    values = np.zeros(512)
    values[300] = -5
    row = painted(values, LIGHT, 64)
    dark = np.flatnonzero(row[:, 2] < 100)  # the end of orange has little blue
    assert dark.tolist() == [300 * 64 // 512]


@given(st.integers(1, 600), st.floats(20, 400), st.data())
def test_pointing_at_a_cell_finds_its_dimension(count: int, width: float, data) -> None:
    rect = QRectF(7, 0, width, 12)
    dimension = data.draw(st.integers(0, count - 1))
    assert dimension_at(rect, cell_rect(rect, dimension, count).center().x(), count) == dimension
    assert dimension_at(rect, 6.9, count) is None
    assert dimension_at(rect, 7.1 + width, count) is None
