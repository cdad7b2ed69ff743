from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from core.errors import UserError
from core.presets import preset
from core.training import trial
from core.training.config import RunConfig
from core.training.trial import try_run

TINY = preset("tiny").with_settings(
    {"grammar_pairs": 200, "vocab_size": 300, "threads": 1, "device": "cpu", "d_model": 16}
)


def write_pairs(path: Path, count: int) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            file.write(f"The dog number {number} sleeps.\tDer Hund {number} schläft.\n")
    return path


def from_file(path: Path, **settings: object) -> RunConfig:
    return TINY.with_settings({"data": [str(path)], "vocab_size": 120, **settings})


def test_updates_are_timed_and_counted() -> None:
    found = try_run(TINY)
    assert 0 < found.seconds_per_update < 10
    assert found.device == "cpu"
    twice = try_run(TINY.with_settings({"accumulation": 2}))
    assert twice.updates_per_epoch == -(-found.updates_per_epoch // 2)


def test_batches_of_the_sample_stand_for_those_of_the_epoch() -> None:
    small = try_run(TINY).updates_per_epoch
    large = try_run(TINY.with_settings({"grammar_pairs": 2_000})).updates_per_epoch
    assert large == pytest.approx(10 * small, rel=0.3)


def test_a_long_file_is_counted_by_its_first_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "COUNTED", 20_000)
    monkeypatch.setattr(trial, "SAMPLE", 500)
    path = write_pairs(tmp_path / "pairs.tsv", 40_000)
    pairs, total, _ = trial._sample(from_file(path).training)
    assert len(pairs) == 500
    assert 20_000 < total == pytest.approx(40_000, rel=0.2)  # its first lines are shorter


def test_a_short_file_is_counted_exactly(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "pairs.tsv", 30)
    packed = tmp_path / "pairs.tsv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for file in (path, packed):
        pairs, total, _ = trial._sample(from_file(file).training)
        assert len(pairs) == total == 30


def test_what_is_wrong_with_a_file_is_told(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "pairs.tsv", 30)
    with path.open("a", encoding="utf-8") as file:
        file.write("no tab\n")
    (line,) = try_run(from_file(path)).data
    assert line == "pairs.tsv: 31 lines, 30 pairs; 1 × no tab (line 31)"


def test_a_validation_takes_as_long_as_its_pairs(tmp_path: Path) -> None:
    dev = write_pairs(tmp_path / "dev.tsv", 40)
    config = TINY.with_settings({"validation": [str(dev)]})
    assert trial._validation_pairs(config.training) == 40
    assert trial._validation_pairs(TINY.training) == TINY.training.validation_pairs


def test_a_vocabulary_larger_than_the_sample_can_give(tmp_path: Path) -> None:
    """Nearly all ids that a model of random weights puts out are then beyond the tokenizer's."""
    path = write_pairs(tmp_path / "pairs.tsv", 30)
    found = try_run(from_file(path, vocab_size=5_000))
    assert found.seconds_per_validation > 0


def test_whole_updates_are_told_from_smaller_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the timed batches are, the figure is that of a whole update."""
    config = TINY.with_settings(
        {"source_batch_tokens": 4_000, "target_batch_tokens": 4_000, "max_length": 60}
    )
    whole = try_run(config).seconds_per_update
    monkeypatch.setattr(trial, "LONG_ENOUGH", 0.0)  # the first size is long enough
    told = try_run(config).seconds_per_update
    assert whole / 6 < told < 6 * whole


def test_what_cannot_be_trained_on_is_said(tmp_path: Path) -> None:
    empty = tmp_path / "empty.tsv"
    empty.write_text("\n")
    with pytest.raises(UserError, match="No pair of sentences"):
        try_run(from_file(empty))
    path = write_pairs(tmp_path / "pairs.tsv", 30)
    with pytest.raises(UserError, match="more than 2 tokens"):
        try_run(from_file(path, max_length=2))


def test_a_model_without_room_in_the_memory_is_told_in_words(copies: RunConfig) -> None:
    with pytest.raises(UserError, match="parameters does not fit into memory on this machine"):
        try_run(copies.with_settings({"d_k": 1 << 42}))
