from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from core.errors import UserError
from core.text.tokenizer import Tokenizer, train_tokenizer
from core.training.config import TrainingConfig
from core.training.data import (
    TrainingData,
    data_names,
    known_words,
    licence,
    read_texts,
    tokenizer_lines,
)

GRAMMAR = TrainingConfig(grammar_pairs=40, validation_pairs=10, gloss_weight=0.5)


def tsv(path: Path, rows: list[tuple[str, str]]) -> str:
    path.write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(tokenizer_lines(read_texts(GRAMMAR), GRAMMAR), 300)


def test_what_is_held_out_is_apart_by_source_and_keeps_all_its_references(tmp_path: Path) -> None:
    rows = [(f"source {n}", f"target {n} {k}") for n in range(40) for k in range(1 + n % 3)]
    config = TrainingConfig(data=(tsv(tmp_path / "a.tsv", rows),), validation_pairs=100)
    texts = read_texts(config)
    assert len(texts.validation) == 4  # at most one in ten
    assert not {source for source, _ in texts.training} & texts.validation.keys()
    together = list(texts.training)
    together += [(s, target) for s, targets in texts.validation.items() for target in targets]
    assert sorted(together) == sorted(rows)
    few = read_texts(TrainingConfig(data=config.data, validation_pairs=2))
    assert few.validation.keys() <= texts.validation.keys()


def test_validation_files_take_their_sources_out_of_training(tmp_path: Path) -> None:
    rows = [(f"source {n}", f"target {n}") for n in range(5)]
    texts = read_texts(
        TrainingConfig(
            data=(tsv(tmp_path / "a.tsv", rows),),
            validation=(tsv(tmp_path / "b.tsv", [("source 3", "other"), ("new", "neu")]),),
        )
    )
    assert texts.validation == {"source 3": ["other"], "new": ["neu"]}
    assert texts.training == tuple(row for row in rows if row[0] != "source 3")


def test_nothing_left_to_train_on(tmp_path: Path) -> None:
    path = tsv(tmp_path / "a.tsv", [("one", "eins")])
    with pytest.raises(UserError, match="Nothing is left to train on"):
        read_texts(TrainingConfig(data=(path,), validation=(path,)))
    with pytest.raises(UserError, match=r"a\.tsv has too few sentences to hold some out"):
        read_texts(TrainingConfig(data=(path,)))


def test_the_checksum_is_of_training_and_validation(tmp_path: Path) -> None:
    rows = [(f"source {n}", f"target {n}") for n in range(20)]
    checksums = set()
    for change in (None, 0, 19):
        changed = [(a, b + "!" if n == change else b) for n, (a, b) in enumerate(rows)]
        path = tsv(tmp_path / "a.tsv", changed)
        checksums.add(read_texts(TrainingConfig(data=(path,), validation_pairs=1)).checksum)
    assert len(checksums) == 3


def test_every_epoch_has_the_files_and_new_generated_pairs(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    rows = [(f"the dog {n}", f"der Hund {n}") for n in range(20)]
    config = TrainingConfig(
        data=("grammar", tsv(tmp_path / "a.tsv", rows)), grammar_pairs=30, validation_pairs=2
    )
    data = TrainingData(read_texts(config), tokenizer, config)
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
    rows = [("dog " * n, "Hund") for n in range(1, 21)]
    config = TrainingConfig(
        data=(tsv(tmp_path / "a.tsv", rows),),
        validation=(tsv(tmp_path / "b.tsv", [("cat", "Katze")]),),
        max_length=12,
    )
    pairs = TrainingData(read_texts(config), tokenizer, config).epoch(0)
    assert 0 < len(pairs) < 20
    assert pairs.source.lengths.max() <= 12
    short = dataclasses.replace(config, max_length=2)
    with pytest.raises(UserError, match="training pair has more than 2 tokens"):
        TrainingData(read_texts(short), tokenizer, short)


def test_names_and_licences() -> None:
    config = TrainingConfig(data=("grammar", "/data/a.tsv", "/x/b.en,/x/b.de"), licence="CC BY 2.0")
    assert data_names(config) == ["grammar", "a.tsv", "b.en,b.de"]
    assert licence(config).endswith("; CC BY 2.0")
    assert licence(TrainingConfig(data=("a.tsv",))) == "files: licence not stated"
    assert "CC BY" not in licence(TrainingConfig(licence="CC BY 2.0"))


def test_known_words_are_those_of_training_sources(tmp_path: Path) -> None:
    rows = [("I can't SWIM 3 times.", "Ich kann nicht schwimmen."), ("Only here.", "Nur hier.")]
    rows += [(f"Again and again {n}.", "Immer wieder.") for n in range(3)]
    config = TrainingConfig(
        data=(tsv(tmp_path / "a.tsv", rows),),
        validation=(tsv(tmp_path / "b.tsv", [("Only here.", "Nur hier.")]),),
    )
    words = known_words(read_texts(config), config)
    assert words == ["again", "and", "can't", "i", "swim", "times"]
    of_grammar = known_words(read_texts(GRAMMAR), GRAMMAR)
    assert "the" in of_grammar
    assert "der" not in of_grammar
