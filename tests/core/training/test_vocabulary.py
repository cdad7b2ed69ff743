from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from core.errors import UserError
from core.text.sentence_pieces import train_tokenizer
from core.training import vocabulary
from core.training.config import GRAMMAR, TrainingConfig
from core.training.preparation import unwatched
from core.training.survey import take_survey
from core.training.vocabulary import tokenizer_lines


@pytest.fixture
def config(tmp_path: Path) -> TrainingConfig:
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"source {n:03}\ttarget {n:03}\n" for n in range(100)))
    (tmp_path / "v.tsv").write_text("other\tandere\n")
    return TrainingConfig(data=(str(path),), validation=(str(tmp_path / "v.tsv"),))


def lines(config: TrainingConfig) -> list[str]:
    return list(tokenizer_lines(take_survey(config, unwatched), config, unwatched))


def test_a_small_corpus_is_used_whole(config: TrainingConfig) -> None:
    assert lines(config) == [f"{side} {n:03}" for n in range(100) for side in ("source", "target")]


@pytest.mark.parametrize(
    ("limit", "value", "pairs"),
    [("PAIRS", 30, 30), ("PAIRS", 99, 99), ("CHARACTERS", 200, 10), ("CHARACTERS", 2100, 100)],
)
def test_a_large_one_is_sampled_evenly(
    config: TrainingConfig, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, pairs: int
) -> None:
    monkeypatch.setattr(vocabulary, f"VOCABULARY_{limit}", value)  # a pair has 20 characters
    chosen = lines(config)
    numbers = [int(line[-3:]) for line in chosen if line.startswith("source")]
    assert len(chosen) == 2 * pairs == 2 * len(numbers)
    assert set(lines(config)) == set(chosen)
    gaps = {after - before for before, after in pairwise(numbers)}
    assert max(gaps) - min(gaps) <= 1


def test_the_grammar_adds_a_sample_of_its_own(config: TrainingConfig) -> None:
    mixed = TrainingConfig(data=(*config.data, GRAMMAR), grammar_pairs=7, validation_pairs=1)
    assert len(lines(mixed)) == 2 * (99 + 7)


def test_rare_words_become_one_piece_where_they_are_asked_for(config: TrainingConfig) -> None:
    rare = "registration"
    asked = replace(config, whole_words=(rare, "2009"))
    assert len(train_tokenizer(lines(config), 60).encode(rare)) > 1
    tokenizer = train_tokenizer(lines(asked), 60)
    assert [len(tokenizer.encode(word)) for word in (rare, "2009")] == [1, 1]


@pytest.mark.parametrize("word", ["", "two words", "tab\t"])
def test_whole_words_have_no_spaces(config: TrainingConfig, word: str) -> None:
    with pytest.raises(UserError, match=r"^whole_words = .* words, each without a space"):
        replace(config, whole_words=(word,))
