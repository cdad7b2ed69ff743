from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model.positions import sinusoid_table, wavelength_exponents
from core.trace.positions import PositionTable, rotation, shift, similarity

LAYOUTS = ("interleaved", "halves")
DENOMINATORS = ("d_model", "d_model-2")


def sinusoids(
    n: int = 64, d_model: int = 16, layout: str = "interleaved", denominator: str = "d_model"
) -> PositionTable:
    """As a model has them."""
    values = sinusoid_table(0, n, d_model, layout, denominator).numpy()
    return PositionTable(values=values, layout=layout, denominator=denominator)


def learned(n: int = 20, d_model: int = 8, seed: int = 0) -> PositionTable:
    values = np.random.default_rng(seed).normal(size=(n, d_model)).astype(np.float32)
    return PositionTable(values=values, kind="learned")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("denominator", DENOMINATORS)
@pytest.mark.parametrize("d_model", [4, 16, 512])
def test_pairs_and_frequencies_are_those_of_the_table(
    layout: str, denominator: str, d_model: int
) -> None:
    table = sinusoids(300, d_model, layout, denominator)
    assert table.frequencies is not None
    exponents = wavelength_exponents(d_model, denominator).numpy()
    np.testing.assert_allclose(table.frequencies, 10000.0**-exponents, rtol=1e-14)
    sine, cosine = table.pairs.T
    angle = np.arange(300)[:, None] * table.frequencies  # float64
    np.testing.assert_allclose(table.values[:, sine], np.sin(angle), atol=1e-6)
    np.testing.assert_allclose(table.values[:, cosine], np.cos(angle), atol=1e-6)
    assert sorted(table.pairs.ravel()) == list(range(d_model))


def test_wavelengths_of_the_paper() -> None:
    """Geometric from 2π to 10000 · 2π (section 3.5)."""
    wavelengths = sinusoids(2, 512).wavelengths
    assert wavelengths is not None
    assert wavelengths[0] == pytest.approx(2 * math.pi)
    assert wavelengths[-1] == pytest.approx(2 * math.pi * 10000 ** (510 / 512))
    np.testing.assert_allclose(wavelengths[1:] / wavelengths[:-1], 10000 ** (2 / 512))
    exact = sinusoids(2, 512, "halves", "d_model-2").wavelengths
    assert exact is not None
    assert exact[-1] == pytest.approx(2 * math.pi * 10000)


def test_a_column_belongs_to_a_pair() -> None:
    assert sinusoids(layout="interleaved").pair_of(5) == (2, "cos")
    assert sinusoids(layout="halves").pair_of(5) == (5, "sin")
    assert sinusoids(layout="halves").pair_of(13) == (5, "cos")


@given(
    pairs=st.integers(2, 12),
    k=st.integers(0, 50),
    layout=st.sampled_from(LAYOUTS),
    denominator=st.sampled_from(DENOMINATORS),
)
def test_a_shift_is_one_rotation_of_every_position(
    pairs: int, k: int, layout: str, denominator: str
) -> None:
    """Worked example 6 of the paper's notes: PE(pos + k) = R_k PE(pos)."""
    table = sinusoids(60, 2 * pairs, layout, denominator)
    one = shift(table.points, k, table.frequencies)
    matrix = rotation(one.angles, table.pairs)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(2 * pairs), atol=1e-12)
    assert np.linalg.det(matrix) == pytest.approx(1)
    rotated = table.values[: 60 - k] @ matrix.T
    np.testing.assert_allclose(rotated, table.values[k:], atol=1e-6)
    assert one.error == pytest.approx(np.abs(rotated - table.values[k:]).max(), abs=1e-9)


def test_two_shifts_are_one_longer_shift() -> None:
    table = sinusoids()
    after_3, after_4, after_7 = (
        rotation(shift(table.points, k, table.frequencies).angles, table.pairs) for k in (3, 4, 7)
    )
    np.testing.assert_allclose(after_3 @ after_4, after_7, atol=1e-12)


def test_a_learned_table_has_no_fixed_rotation() -> None:
    table = learned()
    assert table.frequencies is None
    assert table.wavelengths is None
    assert shift(table.points, 3, None).error > 0.5
    assert shift(table.points, 0, None).error == pytest.approx(0)


def test_the_fitted_rotation_is_the_best_one() -> None:
    """Turning any pair further, either way, fits worse; and it finds a rotation that is there."""
    table, k = learned(), 3
    best = shift(table.points, k, None)
    fitted = table.values[:-k] @ rotation(best.angles, table.pairs).T
    assert best.error == pytest.approx(np.abs(fitted - table.values[k:]).max())
    for pair in range(4):
        for nudge in (-0.01, 0.01):
            angles = best.angles.copy()
            angles[pair] += nudge
            rotated = table.values[:-k] @ rotation(angles, table.pairs).T
            worse = np.square(rotated - table.values[k:]).sum()
            assert worse > np.square(fitted - table.values[k:]).sum()
    true = sinusoids(200)
    found = shift(true.points, k, None)
    assert true.frequencies is not None
    np.testing.assert_allclose(found.angles, k * true.frequencies, atol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_similarity_of_sinusoids_depends_on_the_distance_alone(layout: str) -> None:
    table = sinusoids(40, 16, layout)
    assert table.frequencies is not None
    distance = np.arange(40)[:, None] - np.arange(40)
    expected = np.cos(distance[..., None] * table.frequencies).sum(axis=-1)
    np.testing.assert_allclose(similarity(table.values), expected, atol=1e-5)
    np.testing.assert_allclose(similarity(table.values, cosine=True), expected / 8, atol=1e-6)


def test_cosine_of_rows_of_any_length() -> None:
    values = np.array([[3, 0], [0, 5], [-2, 0], [1, 1], [0, 0]], np.float32)
    half = math.sqrt(0.5)
    expected = [
        [1, 0, -1, half, 0],
        [0, 1, 0, half, 0],
        [-1, 0, 1, -half, 0],
        [half, half, -half, 1, 0],
        [0, 0, 0, 0, 0],
    ]
    np.testing.assert_allclose(similarity(values, cosine=True), expected, atol=1e-6)
    assert similarity(values)[0].tolist() == [9, 0, -6, 3, 0]
