from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.decoding.config import SearchConfig
from core.errors import UserError
from core.text.sentence_pieces import train_tokenizer
from core.text.tokens import Token, TokenKind
from core.trace.record import trace_text
from core.trace.trace import AttentionKind
from core.trace.variant import reordered, restored, shuffled_words
from core.trace.what_if import trace_variant
from tests.core.model.small import small_transformer

TOKENIZER = train_tokenizer(
    ["das Tier war zu müde", "the animal was too tired", "die Straße war zu breit"], 60
)
TEXT = "the animal was too tired"
SHORT = SearchConfig(max_extra=4)
VARIANTS: list[dict[str, Any]] = [
    {},
    {"encoder_layers": 3, "decoder_layers": 1, "encoder_heads": 2, "decoder_heads": 4},
    {"d_k": 5, "d_v": 3, "norm": "pre", "positions": "learned"},
    {"position_layout": "halves", "position_denominator": "d_model-2"},
    {"positions": "rotary"},
]


def model(**changes: Any) -> Any:
    return small_transformer(vocab_size=TOKENIZER.vocab_size, **changes)


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_without_positions_a_shuffled_sentence_is_only_permuted(
    changes: dict[str, Any], seed: int
) -> None:
    """Worked example 4 of the paper's notes, in every encoder head and in the cross-attention."""
    variant = trace_variant(
        model(**changes), TOKENIZER, TEXT, positions=False, order=seed, search=SHORT
    )
    kind, order = AttentionKind.ENCODER_SELF, variant.order
    for layer in range(variant.trace.layers(kind)):
        before = variant.reference.layer_weights(kind, layer)
        after = variant.trace.layer_weights(kind, layer)
        np.testing.assert_allclose(after, before[:, order][..., order], atol=1e-5)
    assert variant.difference < 1e-5
    assert variant.shuffled
    assert variant.trace.translation == variant.reference.translation
    cross = AttentionKind.CROSS
    np.testing.assert_allclose(
        variant.trace.layer_weights(cross, 0),
        variant.reference.layer_weights(cross, 0)[..., order],
        atol=1e-5,
    )


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_with_positions_the_order_counts(changes: dict[str, Any]) -> None:
    variant = trace_variant(model(**changes), TOKENIZER, TEXT, order=1, search=SHORT)
    kind = AttentionKind.ENCODER_SELF
    for layer in range(variant.trace.layers(kind)):
        for head in variant.trace.heads(kind, layer):
            put_back = restored(variant.trace.weights(kind, layer, head), variant.order)
            before = variant.reference.weights(kind, layer, head)
            assert np.abs(put_back - before).max() > 1e-3
    assert variant.difference > 1e-2


def test_positions_off_alone_keeps_the_order() -> None:
    one = model()
    variant = trace_variant(one, TOKENIZER, TEXT, positions=False, search=SHORT)
    assert not variant.shuffled
    assert variant.trace.source_tokens == variant.reference.source_tokens
    plain = trace_text(one, TOKENIZER, TEXT, search=SHORT)
    kind = AttentionKind.ENCODER_SELF
    assert np.array_equal(variant.reference.weights(kind, 0, 0), plain.weights(kind, 0, 0))
    largest = max(
        np.abs(variant.trace.layer_weights(kind, i) - plain.layer_weights(kind, i)).max()
        for i in range(2)
    )
    assert variant.difference == pytest.approx(largest)
    assert largest > 1e-2


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_model_without_positions_shares_the_weights_and_leaves_the_model_alone(
    positions: str,
) -> None:
    one = model(positions=positions)
    ids = torch.tensor([TOKENIZER.encode(TEXT)])
    before = one.encode(ids)
    without = one.without_positions()
    assert torch.equal(one.encode(ids), before)
    assert without.source_embedding is one.source_embedding
    assert without.encoder is one.encoder
    assert not without.training
    zero = one.positions(0, ids.shape[1]) * 0
    assert torch.equal(without.positions(0, ids.shape[1]), zero)
    flipped = without.encode(ids.flip(1)).flip(1)
    torch.testing.assert_close(flipped, without.encode(ids), atol=1e-5, rtol=0)


def test_a_rotary_model_without_positions_shares_the_weights_and_turns_nothing() -> None:
    one = model(positions="rotary")
    ids = torch.tensor([TOKENIZER.encode(TEXT)])
    before = one.encode(ids)
    without = one.without_positions()
    flipped = without.encode(ids.flip(1)).flip(1)
    torch.testing.assert_close(flipped, without.encode(ids), atol=1e-5, rtol=0)
    assert torch.equal(one.encode(ids), before)
    assert {id(one) for one in without.parameters()} == {id(one) for one in one.parameters()}


