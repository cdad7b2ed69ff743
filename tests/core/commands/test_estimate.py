from __future__ import annotations

import json

import pytest

from core.cli import main
from core.presets import preset
from core.training import trial
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


@pytest.mark.parametrize(("speedup", "said"), [(None, ""), (1.02, ""), (1.94, "1.9 times")])
def test_for_people(
    speedup: float | None,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trial, "_bf16_speedup", lambda *_: speedup)
    assert main(["estimate", "tiny", *SMALL]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["parameters", "20,160"]
    assert lines[7:] == ([f"with bf16          {said} as fast (--precision bf16)"] if said else [])


@pytest.mark.parametrize("made_for_it", [True, False])
def test_bf16_is_timed_where_the_device_is_made_for_it(
    made_for_it: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "_is_made_for_bf16", lambda _: made_for_it)
    assert main(["estimate", "tiny", *SMALL, "--device", "cpu", "--json"]) == 0
    speedup = json.loads(capsys.readouterr().out)["bf16_speedup"]
    assert (speedup is not None) == made_for_it


def test_a_wrong_setting_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "tiny", "--steps", "0"]) == 1
    assert "steps = 0 is not possible" in capsys.readouterr().err
