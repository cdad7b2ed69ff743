from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from core.errors import UserError
from core.text.sentence_pieces import train_tokenizer
from core.text.tokenizer import Tokenizer
from core.training.config import TrainingConfig
from core.training.data import TrainingData, data_names, licence
from core.training.preparation import unwatched
from core.training.survey import take_survey
from core.training.vocabulary import tokenizer_lines

GRAMMAR = TrainingConfig(grammar_pairs=40, validation_pairs=10, gloss_weight=0.5)


def tsv(path: Path, rows: list[tuple[str, str]]) -> str:
    path.write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    survey = take_survey(GRAMMAR, unwatched)
    return train_tokenizer(tokenizer_lines(survey, GRAMMAR, unwatched), 300)


def prepared(config: TrainingConfig, tokenizer: Tokenizer, folder: Path) -> TrainingData:
    data = TrainingData(take_survey(config, unwatched), tokenizer, config, folder)
    data.prepare(unwatched)
    return data


def test_every_epoch_has_the_files_and_new_generated_pairs(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    rows = [(f"the dog {n}", f"der Hund {n}") for n in range(20)]
    config = TrainingConfig(
        data=("grammar", tsv(tmp_path / "a.tsv", rows)), grammar_pairs=30, validation_pairs=2
    )
    data = prepared(config, tokenizer, tmp_path / "data")
    try:
        epochs = [data.epoch(0), data.epoch(1)]
        assert data.pairs_per_epoch == len(epochs[0]) == len(epochs[1]) == 18 + 30
        first, second = (list(pairs) for pairs in epochs)
        assert first[:18] == second[:18]
        assert first[18:] != second[18:]
        assert list(data.epoch(0)) == first
        assert len(data.references) == len(data.validation) == 4
    finally:
        data.close()


def test_long_pairs_are_left_out(tmp_path: Path, tokenizer: Tokenizer) -> None:
    rows = [("dog " * n, "Hund") for n in range(1, 51)]
    config = TrainingConfig(
        data=(tsv(tmp_path / "a.tsv", rows),),
        validation=(tsv(tmp_path / "b.tsv", [("cat", "Katze"), ("cat " * 30, "Katzen")]),),
        max_length=12,
    )
    data = prepared(config, tokenizer, tmp_path / "data")
    pairs = data.epoch(0)
    assert 0 < len(pairs) < 30
    first = len(pairs) + 1
    numbers = ", ".join(str(first + n) for n in range(20))
    assert len(data.validation) == 1
    assert data.left_out == [
        f"a.tsv: {50 - len(pairs)} × more than 12 tokens on a side (lines {numbers}, …)",
        "validation: 1 of 2 pairs × more than 12 tokens on a side; they are excluded from the "
        "loss, but "
        "count in BLEU and chrF",
    ]
    assert pairs.source.lengths.max() <= 12
    short = dataclasses.replace(config, max_length=2)
    with pytest.raises(UserError, match="training pair has more than 2 tokens"):
        TrainingData(take_survey(short, unwatched), tokenizer, short, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_names_and_licences() -> None:
    config = TrainingConfig(data=("grammar", "/data/a.tsv", "/x/b.en,/x/b.de"), licence="CC BY 2.0")
    assert data_names(config) == ["grammar", "a.tsv", "b.en,b.de"]
    assert licence(config).endswith("; CC BY 2.0")
    assert licence(TrainingConfig(data=("a.tsv",))) == "files: licence not stated"
    assert "CC BY" not in licence(TrainingConfig(licence="CC BY 2.0"))
