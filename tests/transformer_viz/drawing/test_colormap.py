import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_viz.drawing.colormap import BLANK, LEVELS, MASKED, encode, lookup_table
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.state.options import ColorMap, Scale

themes = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
maps = pytest.mark.parametrize("color_map", ColorMap)


def lightness(rgb: np.ndarray) -> np.ndarray:
    """CIE L*, of sRGB uint8 [n, 3]."""
    c = rgb / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    y = linear @ [0.2126, 0.7152, 0.0722]
    return np.where(y > 216 / 24389, 116 * np.cbrt(y) - 16, y * 24389 / 27)


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=50))
def test_a_code_keeps_the_weight_to_half_a_level(weights: list[float]) -> None:
    row = np.array([weights], np.float32)
    codes = encode(row, np.ones(row.shape, bool))
    decoded = (codes.astype(float) - 1) / LEVELS
    assert np.abs(decoded - row).max() <= 0.5 / LEVELS + 1e-6


def test_the_scale_is_absolute_whatever_the_head() -> None:
    faint = np.full((2, 2), 0.1, np.float32)
    strong = np.array([[0.1, 0.9], [0.5, 0.5]], np.float32)
    allowed = np.ones((2, 2), bool)
    assert encode(faint, allowed)[0, 0] == encode(strong, allowed)[0, 0]


def test_the_ends_of_the_scale_and_what_lies_beyond() -> None:
    weights = np.array([[0, 1, 1 + 1e-6, -1e-6]], np.float32)
    assert encode(weights, np.ones((1, 4), bool)).tolist() == [[1, 255, 255, 1]]


def test_masked_is_not_zero() -> None:
    codes = encode(np.zeros((2, 2, 2), np.float32), np.array([[True, False], [True, True]]))
    assert codes.tolist() == [[[1, MASKED], [1, 1]]] * 2


@pytest.mark.parametrize("scale", Scale)
def test_below_the_threshold_is_one_code_that_nothing_else_has(scale: Scale) -> None:
    weights = np.array([[0.0009, 0.001, 0.5, 0.4981]], np.float32)
    codes = encode(weights, np.array([[True, True, False, True]]), scale, 0.001)
    assert codes[0, 0] == BLANK
    assert codes[0, 1] > BLANK
    assert codes[0, 2] == MASKED
    assert codes[0, 3] > codes[0, 1]


@themes
@maps
def test_what_is_left_blank_has_the_colour_of_the_paper(color_map: ColorMap, theme: Theme) -> None:
    table = lookup_table(color_map, theme, blank=True)
    assert tuple(table[BLANK]) == theme.color("paper").getRgb()
    assert (table[2:] == lookup_table(color_map, theme)[2:]).all()


@themes
@maps
def test_masked_cells_let_the_hatch_through_and_others_do_not(
    color_map: ColorMap, theme: Theme
) -> None:
    table = lookup_table(color_map, theme)
    assert table.shape == (256, 4)
    assert table.dtype == np.uint8
    assert table[MASKED, 3] == 0
    assert (table[1:, 3] == 255).all()


@themes
@maps
def test_lightness_runs_one_way(color_map: ColorMap, theme: Theme) -> None:
    steps = np.diff(lightness(lookup_table(color_map, theme)[1:, :3])[::8])
    assert (steps > 0).all() or (steps < 0).all()


@themes
@pytest.mark.parametrize("color_map", [ColorMap.PAPER, ColorMap.GREY])
def test_the_maps_of_our_own_are_perceptually_even(color_map: ColorMap, theme: Theme) -> None:
    steps = np.abs(np.diff(lightness(lookup_table(color_map, theme)[1:, :3])[::16]))
    assert steps.max() / steps.min() < 2


@themes
def test_weight_zero_has_the_colour_of_the_paper(theme: Theme) -> None:
    paper = theme.color("paper")
    zero = lookup_table(ColorMap.PAPER, theme)[1, :3].tolist()
    assert np.abs(np.array(zero) - [paper.red(), paper.green(), paper.blue()]).max() <= 1


@themes
def test_the_default_map_is_blue(theme: Theme) -> None:
    red, green, blue = lookup_table(ColorMap.PAPER, theme)[128, :3].astype(int)
    assert blue > green > red
    assert blue - red > 100
