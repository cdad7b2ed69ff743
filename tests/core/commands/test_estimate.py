from __future__ import annotations

import json

import pytest

from core.cli import main
from core.presets import preset
from core.training.estimate import memory_bytes, parameter_count

SMALL = ("--set", "vocab_size=300", "grammar_pairs=100", "d_model=16", "threads=1")


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "tiny", "--steps", "500", *SMALL, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    config = preset("tiny").with_settings({"vocab_size": 300, "d_model": 16})
    assert found["parameters"] == parameter_count(config.model)
    assert found["bytes"] == memory_bytes(config)
    parts = [found[f"seconds_per_{part}"] for part in ("update", "validation", "checkpoint")]
    assert min(parts) > 0
    assert found["seconds"] == pytest.approx(500 * parts[0] + 6 * parts[1] + 10 * parts[2])
    assert found["data"] == []
    assert found["updates_per_epoch"] >= 1
    assert found["device"]


def test_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "tiny", *SMALL]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["parameters", "20,160"]
    assert len(lines) == 7


def test_a_wrong_setting_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "tiny", "--steps", "0"]) == 1
    assert "steps = 0 is not possible" in capsys.readouterr().err
