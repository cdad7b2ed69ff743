from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.statistics.leaks import leaks
from core.switches import Switches
from core.text.tokens import Token
from core.trace.trace import AttentionKind, Head, StoredAttention, Trace

D = AttentionKind.DECODER_SELF


def trace(maps: np.ndarray) -> Trace:
    tokens = tuple(Token(f"▁{number}", number) for number in range(maps.shape[-1]))
    return Trace(
        source_tokens=tokens,
        target_tokens=tokens,
        attention={D: StoredAttention(maps.astype(np.float32))},
        switches=Switches(mask=False),
    )


def test_the_leak_is_the_weight_above_the_diagonal() -> None:
    head = np.array([[0.2, 0.5, 0.3], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    found = leaks(trace(head[None, None]))
    assert list(found) == [Head(D, 0, 0)]
    assert found[Head(D, 0, 0)].later == pytest.approx((0.8 + 0.1) / 2)
    assert found[Head(D, 0, 0)].answer == pytest.approx((0.5 + 0.1) / 2)


def test_many_rows_are_taken_in_parts_and_a_mask_leaks_nothing() -> None:
    count = 150  # more than two blocks
    even = np.full((1, 2, count, count), 1 / count)
    even[0, 1] = np.tril(np.ones((count, count))) / np.arange(1, count + 1)[:, None]
    open_head, masked = leaks(trace(even)).values()
    assert open_head.later == pytest.approx(np.triu(even[0, 0], 1).sum() / (count - 1), rel=1e-5)
    assert open_head.answer == pytest.approx(1 / count, rel=1e-5)
    assert (masked.later, masked.answer) == (0, 0)


def test_a_single_token_and_an_encoder_alone_have_no_leak() -> None:
    assert leaks(trace(np.ones((1, 1, 1, 1)))) == {}
    one = trace(np.ones((1, 1, 1, 1)))
    assert leaks(replace(one, attention={AttentionKind.CROSS: one.attention[D]})) == {}
