from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.composition import MOST_TOKENS, DecoderMix, compose, rollout
from core.errors import UserError
from core.text.tokens import Token
from core.trace.trace import AttentionKind, StoredAttention, Trace

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS
SOURCE = tuple(Token(name) for name in "abc")
TARGET = tuple(Token(name) for name in "xy")


def random_rows(rng: np.random.Generator, *shape: int, causal: bool = False) -> np.ndarray:
    values = rng.random(shape)
    values = np.tril(values) if causal else values
    return values / values.sum(axis=-1, keepdims=True)


def stored(**maps: np.ndarray) -> Trace:
    return Trace(
        source_tokens=SOURCE,
        target_tokens=TARGET,
        attention={
            AttentionKind(kind): StoredAttention(one.astype(np.float32))
            for kind, one in maps.items()
        },
    )


def random_trace(seed: int = 0, layers: int = 3) -> Trace:
    rng = np.random.default_rng(seed)
    return stored(
        encoder_self=random_rows(rng, layers, 2, 3, 3),
        decoder_self=random_rows(rng, layers, 2, 2, 2, causal=True),
        cross=random_rows(rng, layers, 2, 2, 3),
    )


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_every_row_is_shared_out_between_source_and_prefix(seed: int, layers: int) -> None:
    found = rollout(random_trace(seed, layers))
    for layer in range(layers):
        np.testing.assert_allclose(found.encoder[layer].sum(axis=1), 1, atol=1e-6)
        prefix = found.prefix[layer].sum(axis=1)
        np.testing.assert_allclose(found.source_share(layer) + prefix, 1, atol=1e-6)


def test_the_encoders_rollout_is_the_product_of_half_attention_and_half_identity() -> None:
    trace = random_trace()
    expected = np.eye(3)
    for layer in range(3):
        mean = trace.layer_weights(E, layer).mean(axis=0)
        expected = (0.5 * mean + 0.5 * np.eye(3)) @ expected
        np.testing.assert_allclose(rollout(trace).encoder[layer], expected, atol=1e-6)


def test_half_of_the_prefixs_share_is_left_by_each_layer_of_cross_attention() -> None:
    found = rollout(random_trace(layers=3))
    for layer, share in enumerate((1 / 2, 3 / 4, 7 / 8)):
        np.testing.assert_allclose(found.source_share(layer), share, atol=1e-6)


def test_paths_of_one_token_are_followed_by_hand() -> None:
    """Encoder: b's vector comes from a. Decoder: half of y is x, a tenth of it stays, b is read."""
    encoder = np.array([[1.0, 0, 0], [1, 0, 0], [0, 0, 1]])
    layer = DecoderMix(
        prefix=np.array([[1.0, 0], [0.5, 0.5]]),
        source=np.array([[0, 0, 0.8, 0.2], [0, 0.9, 0, 0.1]]),
    )
    found = compose([encoder], [layer, layer])
    np.testing.assert_allclose(found.source[0], [[0, 0, 0.8], [0.9, 0, 0]])
    np.testing.assert_allclose(found.prefix[0], [[0.2, 0], [0.05, 0.05]])
    np.testing.assert_allclose(found.source[1], [[0, 0, 0.96], [0.945, 0, 0.04]], atol=1e-7)
    np.testing.assert_allclose(found.prefix[1], [[0.04, 0], [0.0125, 0.0025]], atol=1e-7)


def test_a_decoder_alone_is_composed_of_its_prefix() -> None:
    rng = np.random.default_rng(0)
    trace = stored(decoder_self=random_rows(rng, 2, 1, 2, 2, causal=True))
    found = rollout(trace)
    np.testing.assert_allclose(found.prefix[1].sum(axis=1), 1, atol=1e-6)
    assert found.maps(E) == ()
    assert found.source_share().tolist() == [0, 0]


def test_without_the_encoder_cross_attention_is_not_traced_to_the_source() -> None:
    rng = np.random.default_rng(0)
    trace = stored(
        decoder_self=random_rows(rng, 2, 1, 2, 2, causal=True), cross=random_rows(rng, 2, 1, 2, 3)
    )
    assert rollout(trace).maps(C) == ()


def test_cross_attention_of_some_layers_only_is_refused() -> None:
    rng = np.random.default_rng(0)
    trace = stored(
        encoder_self=random_rows(rng, 1, 1, 3, 3),
        decoder_self=random_rows(rng, 2, 1, 2, 2, causal=True),
        cross=random_rows(rng, 1, 1, 2, 3),
    )
    with pytest.raises(UserError, match="2 layers of self-attention and 1 of cross-attention"):
        rollout(trace)


def test_too_long_a_text_is_said_to_be_before_anything_is_computed() -> None:
    words = (Token("a"),) * (MOST_TOKENS + 1)
    maps = np.broadcast_to(np.float32(1), (1, 1, len(words), len(words)))
    trace = Trace(source_tokens=words, attention={E: StoredAttention(maps)})
    with pytest.raises(UserError, match=r"up to 1,000 tokens .* has 1,001"):
        rollout(trace)
