import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.tokens import Token, TokenKind
from core.trace.head_map import cell_weight, entries, head_map, map_row, mean_weights
from core.trace.trace import AttentionKind, Head, StoredAttention, Trace

PIECES = ("▁the", "▁sch", "lief", ".", "'", "▁", "<s>", "?x", "<0xE2>")
D, C = AttentionKind.DECODER_SELF, AttentionKind.CROSS


def token(piece: str) -> Token:
    if piece == "<s>":
        return Token(piece, kind=TokenKind.SPECIAL)
    if piece.startswith("?"):
        return Token("<unk>", kind=TokenKind.UNKNOWN, surface=piece[1:])
    return Token(piece, kind=TokenKind.BYTE if piece.startswith("<0x") else TokenKind.PIECE)


sentences = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12)


def trace_of(source: list[str], target: list[str], seed: int = 0) -> Trace:
    """Two layers of two heads with random weights."""
    rng = np.random.default_rng(seed)

    def maps(keys: int, causal: bool) -> StoredAttention:
        weights = rng.uniform(0.01, 1, (2, 2, len(target), keys)).astype(np.float32)
        weights = np.tril(weights) if causal else weights
        return StoredAttention(weights / weights.sum(axis=-1, keepdims=True))

    return Trace(
        source_tokens=tuple(map(token, source)),
        target_tokens=tuple(map(token, target)),
        attention={D: maps(len(target), True), C: maps(len(source), False)},
    )


@given(
    sentences,
    sentences,
    st.sampled_from([D, C]),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
)
def test_every_cell_is_made_of_its_tokens_and_rows_add_up_to_one(
    source: list[str], target: list[str], kind, count: int, merge_words: bool, hide_specials: bool
) -> None:
    trace = trace_of(source, target)
    heads = [Head(kind, layer, head) for layer in (0, 1) for head in (0, 1)][:count]
    rows, columns = (
        entries(tokens, merge_words=merge_words, hide_specials=hide_specials)
        for tokens in (trace.query_tokens(kind), trace.key_tokens(kind))
    )
    shown = head_map(trace, heads, rows, columns)
    mean = np.mean([trace.weights(*head) for head in heads], axis=0)
    allowed = trace.allowed(kind)
    assert shown.weights.shape == shown.allowed.shape == (len(rows), len(columns))
    for r, queries in enumerate(rows.spans):
        for c, keys in enumerate(columns.spans):
            cell = mean[np.ix_(queries, keys)].sum(axis=1).mean()
            assert shown.weights[r, c] == pytest.approx(cell, abs=1e-6)
            assert cell_weight(trace, heads, queries, keys) == pytest.approx(cell, abs=1e-6)
            assert shown.allowed[r, c] == allowed[np.ix_(queries, keys)].any()
        row = map_row(trace, heads, queries, columns)
        np.testing.assert_allclose(row[0], shown.weights[r], atol=1e-6)
        assert (row[1] == shown.allowed[r]).all()
    np.testing.assert_allclose(shown.weights.sum(axis=1) + shown.hidden, 1, atol=1e-5)
    if not hide_specials:
        assert not shown.hidden.any()


@given(st.integers(1, 12), st.integers(0, 3))
def test_tokens_that_are_words_stay_as_they_are(count: int, seed: int) -> None:
    trace = trace_of(["▁the"] * count, ["<s>"] * count, seed)
    rows, columns = (
        entries(tokens, merge_words=True) for tokens in (trace.target_tokens, trace.source_tokens)
    )
    assert rows.tokens == trace.target_tokens
    shown = head_map(trace, [Head(C, 0, 1)], rows, columns)
    np.testing.assert_array_equal(shown.weights, trace.weights(C, 0, 1))


@given(sentences, st.booleans(), st.booleans())
def test_each_token_leads_to_its_entry_and_back(
    pieces: list[str], merge_words: bool, hide_specials: bool
) -> None:
    tokens = [token(piece) for piece in pieces]
    axis = entries(tokens, merge_words=merge_words, hide_specials=hide_specials)
    for index, one in enumerate(tokens):
        entry = axis.of_token(index)
        assert (entry is None) == (hide_specials and one.kind is TokenKind.SPECIAL)
        if entry is not None:
            assert index in axis.spans[entry]
            assert axis.of_token(axis.token(entry)) == entry
    shown = [index for span in axis.spans for index in span]
    assert shown == sorted(set(shown))


def test_hidden_weight_is_that_of_the_special_columns() -> None:
    trace = trace_of(["▁the", "<s>", "▁sch", "<s>"], ["▁the", "<s>"])
    rows, columns = (
        entries(tokens, hide_specials=True) for tokens in (trace.target_tokens, trace.source_tokens)
    )
    weights = trace.weights(C, 1, 0)
    shown = head_map(trace, [Head(C, 1, 0)], rows, columns)
    np.testing.assert_allclose(shown.hidden, weights[:1, [1, 3]].sum(axis=1), rtol=1e-6)
    np.testing.assert_array_equal(shown.weights, weights[:1, [0, 2]])


def test_a_text_of_specials_alone_leaves_nothing() -> None:
    trace = trace_of(["<s>", "<s>"], ["<s>"])
    nothing = entries(trace.source_tokens, hide_specials=True)
    row = entries(trace.target_tokens)
    shown = head_map(trace, [Head(C, 0, 0)], row, nothing)
    assert shown.weights.shape == (1, 0)
    assert shown.hidden.tolist() == pytest.approx([1])
    assert nothing.of_token(0) is None


def test_the_mean_leaves_the_heads_untouched() -> None:
    trace = trace_of(["▁the", "."], ["<s>", "▁the"])
    before = trace.weights(C, 0, 0).copy()
    mean_weights(trace, [Head(C, 0, 0), Head(C, 1, 1)])
    np.testing.assert_array_equal(trace.weights(C, 0, 0), before)
