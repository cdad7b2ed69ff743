"""info: exact counts of the presets, and what a file says of itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli import main


def test_a_preset_with_another_vocabulary(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "base", "--vocab", "37000", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["parameters"] == 63_082_496
    assert about["model"]["vocab_size"] == 37_000
    assert main(["info", "base", "--vocab", "32000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"] == 60_522_496


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
    assert "rare_words" not in words
    assert main(["info", str(model), "--card"]) == 0
    assert capsys.readouterr().out.startswith("# model\n")


def test_a_device_is_there_or_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--device", "cpu"]) == 0
    assert capsys.readouterr().out == "cpu\n"
    assert main(["info", "--device", "cuda:97"]) == 1
    assert "Device cuda:97 is not there" in capsys.readouterr().err
