from __future__ import annotations

import pytest

from core.checkpoints.split import Split, split_of

COMMAND = "transformer-viz train demo --data t.tsv --validation some/dev.tsv a.en,a.de --threads 1"


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.tsv", Split.TRAINING),
        ("b.de", Split.TRAINING),
        ("dev.tsv", Split.VALIDATION),
        ("a.en", Split.VALIDATION),
        ("test.tsv", None),
        ("1", None),
    ],
)
def test_what_a_file_was_to_the_model(name: str, split: Split | None) -> None:
    assert (
        split_of(name, {"data": ["grammar", "train.tsv", "b.en,b.de"], "command": COMMAND}) is split
    )


def test_what_is_kept_counts_before_the_command() -> None:
    about = {"validation": ["kept.tsv"], "command": COMMAND}
    assert split_of("kept.tsv", about) is Split.VALIDATION
    assert split_of("dev.tsv", about) is None


def test_a_command_that_is_none() -> None:
    assert split_of("dev.tsv", {"command": "it's --validation dev.tsv"}) is None
    assert split_of("dev.tsv", {}) is None
