import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from core.trace.heaviest import heaviest

ROWS = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 5), st.integers(1, 7)),
    elements=st.integers(0, 20).map(float),
)
SHARES = st.floats(0.01, 1.0)


@given(ROWS, SHARES)
def test_the_heaviest_reach_the_share_and_none_is_too_many(rows: np.ndarray, share: float) -> None:
    for row, chosen in zip(rows.astype(float), heaviest(rows, share), strict=True):
        enough = share * row.sum() * (1 - 1e-6)
        assert row[chosen].sum() >= enough
        if chosen.any():
            assert row[chosen].sum() - row[chosen].min() < enough, "without the least it is short"
            rest = row[~chosen]
            assert rest.size == 0 or rest.max() <= row[chosen].min()
        assert (row[chosen] > 0).all()


@given(ROWS, SHARES, SHARES)
def test_a_larger_share_keeps_every_key(rows: np.ndarray, a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert (heaviest(rows, high) >= heaviest(rows, low)).all()


@given(ROWS)
def test_the_whole_share_is_every_weight_above_zero(rows: np.ndarray) -> None:
    assert (heaviest(rows, 1.0) == (rows > 0)).all()
    assert not heaviest(rows, 0.0).any()


def test_of_equal_weights_the_lower_index_goes_first() -> None:
    chosen = heaviest(np.array([[0.25, 0.25, 0.25, 0.25]], np.float32), 0.5)
    assert chosen.tolist() == [[True, True, False, False]]


def test_a_share_that_one_weight_has_exactly_needs_no_second() -> None:
    weights = np.array([[0.3, 0.7]], np.float32)  # as float32 their sum is above 1
    assert heaviest(weights, 0.7).tolist() == [[False, True]]


@given(ROWS, SHARES)
def test_a_row_alone_is_the_same_as_among_others(rows: np.ndarray, share: float) -> None:
    assert (heaviest(rows[0], share) == heaviest(rows, share)[0]).all()
