"""info: exact counts of the presets, and what a file says of itself."""

from __future__ import annotations

import json
import re
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
    assert re.search(r"\n  checksum +[0-9a-f]{64}\n", words)
    assert "known_words" not in words
    assert "rare_words" not in words
    assert main(["info", str(model), "--card"]) == 0
    assert capsys.readouterr().out.startswith("# model\n")


def test_a_file_without_a_checksum_says_so(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = (trained / "model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    del header["__metadata__"]["checksum"]
    block = json.dumps(header).encode()
    old = tmp_path / "old.safetensors"
    old.write_bytes(len(block).to_bytes(8, "little") + block + data[8 + length :])
    assert main(["info", str(old)]) == 0
    assert "changed numbers would go unnoticed" in capsys.readouterr().out
    assert main(["info", str(old), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["checksum"] is None


def test_a_device_is_there_or_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--device", "cpu"]) == 0
    assert capsys.readouterr().out == "cpu\n"
    assert main(["info", "--device", "cuda:97"]) == 1
    assert "Device cuda:97 is not there" in capsys.readouterr().err
