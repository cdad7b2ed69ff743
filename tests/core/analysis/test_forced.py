from __future__ import annotations

from pathlib import Path

import pytest

from core.analysis import forced
from core.analysis.forced import forced_pairs, token_counts
from core.analysis.sample import GRAMMAR, Sample
from core.corpus.grammar.generate import generate
from core.errors import UserError
from tests.core.analysis.planted import POSITIONS, planted

MODEL, TOKENIZER = planted().model, planted().tokenizer


def test_text_of_one_language_is_translated_by_the_model_itself() -> None:
    told: list[int] = []
    sample = Sample(name="text", sources=("the dog saw it.", "a cat"))
    found = forced_pairs(MODEL, TOKENIZER, sample, progress=told.append)
    assert [(pair.source, pair.target) for pair in found.pairs] == [
        ("the dog saw it.", "the dog saw it."),
        ("a cat", "a cat"),
    ]
    assert told == [2]
    assert not found.gold
    assert found.left_out == 0


def test_of_several_translations_the_first_is_forced() -> None:
    sample = Sample(name="two", sources=("a cat",), references=(("the dog", "a tree"),))
    (pair,) = forced_pairs(MODEL, TOKENIZER, sample).pairs
    assert pair.target == "the dog"


@pytest.mark.parametrize("translated", [True, False])
def test_what_is_too_long_for_the_model_is_left_out(translated: bool) -> None:
    long = "the " * POSITIONS
    sources = ("a cat", long, "it")
    references = (("a cat",), ("it",), (long,)) if translated else ()
    sample = Sample(name="long", sources=sources, references=references)
    found = forced_pairs(MODEL, TOKENIZER, sample)
    assert [pair.source for pair in found.pairs] == ["a cat", "it"][: 1 if translated else 2]
    assert found.left_out == len(sources) - len(found.pairs)


def test_nothing_left_is_said() -> None:
    sample = Sample(name="long.txt", sources=("the " * POSITIONS,))
    with pytest.raises(UserError, match=r"long\.txt.*more than 63 tokens"):
        forced_pairs(MODEL, TOKENIZER, sample)


def test_tokens_are_counted_in_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("the cat saw the dog\nthe dog\n\n", encoding="utf-8")
    counts = token_counts(TOKENIZER, str(path))
    assert [counts[TOKENIZER.encode(word)[-1]] for word in ("the", "dog", "cat", "tree")] == [
        *(3, 2, 1, 0)
    ]


def test_of_the_grammar_they_are_counted_in_its_training_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forced, "COUNTED_GRAMMAR", 50)
    counts = token_counts(TOKENIZER, GRAMMAR)
    texts = [one.source for one in generate(50, seed=0, split="train")]
    assert sum(counts) == sum(len(TOKENIZER.encode(text)) for text in texts)