def test_two_words_change_places_and_without_positions_the_maps_do_too() -> None:
    one, swapped = model(), (0, 4, 2, 3, 1)  # animal and tired
    variant = trace_variant(one, TOKENIZER, TEXT, order=swapped, search=SHORT)
    assert variant.trace.text == "the tired was too animal"
    assert variant.difference > 1e-2
    without = trace_variant(one, TOKENIZER, TEXT, order=swapped, positions=False, search=SHORT)
    assert without.order == variant.order
    assert without.difference < 1e-5
    for order in ((0, 1, 2), (0, 1, 2, 3, 3), (1, 2, 3, 4, 5)):
        with pytest.raises(UserError, match="each of the 5 words of the sentence once"):
            trace_variant(one, TOKENIZER, TEXT, order=order, search=SHORT)


def test_a_model_trained_without_positions_cannot_tell_an_order_from_another() -> None:
    variant = trace_variant(model(positions="none"), TOKENIZER, TEXT, order=1, search=SHORT)
    assert variant.difference < 1e-5
    assert variant.trace.translation == variant.reference.translation


def test_no_length_is_too_long_without_learned_positions() -> None:
    one = model(positions="learned", max_positions=6)
    with pytest.raises(UserError, match="learned 6 positions"):
        one.encode(torch.zeros(1, 7, dtype=torch.long) + 5)
    assert one.without_positions().encode(torch.zeros(1, 7, dtype=torch.long) + 5).shape[1] == 7


def test_the_variant_is_checked_while_it_runs() -> None:
    calls: list[None] = []
    trace_variant(model(), TOKENIZER, TEXT, order=1, search=SHORT, check=lambda: calls.append(None))
    assert len(calls) > 6  # once for each of 6 heads, and in two searches


def test_a_single_word_cannot_be_shuffled() -> None:
    with pytest.raises(UserError, match="only one word"):
        trace_variant(model(), TOKENIZER, "tired", order=1, search=SHORT)


WORDS = st.lists(st.sampled_from(["the", "animal", "was", "müde", "駅", "tired."]), min_size=2)


@given(words=WORDS, seed=st.integers(0, 10_000))
def test_words_are_shuffled_whole(words: list[str], seed: int) -> None:
    text = " ".join(words)
    tokens = TOKENIZER.tokens(text)
    order = shuffled_words(tokens, seed)
    assert sorted(order) == list(range(len(tokens)))
    assert order != tuple(range(len(tokens)))
    assert order == shuffled_words(tokens, seed)
    for before, after in pairwise(order):
        assert after == before + 1 or tokens[after].starts_word
    moved, written = reordered(tokens, text, order)
    assert sorted(written.split()) == sorted(words)
    assert [token.id for token in moved] == [tokens[index].id for index in order]
    for token, index in zip(moved, order, strict=True):
        original = text[tokens[index].start : tokens[index].end]
        assert written[token.start : token.end].strip() == original.strip()


def test_shuffling_differs_from_seed_to_seed() -> None:
    tokens = TOKENIZER.tokens("das Tier war zu müde the animal was too tired")
    assert len({shuffled_words(tokens, seed) for seed in range(20)}) > 10


def test_restoring_undoes_a_permutation() -> None:
    weights = np.arange(16, dtype=np.float32).reshape(4, 4)
    order = (2, 0, 3, 1)
    assert np.array_equal(restored(weights[np.ix_(order, order)], order), weights)


def test_tokens_without_a_word_mark_begin_with_the_first() -> None:
    tokens = [Token("a", 5, start=0, end=1), Token("▁b", 6, start=1, end=3)]
    assert shuffled_words(tokens, 1) == (1, 0)
    moved, written = reordered(tokens, "a b", (1, 0))
    assert written == "b a"
    assert [(token.start, token.end) for token in moved] == [(0, 1), (1, 3)]


def test_a_language_token_stays_first() -> None:
    text = ">>deu<< a b c"
    tokens = [
        Token(">>deu<<", 4, TokenKind.SPECIAL, 0, 7),
        *(
            Token(f"▁{letter}", 5 + n, start=7 + 2 * n, end=9 + 2 * n)
            for n, letter in enumerate("abc")
        ),
    ]
    for seed in range(10):
        order = shuffled_words(tokens, seed)
        assert order[0] == 0
        assert sorted(order) == [0, 1, 2, 3]
        assert order != (0, 1, 2, 3)
        _, written = reordered(tokens, text, order)
        assert written.startswith(">>deu<< ")
    with pytest.raises(UserError, match="only one word"):
        shuffled_words(tokens[:2], 0)
