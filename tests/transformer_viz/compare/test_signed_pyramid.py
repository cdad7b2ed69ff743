import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from transformer_viz.compare.signed_pyramid import SignedPyramid
from transformer_viz.drawing.colormap import MASKED
from transformer_viz.drawing.diverging import ZERO


def test_the_larger_magnitude_survives_whatever_its_sign() -> None:
    codes = np.full((4, 4), ZERO, np.uint8)
    codes[0, 1], codes[1, 0] = ZERO + 20, ZERO - 90
    codes[2:, 2:] = MASKED
    codes[3, 1] = MASKED
    levels = SignedPyramid(codes).levels
    assert (levels[0] == codes).all()
    assert levels[1].tolist() == [[ZERO - 90, ZERO], [ZERO, MASKED]]
    assert levels[2].tolist() == [[ZERO - 90]]


@given(arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9))))
def test_the_top_is_the_strongest_of_all(codes: np.ndarray) -> None:
    (top,) = SignedPyramid(codes).levels[-1].ravel().tolist()
    magnitudes = np.abs(codes[codes != MASKED].astype(int) - ZERO)
    if len(magnitudes):
        assert abs(top - ZERO) == magnitudes.max()
        assert top in codes
    else:
        assert top == MASKED
