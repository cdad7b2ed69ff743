"""info: exact counts of the presets, and what a file says of itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli import main

# reference counts at a vocabulary of 37 000: tied embeddings, biases, post-norm, no final norms
COUNTS = {
    "base": 63_082_496,
    "a-heads-1": 63_082_496,
    "b-dk-16": 55_990_784,
    "b-dk-32": 58_354_688,
    "c-layers-2": 33_656_832,
    "c-layers-4": 48_369_664,
    "c-layers-8": 77_795_328,
    "c-d_model-256": 26_834_944,
    "c-d_model-1024": 163_889_152,
    "c-d_ff-1024": 50_487_296,
    "c-d_ff-4096": 88_272_896,
    "big": 214_245_376,
}


@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_exact_counts(name: str, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", name, "--vocab", "37000", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["parameters"] == count
    assert about["model"]["vocab_size"] == 37_000


def test_learned_positions_add_their_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "e-learned", "--vocab", "37000", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    tables = 2 * about["model"]["max_positions"] * 512
    assert about["parameters"] == COUNTS["base"] + tables


def test_a_name_that_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "nothing-here"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "nothing-here does not exist" in error


def test_a_preset_has_no_card(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "base", "--card"]) == 1
    assert "only a trained model has a card" in capsys.readouterr().err


def test_a_file_in_words_and_as_a_card(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = trained / "model.safetensors"
    assert main(["info", str(model)]) == 0
    words = capsys.readouterr().out
    assert words.startswith("model\n  parameters")
    assert "known_words" not in words
    assert main(["info", str(model), "--card"]) == 0
    assert capsys.readouterr().out.startswith("# model\n")
