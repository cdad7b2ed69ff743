import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from core.trace.heaviest import heaviest
from transformer_viz.links import link_choice
from transformer_viz.links.link_choice import choose_links, merged, touching

ROWS = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 5), st.integers(1, 7)),
    elements=st.integers(0, 20).map(float),
)
SHARES = st.floats(0.01, 1.0)


def all_allowed(weights: np.ndarray) -> np.ndarray:
    return np.ones(weights.shape, np.bool_)


def test_masked_keys_are_never_drawn() -> None:
    weights = np.full((3, 3), 1 / 3, np.float32)
    links = choose_links(weights, np.tril(all_allowed(weights)), share=1.0)
    assert (links.key <= links.query).all()
    assert len(links) == links.possible == 6


def test_links_come_lightest_first_with_their_ends() -> None:
    weights = np.array([[0.1, 0.9], [0.6, 0.4]], np.float32)
    links = choose_links(weights, all_allowed(weights), share=1.0, series=3)
    assert links.weight.tolist() == pytest.approx([0.1, 0.4, 0.6, 0.9])
    assert links.query.tolist() == [0, 1, 1, 0]
    assert links.key.tolist() == [0, 1, 0, 1]
    assert set(links.series.tolist()) == {3}


@given(ROWS, SHARES, st.integers(0, 6), st.integers(0, 20))
def test_near_and_light_links_are_left_out(
    rows: np.ndarray, share: float, distance: int, threshold: int
) -> None:
    chosen = heaviest(rows, share)
    far = np.abs(np.subtract.outer(np.arange(len(rows)), np.arange(rows.shape[1]))) >= distance
    expected = chosen & far & (rows >= threshold)
    links = choose_links(
        rows, all_allowed(rows), share=share, distance=distance, threshold=threshold
    )
    drawn = np.zeros_like(expected)
    drawn[links.query, links.key] = True
    assert (drawn == expected).all()
    assert (np.diff(links.weight) >= 0).all()


def test_a_long_text_is_chosen_from_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(9), 9).astype(np.float32)
    whole = choose_links(weights, all_allowed(weights), share=0.6)
    monkeypatch.setattr(link_choice, "_ROWS", 2)
    parts = choose_links(weights, all_allowed(weights), share=0.6)
    assert whole.query.tolist() == parts.query.tolist()
    assert whole.key.tolist() == parts.key.tolist()


def test_several_maps_are_merged_into_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.array([[0.3, 0.7]], np.float32)
    parts = [
        choose_links(weights, all_allowed(weights), share=1.0),
        choose_links(weights[:, ::-1] / 2, all_allowed(weights), share=1.0, series=1),
    ]
    links = merged(parts)
    assert links.weight.tolist() == pytest.approx([0.15, 0.3, 0.35, 0.7])
    assert links.series.tolist() == [1, 0, 1, 0]
    assert links.possible == 4
    monkeypatch.setattr(link_choice, "MOST_LINKS", 2)
    few = merged(parts)
    assert few.weight.tolist() == pytest.approx([0.35, 0.7]), "the heaviest stay"
    assert few.possible == 4


def test_a_query_a_key_and_a_cell_have_their_links() -> None:
    weights = np.array([[0.2, 0.8], [0.6, 0.4]], np.float32)
    links = choose_links(weights, all_allowed(weights), share=1.0)
    assert links.weight[touching(links, 1, None)].tolist() == pytest.approx([0.4, 0.6])
    assert links.weight[touching(links, None, 1)].tolist() == pytest.approx([0.4, 0.8])
    assert links.weight[touching(links, 0, 0)].tolist() == pytest.approx([0.2])
    assert touching(links, None, None).all()
