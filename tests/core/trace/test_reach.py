"""Distances and far links against brute force, cell by cell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.tokens import Token, TokenKind
from core.trace.reach import (
    DistanceProfile,
    FarLink,
    Reach,
    binned,
    distance_bins,
    reach,
)
from core.trace.trace import AttentionKind, Head, StoredAttention, Trace

E, D = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF


def trace_of(n: int, *, seed: int = 0, specials: tuple[int, ...] = ()) -> Trace:
    """Two layers of two random heads over n tokens on each side."""
    rng = np.random.default_rng(seed)
    maps = rng.gamma(0.3, size=(2, 2, n, n)).astype(np.float32) + np.float32(1e-6)
    tokens = tuple(
        Token(f"▁{i}", 10 + i, TokenKind.SPECIAL if i in specials else TokenKind.PIECE)
        for i in range(n)
    )
    return Trace(
        source_tokens=tokens,
        target_tokens=tokens,
        attention={
            E: StoredAttention(maps / maps.sum(axis=-1, keepdims=True)),
            D: StoredAttention(np.tril(maps) / np.tril(maps).sum(axis=-1, keepdims=True)),
        },
    )


def result(trace: Trace, kind: AttentionKind, **options: object) -> Reach:
    *_, last = reach(trace, trace.every_head(kind), **options)  # type: ignore[arg-type]
    return last


@given(
    n=st.integers(2, 12),
    seed=st.integers(0, 50),
    kind=st.sampled_from([E, D]),
    special=st.booleans(),
    counted=st.booleans(),
)
def test_profiles_are_the_sums_over_the_cells(
    n: int, seed: int, kind: AttentionKind, special: bool, counted: bool
) -> None:
    trace = trace_of(n, seed=seed, specials=(n - 1,) if special else ())
    left_out = {n - 1} if special and not counted else set()
    found = result(trace, kind, specials=counted)
    kept = [i for i in range(n) if i not in left_out]
    for head, profile in found.profiles.items():
        weights = trace.weights(*head).astype(np.float64)
        expected, lost = np.zeros(n), 0.0
        for i in kept:
            for j in range(n):
                if j in left_out:
                    lost += weights[i, j] / len(kept)
                else:
                    expected[abs(i - j)] += weights[i, j] / len(kept)
        np.testing.assert_allclose(profile.shares, expected, atol=1e-6)
        assert profile.special == pytest.approx(lost, abs=1e-6)
    allowed = trace.allowed(kind)
    even = np.zeros(n)
    for i in kept:
        for j in kept:
            if allowed[i, j]:
                even[abs(i - j)] += 1 / allowed[i].sum() / len(kept)
    np.testing.assert_allclose(found.even.shares, even, atol=1e-12)


@given(
    n=st.integers(2, 12),
    seed=st.integers(0, 50),
    kind=st.sampled_from([E, D]),
    distance=st.integers(0, 12),
    count=st.integers(1, 60),
    counted=st.booleans(),
)
def test_links_are_the_heaviest_cells_far_enough_apart(
    n: int, seed: int, kind: AttentionKind, distance: int, count: int, counted: bool
) -> None:
    trace = trace_of(n, seed=seed, specials=(0,))
    found = result(trace, kind, count=count, specials=counted).heaviest.over(distance)
    cells = [
        FarLink(head, i, j, float(trace.weights(*head)[i, j]))
        for head in trace.every_head(kind)
        for i in range(n)
        for j in range(n)
        if abs(i - j) >= distance and trace.allowed(kind)[i, j] and (counted or (i > 0 and j > 0))
    ]
    expected = sorted(cells, key=lambda link: -link.weight)[:count]
    assert list(found) == expected


def test_a_text_longer_than_a_block_of_rows_is_looked_at_whole() -> None:
    trace = trace_of(300)
    weights = trace.weights(E, 1, 0).copy()
    weights[299] = 0
    weights[299, 2] = 1  # the only certain link, in the last block
    maps = np.stack([np.stack([trace.weights(E, 0, 0), weights])])
    *_, found = reach(
        Trace(source_tokens=trace.source_tokens, attention={E: StoredAttention(maps)}),
        [Head(E, 0, 0), Head(E, 0, 1)],
        count=1,
    )
    assert found.heaviest.over(200) == (FarLink(Head(E, 0, 1), 299, 2, 1.0),)


def test_long_texts_keep_the_heaviest_of_every_distance() -> None:
    trace = trace_of(300)
    heaviest = result(trace, E, count=7).heaviest
    maps = np.stack([trace.weights(*head) for head in trace.every_head(E)])
    apart = np.abs(np.subtract.outer(np.arange(300), np.arange(300)))
    for distance in (0, 1, 40, 255, 256, 299):
        expected = np.sort(maps[:, apart >= distance].ravel())[::-1][:7]
        assert [link.weight for link in heaviest.over(distance)] == expected.tolist()


def test_of_equal_links_the_first_stays() -> None:
    even = np.full((1, 2, 4, 4), 0.25, np.float32)
    tokens = tuple(Token(f"▁{i}", i) for i in range(4))
    trace = Trace(source_tokens=tokens, attention={E: StoredAttention(even)})
    links = result(trace, E, count=3).heaviest.over(2)
    assert [(link.head.head, link.query, link.key) for link in links] == [
        (0, 0, 2),
        (0, 0, 3),
        (0, 1, 3),
    ]


def test_the_result_grows_head_by_head() -> None:
    trace = trace_of(5)
    counts = [len(part.profiles) for part in reach(trace, trace.every_head(E))]
    assert counts == [1, 2, 3, 4]


def test_the_mean_distance_is_over_the_weight_that_is_left() -> None:
    profile = DistanceProfile(np.array([0.25, 0.0, 0.25]), special=0.5)
    assert profile.mean == pytest.approx(1.0)
    assert profile.beyond(1) == pytest.approx(0.25)
    assert DistanceProfile(np.zeros(3), special=1.0).mean == 0


@given(st.integers(1, 3_000))
def test_bins_cover_every_distance_once_and_double(n: int) -> None:
    bins = distance_bins(n)
    covered = [distance for one in bins for distance in one]
    assert covered[:n] == list(range(n))
    assert len(bins) <= 2 + math.ceil(math.log2(max(2, n)))
    shares = np.arange(n, dtype=np.float64)
    assert binned(shares, bins).sum() == shares.sum()


def test_links_to_a_sink_are_left_out_on_request_and_known(sinking: Trace) -> None:
    heads = sinking.every_head(E)
    *_, everything = reach(sinking, heads)
    *_, without = reach(sinking, heads, sinks=False)
    resting, looking = heads
    assert [sink.key for sink in everything.sinks[resting]] == [0]
    assert everything.sinks[looking] == ()
    links = everything.heaviest.over(1)
    to_sink = [link for link in links if everything.is_to_sink(link)]
    assert to_sink
    assert {(link.head, link.key) for link in to_sink} == {(resting, 0)}
    kept = without.heaviest.over(1)
    assert not any(without.is_to_sink(link) for link in kept)
    assert any(link.head == looking and link.key == 0 for link in kept), "no sink of that head"
    for head in heads:  # what is left out of the links stays in the distances
        np.testing.assert_array_equal(
            everything.profiles[head].shares, without.profiles[head].shares
        )


@pytest.fixture
def sinking() -> Trace:
    """Two heads over six words: one rests on the first token, the other looks one back."""
    n = 6
    tokens = tuple(Token(f"▁w{index}", index) for index in range(n))
    rests = np.full((n, n), 0.3 / (n - 1))
    rests[:, 0] = 0.7
    back = np.eye(n, k=-1) * 0.9 + 0.1 / n
    back[0] = 1 / n
    maps = np.stack([rests, back]) / np.stack([rests, back]).sum(axis=-1, keepdims=True)
    return Trace(
        source_tokens=tokens,
        target_tokens=(),
        attention={E: StoredAttention(maps[None].astype(np.float32))},
    )
