"""info: exact counts of the presets, and what a file says of itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.cli import main
from core.commands.sizes import size_lines
from tests.core.model.small import small_config


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


def test_parameters_by_box_and_the_cost_of_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "base", "--vocab", "37000", "--tokens", "20,30"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for expected in (
        "source embedding 18,944,000 18,944,000",
        "output embedding 0 0 the matrix of source embedding",
        "each of layers 1–6 3,152,384 3,147,776",
        "each of layers 1–6 4,204,032 4,197,376",
        "cross-attention 1,050,624 1,048,576",
        "feed-forward 2,099,712 2,097,152",
        "for each target token 24,576 (6 layers of 4,096)",
        "embedding 0 0 0",
        "output 568,320,000 568,320,000 18,944,000",
        "attention scores 11,673,600 9,000,960 307,200",
        "in all steps 465",
        "in all steps without a cache 4,960",
        "bytes 1,228,800",
    ):
        assert expected in lines


def test_sizes_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "base", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert "cost" not in about
    assert about["boxes"]["parameters"] == about["parameters"]
    assert about["cache_bytes"]["target_token"] == [4_096] * 6
    assert main(["info", "base", "--json", "--tokens", "7,5"]) == 0
    found = json.loads(capsys.readouterr().out)["cost"]
    assert found["cache_bytes"]["total"] == 12 * 24_576
    assert found["comparisons"]["all_steps"] == 15


def test_layers_that_lost_heads_are_listed_by_themselves() -> None:
    config = small_config(decoder_layers=3, pruned_heads=("cross.1.0",))
    lines = "\n".join(size_lines(config, None))
    assert "each of layers 1–2" in lines, "of the encoder"
    assert all(f"  layer {number} " in lines for number in (1, 2, 3))
    assert "by layer 96 + 64 + 96" in lines


@pytest.mark.parametrize("tokens", ["20", "0,3", "a,b", "1,2,3", "9999999999,1"])
def test_numbers_of_tokens_are_two(tokens: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["info", "base", "--tokens", tokens])
    assert ended.value.code == 2
    assert "write source and target tokens" in capsys.readouterr().err
