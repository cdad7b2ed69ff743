"""The counted layers against impulses sent through real stacks of torch's convolutions."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import conv1d, pad

from core.trace.path_lengths import path_lengths

DEEPEST = 64


def layers_to_connect(
    query: int, key: int, length: int, width: int, *, causal: bool, dilated: bool
) -> int | None:
    """The first depth at which an impulse at the key is felt at the query."""
    signal = torch.zeros(1, 1, length, dtype=torch.float64)
    signal[0, 0, key] = 1.0
    dilation = 1
    for depth in range(1, DEEPEST + 1):
        signal = convolved(signal, width, dilation, causal=causal)
        if signal[0, 0, query] > 0:
            return depth
        if dilated:
            dilation *= width
            if dilation > width * length:
                return None
    return None


def convolved(signal: Tensor, width: int, dilation: int, *, causal: bool) -> Tensor:
    """One layer of positive weights, so that nothing cancels out."""
    kernel = torch.full((1, 1, width), 1 / width, dtype=torch.float64)
    if causal:
        return conv1d(pad(signal, (dilation * (width - 1), 0)), kernel, dilation=dilation)
    return conv1d(signal, kernel, padding="same", dilation=dilation)


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@given(
    length=st.integers(1, 40),
    ends=st.tuples(st.integers(0, 39), st.integers(0, 39)),
    width=st.integers(2, 6),
    causal=st.booleans(),
)
def test_impulses_through_real_layers_agree(
    length: int, ends: tuple[int, int], width: int, causal: bool
) -> None:
    query, key = (end % length for end in ends)
    if causal:
        query, key = max(query, key), min(query, key)
    found = path_lengths(query, key, length, width, causal=causal)
    for dilated, layers in ((False, found.convolution), (True, found.dilated)):
        assert layers == layers_to_connect(
            query, key, length, width, causal=causal, dilated=dilated
        )


@pytest.mark.parametrize(
    ("causal", "convolution", "dilated"), [(True, 11, 3), (False, 21, 4)], ids=["causal", "centred"]
)
def test_21_tokens_apart_with_kernels_of_width_3(
    causal: bool, convolution: int, dilated: int
) -> None:
    found = path_lengths(50, 29, 64, 3, causal=causal)
    assert (found.recurrent, found.attention) == (21, 1)
    assert (found.convolution, found.dilated) == (convolution, dilated)


def test_centred_dilated_layers_never_connect_some_pairs() -> None:
    """Of 64 positions the last one sees 41, whatever the depth."""
    seen = [
        key for key in range(64) if path_lengths(63, key, 64, 3, causal=False).dilated is not None
    ]
    assert len(seen) == 41


@pytest.mark.parametrize(("causal", "width", "layers"), [(False, 3, 63), (True, 5, 16)])
def test_the_longest_path_of_64_tokens(causal: bool, width: int, layers: int) -> None:
    assert path_lengths(63, 0, 64, width, causal=causal).convolution == layers


@given(st.integers(0, 3_000), st.integers(2, 9))
def test_causal_layers_have_closed_forms(distance: int, width: int) -> None:
    found = path_lengths(distance, 0, distance + 1, width, causal=True)
    assert found.convolution is not None
    assert found.dilated is not None
    assert found.convolution * (width - 1) >= distance > (found.convolution - 1) * (width - 1) or (
        distance == 0 and found.convolution == 1
    )
    assert width**found.dilated >= distance + 1
    assert found.dilated == 1 or width ** (found.dilated - 1) < distance + 1
