from __future__ import annotations

import dataclasses
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpus.aligned import group_by_source, read_aligned
from core.corpus.grammar.generate import generate
from core.errors import UserError
from core.text.seen_words import OFTEN, SeenWords
from core.text.words import find_words
from core.training import texts
from core.training.config import GRAMMAR, TrainingConfig
from core.training.preparation import StoppedError, unwatched
from core.training.survey import Survey, saved_survey, take_survey
from core.training.texts import training_rows

Pair = tuple[str, str]


def tsv(path: Path, rows: list[Pair]) -> str:
    path.write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")
    return str(path)


def survey_of(config: TrainingConfig) -> tuple[Survey, list[Pair]]:
    survey = take_survey(config, unwatched)
    rows = training_rows(config, survey.validation, unwatched, "testing")
    return survey, [(source, target) for _, _, source, target in rows]


def in_memory(config: TrainingConfig) -> tuple[list[Pair], dict[str, list[str]]]:
    """What is trained on and what is held out, from all the text at once."""
    training: list[Pair] = []
    held_out: list[Pair] = []
    for spec in config.data:
        if spec == GRAMMAR:
            test = generate(config.validation_pairs, seed=config.seed, split="test")
            held_out += [(sentence.source, sentence.target) for sentence in test]
            continue
        pairs = read_aligned(spec).pairs
        training += pairs
        if not config.validation:
            sources = sorted({a for a, _ in pairs}, key=lambda a: (crc32(a.encode()), a))
            chosen = set(sources[: min(config.validation_pairs, len(sources) // 10)])
            held_out += [pair for pair in pairs if pair[0] in chosen]
    for spec in config.validation:
        held_out += read_aligned(spec).pairs
    validation = group_by_source(held_out)
    return [pair for pair in training if pair[0] not in validation], validation


ROWS = st.lists(
    st.tuples(st.integers(0, 40).map(lambda n: f"Source's no {n % 31} é"), st.sampled_from("uvwx")),
    max_size=120,
)


@given(ROWS, ROWS, st.integers(1, 5), st.booleans(), st.booleans())
def test_streamed_is_what_reading_everything_gives(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[Pair],
    second: list[Pair],
    wanted: int,
    grammar: bool,
    files: bool,
) -> None:
    folder = tmp_path_factory.mktemp("survey")
    enough = [(f"source {n}", f"target {n}") for n in range(10)]
    specs = [tsv(folder / name, rows + enough) for name, rows in {"a": first, "b": second}.items()]
    validation = (tsv(folder / "v", [*second[:3], ("new", "neu")]),) if files else ()
    config = TrainingConfig(
        data=(specs[0], *([GRAMMAR] if grammar else []), specs[1]),
        validation=validation,
        validation_pairs=wanted,
        grammar_pairs=1,
    )
    survey, streamed = survey_of(config)
    training, held_out = in_memory(config)
    assert streamed == training
    assert survey.validation == held_out
    assert list(survey.validation) == list(held_out)
    assert (survey.pairs, survey.characters) == (
        len(training),
        sum(len(a) + len(b) for a, b in training),
    )
    checksum = 0
    for sides in (*training, *((a, *references) for a, references in held_out.items())):
        for text in sides:
            checksum = crc32(text.encode(), checksum)
    assert survey.checksum == f"{checksum:08x}"
    if not grammar:
        words = {word for source, _ in training for word, _, _ in find_words(source)}
        assert survey.seen_words["known_words"] == sorted(words)


def test_what_is_held_out_is_apart_by_source_and_keeps_all_its_references(tmp_path: Path) -> None:
    rows = [(f"source {n}", f"target {n} {k}") for n in range(40) for k in range(1 + n % 3)]
    config = TrainingConfig(data=(tsv(tmp_path / "a.tsv", rows),), validation_pairs=100)
    survey, training = survey_of(config)
    assert len(survey.validation) == 4  # at most one in ten
    assert not {source for source, _ in training} & survey.validation.keys()
    together = training + [(s, target) for s, ts in survey.validation.items() for target in ts]
    assert sorted(together) == sorted(rows)
    few, _ = survey_of(dataclasses.replace(config, validation_pairs=2))
    assert few.validation.keys() <= survey.validation.keys()


def test_validation_files_take_their_sources_out_of_training(tmp_path: Path) -> None:
    rows = [(f"source {n}", f"target {n}") for n in range(5)]
    survey, training = survey_of(
        TrainingConfig(
            data=(tsv(tmp_path / "a.tsv", rows),),
            validation=(tsv(tmp_path / "b.tsv", [("source 3", "other"), ("new", "neu")]),),
        )
    )
    assert survey.validation == {"source 3": ["other"], "new": ["neu"]}
    assert training == [row for row in rows if row[0] != "source 3"]
    assert survey.report == [
        "a.tsv: 5 lines, 5 pairs",
        "validation on b.tsv: 2 lines, 2 pairs",
    ]


def test_nothing_left_to_train_on(tmp_path: Path) -> None:
    path = tsv(tmp_path / "a.tsv", [("one", "eins")])
    with pytest.raises(UserError, match="leaves nothing to train on"):
        survey_of(TrainingConfig(data=(path,), validation=(path,)))
    with pytest.raises(UserError, match=r"a\.tsv has too few sentences to hold some out"):
        survey_of(TrainingConfig(data=(path,)))


def test_the_checksum_is_of_training_and_validation(tmp_path: Path) -> None:
    rows = [(f"source {n}", f"target {n}") for n in range(20)]
    checksums = set()
    for change in (None, 0, 19):
        changed = [(a, b + "!" if n == change else b) for n, (a, b) in enumerate(rows)]
        path = tsv(tmp_path / "a.tsv", changed)
        checksums.add(survey_of(TrainingConfig(data=(path,), validation_pairs=1))[0].checksum)
    assert len(checksums) == 3


def test_known_words_are_those_of_training_sources(tmp_path: Path) -> None:
    rows = [("I can't SWIM 3 times.", "Ich kann nicht schwimmen."), ("Only here.", "Nur hier.")]
    rows += [(f"Again and again {n}.", "Immer wieder.") for n in range(3)]
    config = TrainingConfig(
        data=(tsv(tmp_path / "a.tsv", rows),),
        validation=(tsv(tmp_path / "b.tsv", [("Only here.", "Nur hier.")]),),
    )
    survey, _ = survey_of(config)
    assert survey.seen_words == {
        "known_words": ["again", "and", "can't", "i", "swim", "times"],
        "rare_words": {"1": "can't i swim times", "3": "and", "6": "again"},
    }
    grammar, _ = survey_of(TrainingConfig(grammar_pairs=40, validation_pairs=10))
    assert "the" in grammar.seen_words["known_words"]
    assert "der" not in grammar.seen_words["known_words"]


def test_generated_words_are_counted_as_often_as_they_stand_in_an_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = TrainingConfig(grammar_pairs=40, validation_pairs=10)
    whole = SeenWords.of_model(survey_of(config)[0].seen_words)
    monkeypatch.setattr(texts, "SAMPLE_SENTENCES", 20)
    sampled = SeenWords.of_model(survey_of(config)[0].seen_words)
    assert whole
    assert sampled
    assert sampled.known < whole.known
    assert set(sampled.rare.values()) <= set(range(2, OFTEN, 2))


@pytest.fixture
def mixed(tmp_path: Path) -> TrainingConfig:
    rows = [(f"source {n}", f"target {n}") for n in range(30)]
    return TrainingConfig(
        data=(tsv(tmp_path / "a.tsv", rows), GRAMMAR), grammar_pairs=5, validation_pairs=2
    )


def test_a_saved_survey_serves_again_wherever_the_files_lie(
    tmp_path: Path, mixed: TrainingConfig
) -> None:
    survey = take_survey(mixed, unwatched)
    survey.save(tmp_path)
    assert saved_survey(tmp_path, mixed, unwatched) == survey
    (tmp_path / "elsewhere").mkdir()
    moved = (Path(mixed.data[0]).rename(tmp_path / "elsewhere" / "a.tsv"), GRAMMAR)
    config = dataclasses.replace(mixed, data=tuple(map(str, moved)), steps=7)
    assert saved_survey(tmp_path, config, unwatched) == survey


def change_the_file(config: TrainingConfig) -> TrainingConfig:
    with Path(config.data[0]).open("a") as file:
        file.write("source 3\tanother\n")
    return config


@pytest.mark.parametrize(
    "change",
    [
        change_the_file,
        lambda config: dataclasses.replace(config, seed=2),
        lambda config: dataclasses.replace(config, validation_pairs=3),
        lambda config: dataclasses.replace(config, grammar_pairs=6),
        lambda config: dataclasses.replace(config, validation=config.data[:1]),
    ],
)
def test_a_saved_survey_of_other_data_is_none(
    tmp_path: Path, mixed: TrainingConfig, change: Callable[[TrainingConfig], TrainingConfig]
) -> None:
    take_survey(mixed, unwatched).save(tmp_path)
    assert saved_survey(tmp_path, change(mixed), unwatched) is None


def test_no_saved_survey_or_half_of_one(tmp_path: Path, mixed: TrainingConfig) -> None:
    assert saved_survey(tmp_path, mixed, unwatched) is None
    take_survey(mixed, unwatched).save(tmp_path)
    (path := tmp_path / "survey.json").write_bytes(path.read_bytes()[:100])
    assert saved_survey(tmp_path, mixed, unwatched) is None


def test_gzipped_data_has_the_checksum_of_its_text(tmp_path: Path, mixed: TrainingConfig) -> None:
    packed = tmp_path / "a.tsv.gz"
    packed.write_bytes(gzip.compress(Path(mixed.data[0]).read_bytes()))
    plain = take_survey(mixed, unwatched)
    gzipped = take_survey(dataclasses.replace(mixed, data=(str(packed), GRAMMAR)), unwatched)
    assert (gzipped.checksum, gzipped.pairs) == (plain.checksum, plain.pairs)
    assert gzipped.report[0] == "a.tsv.gz: 30 lines, 30 pairs"


def test_progress_is_in_bytes_and_a_stop_is_heeded(tmp_path: Path) -> None:
    rows = [(f"source {n}", f"target {n}") for n in range(25_000)]
    config = TrainingConfig(data=(tsv(tmp_path / "a.tsv", rows),), validation_pairs=2)
    calls: list[tuple[str, int, int]] = []
    take_survey(config, lambda *call: calls.append(call))
    size = Path(config.data[0]).stat().st_size
    assert [what for what, _, _ in calls] == ["reading a.tsv"] * 2 + ["counting words: a.tsv"] * 2
    assert all(0 < done <= size == total for _, done, total in calls)

    def stop(what: str, done: int, total: int) -> None:
        raise StoppedError(0)

    with pytest.raises(StoppedError):
        take_survey(config, stop)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_cannot_be_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="pipe cannot be read more than once"):
        take_survey(TrainingConfig(data=(str(tmp_path / "pipe"),)), unwatched)
