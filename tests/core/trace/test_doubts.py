from __future__ import annotations

import math

import pytest

from core.text.seen_words import UnsureWord
from core.text.tokens import Token, TokenKind
from core.trace.doubts import DOUBTFUL, Doubts, TargetWord, target_words, threshold_of, verdict

END = Token("</s>", kind=TokenKind.SPECIAL)


def tokens(pieces: str) -> list[Token]:
    return [Token(piece) for piece in pieces.split()] + [END]


def logs(*probabilities: float) -> list[float]:
    return [math.log(one) for one in probabilities]


def test_the_probability_of_a_word_is_the_product_of_its_pieces() -> None:
    found = target_words(tokens("▁Das ▁Was ser . "), logs(0.9, 0.8, 0.6, 0.4, 0.3))
    assert [(word.span, word.is_word) for word in found] == [
        (range(1), True),
        (range(1, 3), True),
        (range(3, 4), False),
        (range(4, 5), False),
    ]
    assert [word.probability for word in found] == pytest.approx([0.9, 0.48, 0.4, 0.3])
    assert [word.is_guess for word in found] == [False, True, False, False]


def test_a_word_as_probable_as_not_is_no_guess() -> None:
    assert not TargetWord(range(1), 0.5, True).is_guess
    assert TargetWord(range(1), 0.4999, True).is_guess


def test_punctuation_and_the_end_are_not_counted_as_words() -> None:
    words = target_words(tokens("▁Das ▁3 ! "), logs(0.4, 0.9, 0.1, 0.1))
    assert Doubts.of(words) == Doubts(words=2, guesses=1)


def test_the_share_is_of_all_doubts_for_each_word() -> None:
    unsure = (UnsureWord("moose", 0, 5, 3), UnsureWord("zyx", 6, 9, 0))
    assert Doubts(words=8, guesses=3, unsure=unsure, untranslated=("lazy",)).share == 6 / 8
    assert Doubts(words=0, guesses=0, untranslated=("a", "b")).share == 2
    assert Doubts(words=0, guesses=0).share == 0


def test_sentences_of_one_text_are_doubted_together() -> None:
    moose = UnsureWord("moose", 0, 5, 3)
    parts = [Doubts(9, 3, (moose,)), Doubts(0, 0), Doubts(4, 1, (moose,), ("lazy",))]
    assert Doubts.joined(parts) == Doubts(13, 4, (moose, moose), ("lazy",))


@pytest.mark.parametrize(
    ("doubts", "said"),
    [
        (Doubts(9, 0), ""),
        (Doubts(9, 1), "1 of 9 words is a guess."),
        (Doubts(9, 5), "Probably wrong: 5 of 9 words are guesses."),
        (Doubts(9, 0, (), ("lazy",)), "“lazy” is left untranslated."),
        (
            Doubts(9, 4, (), ("all", "the", "lazy", "old", "dogs")),
            "Probably wrong: 4 of 9 words are guesses, “all”, “the”, “lazy” and 2 more are left "
            "untranslated.",
        ),
        (
            Doubts(9, 0, (UnsureWord("zyx", 0, 3, 0), UnsureWord("moose", 4, 9, 3))),
            "“zyx” was never seen in training, “moose” was rarely seen in training.",
        ),
        (
            Doubts(2, 0, (UnsureWord("a", 0, 1, 1), UnsureWord("b", 2, 3, 1))),
            "Probably wrong: “a” and “b” were rarely seen in training.",
        ),
    ],
)
def test_one_sentence_says_it(doubts: Doubts, said: str) -> None:
    assert verdict(doubts) == said


def test_a_list_that_is_full_does_not_say_never() -> None:
    doubts = Doubts(9, 0, (UnsureWord("zyx", 0, 3, 0),))
    assert verdict(doubts, complete=False) == "“zyx” was too rare in training to be listed."


def test_a_word_that_occurs_twice_is_named_once() -> None:
    twice = (UnsureWord("moose", 0, 5, 3), UnsureWord("moose", 6, 11, 3))
    assert Doubts(9, 0, twice).reasons() == "“moose” was rarely seen in training"


def test_a_measured_model_has_a_threshold_of_its_own() -> None:
    assert threshold_of({}) == threshold_of({"scores": {"gold": {}}}) == DOUBTFUL
    assert threshold_of({"scores": {"doubts": {"threshold": 0.35}}}) == 0.35
    assert verdict(Doubts(10, 4)).startswith("Probably wrong")
    assert verdict(Doubts(10, 4), 0.5).startswith("4 of 10")
