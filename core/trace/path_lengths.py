"""How many steps other networks need to carry something from one token to another.

The paper compares layers by the length of these paths: table 1 gives it for whole texts, as an
order of growth; here it is counted for one pair of tokens. Legend: n tokens, k width of the
kernels, d = |i − j|.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PathLengths:
    """The least number of steps after which position j has an influence on position i.

    Attributes:
        recurrent: d, one step per token.
        convolution: layers of contiguous kernels of width k; None if no number of them suffices.
        dilated: layers of kernels of width k with dilations 1, k, k², …; None likewise.
        attention: 1.
    """

    recurrent: int
    convolution: int | None
    dilated: int | None
    attention: int = 1


def path_lengths(query: int, key: int, length: int, width: int, *, causal: bool) -> PathLengths:
    """Count the steps from the key to the query, both positions in a text of ``length`` tokens.

    A causal kernel covers a position and the k − 1 before it, as in a decoder. Otherwise kernels
    are centred; of an even width, as in PyTorch's ``padding="same"``, the longer side is the right
    one. All layers keep the length of the text, so that nothing passes outside it: with centred
    dilated kernels some pairs are never connected.

    Args:
        width: k ≥ 2.
        causal: the key is then not after the query.
    """
    return PathLengths(
        recurrent=max(1, abs(query - key)),
        convolution=_contiguous(key - query, width, causal=causal),
        dilated=_dilated(query, key, length, width, causal=causal),
    )


def _reach_to_left(width: int, dilation: int, *, causal: bool) -> int:
    """How far before its own position a kernel begins."""
    span = dilation * (width - 1)
    return span if causal else span // 2


def _contiguous(offset: int, width: int, *, causal: bool) -> int | None:
    """Layers until the receptive field, which grows evenly, holds the key at this offset."""
    left = _reach_to_left(width, 1, causal=causal)
    step = left if offset < 0 else width - 1 - left
    if offset and not step:
        return None
    return max(1, -(-abs(offset) // max(1, step)))


def _dilated(query: int, key: int, length: int, width: int, *, causal: bool) -> int | None:
    """Layers until the key has come to the query; bit p of a number says that it is at p."""
    inside = (1 << length) - 1
    reached, layers, dilation = 1 << key, 0, 1
    while reached and dilation < width * length:
        left = _reach_to_left(width, dilation, causal=causal)
        spread = 0
        for tap in range(width):
            shift = left - tap * dilation  # output p reads input p − shift
            spread |= reached << shift if shift >= 0 else reached >> -shift
        reached = spread & inside
        layers, dilation = layers + 1, dilation * width
        if reached >> query & 1:
            return layers
    return None
