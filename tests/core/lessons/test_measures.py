"""What a lesson measures, against the weights of a trace that was written by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.errors import UserError
from core.heads import AttentionKind, Head
from core.lessons.measures import filled, read_measure
from core.lessons.question import read_question
from core.trace.trace import StoredAttention, Trace
from tests.transformer_viz.stage import word_trace

HEAD = Head(AttentionKind.ENCODER_SELF, 1, 2)
CROSS = Head(AttentionKind.CROSS, 0, 0)


@pytest.fixture
def trace() -> Trace:
    """Five columns: the animal slept it </s>; the row of "it" is given, all others are even."""
    trace = word_trace("the animal slept it")
    maps = np.full((2, 3, 5, 5), 0.2, np.float32)
    maps[1, 2, 3] = [0.5, 0.25, 0.125, 0.0625, 0.0625]
    attention = {**trace.attention, AttentionKind.ENCODER_SELF: StoredAttention(maps)}
    return dataclasses.replace(trace, attention=attention)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("weight it -> animal", 0.25),
        ("weight it->THE", 0.5),
        ("heaviest it", "the"),
        ("entropy it", 0.5 * 1 + 0.25 * 2 + 0.125 * 3 + 2 * 0.0625 * 4),
        ("entropy slept", np.log2(5)),
        ("translation", "THE ANIMAL SLEPT IT"),
        ("translation has animal", True),
        ("translation has nim", False),
        ("tokens source", 5),
        ("tokens target", 5),
        ("heads", 18),
        ("layers", 4),
        ("distance it -> animal", 2),
        ("distance the -> it", 3),
        ("mean entropy", (5 * np.log2(5) + (4 * np.log2(5) + 1.875) / 5) / 6),
        ("loss", 0.5),
    ],
)
def test_each_measure(trace: Trace, words: str, value: object) -> None:
    assert read_measure(words).value(trace, HEAD) == pytest.approx(value)


def test_a_decoder_s_rows_are_named_by_what_they_predict(trace: Trace) -> None:
    """The first row is fed <s> and predicts THE; it sees every source token alike."""
    assert read_measure("weight THE -> animal").value(trace, CROSS) == pytest.approx(0.2)
    with pytest.raises(UserError, match="there is no word '<s>' here; there are: THE, ANIMAL"):
        read_measure("heaviest <s>").value(trace, CROSS)


def test_text_is_filled_in(trace: Trace) -> None:
    text = "{weight it -> animal} of {translation}, {heaviest moon}"
    assert filled(text, trace, HEAD) == "0.25 of THE ANIMAL SLEPT IT, …"
    assert filled(text, None, HEAD) == "… of …, …"


def test_a_word_is_right_whatever_its_case(trace: Trace) -> None:
    asked = read_question({"word": "Which?", "answer": "heaviest it"})
    assert asked.choices(trace, HEAD) == ["the", "animal", "slept", "it", "</s>"]
    assert asked.is_right("The", trace, HEAD)
    assert not asked.is_right("animal", trace, HEAD)


@pytest.mark.parametrize(
    ("answer", "guess", "right"),
    [
        ("weight it -> animal", "0.3", True),
        ("weight it -> animal", "0,21", True),
        ("weight it -> animal", "0.31", False),
        ("tokens source", "5", True),
        ("tokens source", "5.1", False),
    ],
)
def test_a_number_is_right_if_it_is_near(
    trace: Trace, answer: str, guess: str, right: bool
) -> None:
    asked = read_question({"number": "How much?", "answer": answer})
    assert asked.is_right(guess, trace, HEAD) == right


def test_no_number_is_neither_right_nor_wrong(trace: Trace) -> None:
    asked = read_question({"number": "How much?", "answer": "heads"})
    with pytest.raises(UserError, match="Answer with a number"):
        asked.is_right("many", trace, HEAD)


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("weight it -> animal > 0.2", True),
        ("weight it -> animal < 0.2", False),
        ("translation has slept", True),
    ],
)
def test_yes_or_no(trace: Trace, answer: str, right: bool) -> None:
    asked = read_question({"yes": "So?", "answer": answer})
    assert asked.is_right("yes", trace, HEAD) == right
    assert asked.is_right("no", trace, HEAD) == (not right)
