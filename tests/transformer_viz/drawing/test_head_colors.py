from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor

from core.trace.trace import AttentionKind, Head
from transformer_viz.drawing.head_colors import (
    COLORS,
    SEPARATION,
    SEPARATION_OF_EIGHT,
    color_slots,
    head_color,
)
from transformer_viz.drawing.theme import DARK, LIGHT, Theme

# Machado, Oliveira and Fernandes 2009, table 1, severity 1.0; on linear sRGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
# B. Ottosson, "A perceptual color space for image processing", 2020.
TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
E, C = AttentionKind.ENCODER_SELF, AttentionKind.CROSS
HEADS = st.builds(Head, st.just(E), st.integers(0, 5), st.integers(0, 15))


def linear(color: QColor) -> np.ndarray:
    rgb = np.array([color.redF(), color.greenF(), color.blueF()])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(rgb: np.ndarray) -> np.ndarray:
    return TO_LAB @ np.cbrt(TO_LMS @ rgb)


def contrast(a: QColor, b: QColor) -> float:
    low, high = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) + 0.05 for c in (a, b))
    return high / low


def smallest_distance(theme: Theme, count: int, vision: np.ndarray) -> float:
    seen = [oklab((vision @ linear(head_color(theme, slot))).clip(0, 1)) for slot in range(count)]
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2))


def test_oklab_is_the_published_one() -> None:
    assert oklab(np.ones(3)) == pytest.approx([1, 0, 0], abs=1e-4)
    assert oklab(linear(QColor("#ff0000"))) == pytest.approx([0.628, 0.225, 0.126], abs=1e-3)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("vision", VISION)
def test_colours_stay_apart_for_every_eye(theme: Theme, vision: str) -> None:
    assert COLORS >= 16
    assert smallest_distance(theme, COLORS, VISION[vision]) >= SEPARATION
    assert smallest_distance(theme, 8, VISION[vision]) >= SEPARATION_OF_EIGHT


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_colours_stand_out_from_the_paper(theme: Theme) -> None:
    for slot in range(COLORS):
        assert contrast(head_color(theme, slot), theme.color("paper")) >= 3


def test_the_heads_of_a_layer_have_the_colours_of_their_numbers() -> None:
    for layer in range(3):
        heads = [Head(C, layer, number) for number in range(16)]
        assert color_slots(heads) == tuple(range(16))
        assert color_slots(heads[5:6]) == (5,)


def test_of_two_heads_with_one_number_the_later_takes_the_next_free_colour() -> None:
    heads = [Head(E, 0, 0), Head(E, 1, 0), Head(E, 1, 1)]
    assert color_slots(heads) == (0, 2, 1), "head 2 of layer 2 keeps its own"


def test_colours_do_not_depend_on_the_order_of_the_heads() -> None:
    heads = [Head(E, 2, 3), Head(E, 0, 3), Head(E, 1, 3)]
    assert color_slots(heads) == (5, 3, 4)
    assert color_slots(heads[::-1]) == (4, 3, 5)


def test_beyond_the_last_the_colours_repeat() -> None:
    heads = [Head(E, 0, number) for number in range(20)]
    assert color_slots(heads)[16:] == (0, 1, 2, 3)
    assert head_color(LIGHT, 17) == head_color(LIGHT, 1)


@given(st.sets(HEADS, min_size=1, max_size=16))
def test_up_to_sixteen_heads_have_sixteen_colours(heads: set[Head]) -> None:
    slots = color_slots(list(heads))
    assert len(set(slots)) == len(heads)
    assert all(0 <= slot < COLORS for slot in slots)
