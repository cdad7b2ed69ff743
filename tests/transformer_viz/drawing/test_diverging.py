import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transformer_viz.drawing.test_colormap import lightness, themes
from transformer_viz.drawing.diverging import LEVELS, ZERO, diverging_table, encode_signed
from transformer_viz.drawing.theme import Theme

NUMBERS = st.floats(-1e6, 1e6, width=32)
DICHROMACY = {  # Viénot, Brettel, Mollon 1999: linear sRGB as a dichromat's eye mixes it
    "protanopia": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deuteranopia": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
}


@given(st.lists(NUMBERS, min_size=1, max_size=40))
def test_negating_the_numbers_mirrors_the_codes(values: list[float]) -> None:
    array = np.array(values)
    limit = float(np.abs(array).max())
    codes = encode_signed(array, limit).astype(int)
    assert (codes + encode_signed(-array, limit) == 2 * ZERO).all()
    assert (codes[array == 0] == ZERO).all()


@given(st.lists(st.floats(-2, 2, width=32), min_size=1, max_size=40))
def test_a_code_keeps_a_number_to_half_a_level(values: list[float]) -> None:
    array = np.array(values)
    decoded = (encode_signed(array, 2.0).astype(float) - ZERO) * 2 / LEVELS
    assert np.abs(decoded - array).max() <= 1 / LEVELS + 1e-9


def test_beyond_the_limit_is_its_end_and_masked_is_not_zero() -> None:
    values = np.array([-9.0, -3.0, 0.0, 3.0, 9.0, 9.0])
    allowed = np.array([True, True, True, True, True, False])
    assert encode_signed(values, 3.0, allowed).tolist() == [1, 1, ZERO, 255, 255, 0]
    assert encode_signed(np.zeros(2), 0.0).tolist() == [ZERO, ZERO]


@themes
def test_zero_is_the_paper_and_masked_lets_the_hatch_through(theme: Theme) -> None:
    table = diverging_table(theme)
    paper = theme.color("paper")
    assert np.abs(table[ZERO, :3].astype(int) - paper.getRgb()[:3]).max() <= 1
    assert table[0, 3] == 0
    assert (table[1:, 3] == 255).all()


@themes
def test_equal_magnitudes_are_equally_strong(theme: Theme) -> None:
    light = lightness(diverging_table(theme)[:, :3])
    negative, positive = light[ZERO:0:-1], light[ZERO:]
    assert np.abs(negative - positive).max() < 5  # of 100
    steps = np.diff(positive[::8])
    assert (steps > 0).all() if theme.dark else (steps < 0).all()


@themes
@pytest.mark.parametrize("vision", DICHROMACY)
def test_the_sign_is_seen_without_one_of_the_cones(theme: Theme, vision: str) -> None:
    srgb = diverging_table(theme)[:, :3] / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = (linear @ np.transpose(DICHROMACY[vision])).clip(0, 1)
    seen = np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)
    apart = np.abs(seen[ZERO::-1][: LEVELS + 1] - seen[ZERO:]).max(axis=1)
    assert (apart[LEVELS // 2 :] > 0.25).all()
