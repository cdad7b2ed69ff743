"""The planted heads do what they are said to do, and the model copies."""

from __future__ import annotations

import numpy as np
import pytest

from core.decoding.translate import translate
from core.trace.record import trace_text
from core.trace.trace import Floats, Head, Trace
from tests.core.analysis.planted import (
    WORDS,
    Broad,
    Finds,
    Habit,
    Offset,
    On,
    Rarest,
    heads,
    planted,
    planted_tokenizer,
)

TEXT = "the dog crossed the street because it was not wide, zebra."
CHECKPOINT = planted()
TRACE = trace_text(CHECKPOINT.model, CHECKPOINT.tokenizer, TEXT)


def test_every_word_is_one_piece() -> None:
    tokenizer = planted_tokenizer()
    assert [token.label for token in tokenizer.tokens(TEXT)] == [
        *("the", "dog", "crossed", "the", "street", "because", "it", "was", "not", "wide"),
        *(",", "zebra", "."),
    ]
    assert all(len(tokenizer.tokens(word)) == 1 for word in WORDS[:-3])


def test_it_copies() -> None:
    texts = [TEXT, "a cat saw it.", "is the old house in the garden?"]
    copied = translate(CHECKPOINT.model, CHECKPOINT.tokenizer, texts)
    assert [translation.text for translation in copied] == texts
    assert min(translation.log_probability for translation in copied) > -0.1


@pytest.mark.parametrize(("head", "habit"), [*heads()], ids=str)
def test_every_head_keeps_to_its_habit(head: Head, habit: Habit) -> None:
    expected = maps(TRACE, head, habit)
    np.testing.assert_allclose(TRACE.weights(*head), expected, atol=1e-4)


def maps(trace: Trace, head: Head, habit: Habit) -> Floats:
    allowed = trace.allowed(head.kind)
    queries = [token.label for token in trace.query_tokens(head.kind)]
    keys = [token.label for token in trace.key_tokens(head.kind)]
    wanted = np.array(
        [
            [looks(habit, i, q, j, k, keys) for j, k in enumerate(keys)]
            for i, q in enumerate(queries)
        ]
    )
    wanted &= allowed
    wanted[~wanted.any(axis=1)] = allowed[~wanted.any(axis=1)]
    return np.asarray(wanted / wanted.sum(axis=1, keepdims=True), np.float32)


def looks(habit: Habit, i: int, query: str, j: int, key: str, keys: list[str]) -> bool:
    match habit:
        case Offset(k):
            return j == i + k
        case On(piece):
            return key == piece
        case Finds(pairs):
            return (query, key) in pairs
        case Rarest(words):
            return key == max(set(keys) & set(words), key=words.index)
        case Broad():
            return True
