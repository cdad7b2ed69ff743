from __future__ import annotations

import numpy as np
import pytest

from core.trace.padding import padding
from core.trace.pieces import read_tokens
from core.trace.trace import AttentionKind, StoredAttention, Trace

ENCODER, DECODER, CROSS = AttentionKind


def maps(queries: int, keys: int, hidden: tuple[int, ...] = ()) -> StoredAttention:
    weights = np.ones((2, 3, queries, keys), dtype=np.float32)
    weights[..., list(hidden)] = 0
    return StoredAttention(weights / weights.sum(-1, keepdims=True))


def encoder(source: str, hidden: tuple[int, ...] = ()) -> Trace:
    tokens = read_tokens(source.split())
    attention = {ENCODER: maps(len(tokens), len(tokens), hidden)}
    return Trace(source_tokens=tokens, attention=attention)


@pytest.mark.parametrize(
    ("source", "hidden", "count"),
    [
        ("▁a ▁b </s>", (), 0),
        ("▁a ▁b </s> <pad> <pad>", (3, 4), 2),
        ("▁a ▁b </s> <pad>", (), 1),
        ("[PAD] [PAD] a [SEP]", (0, 1), 2),
        ("Ġa <|endoftext|> <|endoftext|> <|endoftext|>", (2, 3), 2),
        ("▁a ▁b ▁c </s>", (1,), 0),  # in the middle: only a token that nobody looks at
        ("<pad> <pad>", (), 0),
    ],
)
def test_padding_is_named_or_masked_at_an_end(
    source: str, hidden: tuple[int, ...], count: int
) -> None:
    said = padding(encoder(source, hidden))
    assert (f"padding, {count} of its {len(source.split())} source tokens" in said) == bool(count)
    assert bool(said) == bool(count)


@pytest.mark.parametrize(
    ("target", "count"), [("<pad> ▁x ▁y", 0), ("<pad> ▁x </s> <pad> <pad>", 2), ("<s> ▁x", 0)]
)
def test_the_token_that_a_decoder_begins_with_is_no_padding(target: str, count: int) -> None:
    source, tokens = read_tokens(["▁a", "</s>"]), read_tokens(target.split())
    causal = np.tril(np.ones((len(tokens), len(tokens)), dtype=np.float32))
    attention = {
        DECODER: StoredAttention((causal / causal.sum(-1, keepdims=True))[None, None]),
        CROSS: maps(len(tokens), 2),
    }
    trace = Trace(source_tokens=source, target_tokens=tokens, attention=attention)
    assert (f"{count} of its {len(tokens)} target tokens" in padding(trace)) == bool(count)


def test_one_weight_in_one_head_is_enough_to_be_a_token() -> None:
    trace = encoder("▁a ▁b ▁c", hidden=(2,))
    assert padding(trace)
    trace.attention[ENCODER].weights(1, 2)[0, 2] = 1e-6
    assert not padding(trace)
