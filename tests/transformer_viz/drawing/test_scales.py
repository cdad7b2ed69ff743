import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_viz.drawing.scales import (
    WEIGHT,
    Measure,
    explain_scale,
    legend,
    scale_name,
    to_levels,
)
from transformer_viz.state.options import Quantity, Scale

scales = pytest.mark.parametrize("scale", Scale)
weights = st.lists(st.floats(0, 1, width=32), min_size=2, max_size=8)


@scales
@given(weights)
def test_a_larger_weight_never_has_a_lower_level(scale: Scale, row: list[float]) -> None:
    levels = to_levels(np.array([sorted(row)], np.float32), scale)
    assert levels.dtype == np.float32
    assert levels.min() >= 0
    assert levels.max() <= 1 + 1e-6
    assert (np.diff(levels) >= 0).all()


def test_the_scale_of_a_row_ends_at_its_largest_weight() -> None:
    levels = to_levels(np.array([[0.1, 0.2], [0.5, 0.25], [0, 0]]), Scale.ROW)
    np.testing.assert_allclose(levels, [[0.5, 1], [1, 0.5], [0, 0]])


def test_the_scale_of_a_head_ends_at_its_largest_weight() -> None:
    maps = np.array([[[0.1, 0.2], [0.4, 0.3]], [[0.8, 0], [0.2, 0]]])
    levels = to_levels(maps, Scale.HEAD)
    np.testing.assert_allclose(levels[0], [[0.25, 0.5], [1, 0.75]], rtol=1e-6)
    np.testing.assert_allclose(levels[1], [[1, 0], [0.25, 0]])


@pytest.mark.parametrize("scale", [Scale.ABSOLUTE, Scale.LOG, Scale.GAMMA])
def test_ticks_stand_where_their_weights_are_drawn(scale: Scale) -> None:
    for level, text in legend(scale, 1.0).ticks:
        weight = float(text.removeprefix("≤ "))
        assert to_levels(np.array([[weight]]), scale)[0, 0] == pytest.approx(level, abs=1e-6)


def test_the_ticks_of_a_head_are_its_own_weights() -> None:
    assert [(level, float(text)) for level, text in legend(Scale.HEAD, 0.42).ticks] == [
        (1, 0.42),
        (0.5, 0.21),
        (0, 0),
    ]
    assert legend(Scale.HEAD, None).ticks[0] == (1, "map max")


@scales
def test_every_scale_is_named_and_explained(scale: Scale) -> None:
    captions = {legend(other, 1.0).caption for other in Scale}
    assert len(captions) == len(Scale)
    for quantity in Quantity:
        names = {scale_name(other, quantity) for other in Scale}
        assert len(names) == len(Scale)
        assert quantity.noun in explain_scale(scale, quantity).lower()


@pytest.mark.parametrize(
    ("scale", "blank"),
    [(Scale.ABSOLUTE, 0.01), (Scale.LOG, 0.5), (Scale.GAMMA, 0.1), (Scale.HEAD, 0.02)],
)
def test_the_bar_is_blank_up_to_the_threshold(scale: Scale, blank: float) -> None:
    assert legend(scale, 0.5, 0.01).blank == pytest.approx(blank)
    assert legend(scale, 0.5).blank == pytest.approx(0)


def test_rows_of_different_scales_share_no_blank_part_of_the_bar() -> None:
    assert legend(Scale.ROW, 0.5, 0.01).blank == 0
    assert legend(Scale.HEAD, None, 0.01).blank == 0


NORM = Measure("norm", "norm", 2.5, "head")


@pytest.mark.parametrize("scale", [Scale.ABSOLUTE, Scale.LOG, Scale.GAMMA])
def test_norms_have_the_levels_that_their_ticks_say(scale: Scale) -> None:
    for level, text in legend(scale, 2.5, measure=NORM).ticks:
        value = float(text.removeprefix("≤ "))
        assert to_levels(np.array([[value]]), scale, 2.5)[0, 0] == pytest.approx(level, abs=1e-3)
    assert to_levels(np.array([[2.5]]), scale, 2.5)[0, 0] == pytest.approx(1)


@scales
def test_the_name_of_the_measure_stands_beside_the_bar(scale: Scale) -> None:
    for measure in (WEIGHT, NORM):
        assert legend(scale, 1.0, measure=measure).caption[0].startswith(measure.name)


def test_the_bar_of_norms_is_blank_up_to_the_threshold_too() -> None:
    assert legend(Scale.ABSOLUTE, 1.0, 0.5, NORM).blank == pytest.approx(0.2)
