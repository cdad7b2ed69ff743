from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import UserError

Command = Callable[..., int]


def test_as_json(command: Command, trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = trained / "model.safetensors"
    assert command("distance", "--model", model, "--sentences", "2", "--json") == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert result["model"] == "model"
    assert result["seed"] == 0
    assert result["pushed_in"] == [0, 1, 2, 4, 8, 16, 32]
    by_name = {one["relation"]: one for one in result["relations"]}
    assert {"coreference", "particle", "subject", "subordinate"} <= by_name.keys()
    for one in by_name.values():
        assert one["sentences"] == 2
        assert [len(one[name]) for name in ("between", "model")] == [7, 7]
        assert {len(head["accuracy"]) for head in one["heads"]} == {7}
        assert all(0 <= share <= 1 for share in one["model"])
    last = json.loads(captured.err.splitlines()[-1])
    total = 7 * 2 * len(by_name)
    assert (last["done"], last["total"]) == (total, total)


def test_for_people(command: Command, trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = trained / "model.safetensors"
    assert command("distance", "--model", model, "--sentences", "2") == 0
    heading, _, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["words", "pushed", "in", "0", "1", "2", "4", "8", "16", "32"]
    assert lines[0] == "coreference, 2 sentences"
    names = {line.split(", ")[0].strip() for line in lines}
    assert "model right in both" in names
    assert any(name.startswith("encoder_self.") for name in names)
    assert all(len(line.split("%")[1].split()) == 7 for line in lines if "%" in line)


def test_one_sentence_makes_no_pair(command: Command, trained: Path) -> None:
    with pytest.raises(UserError, match="--sentences"):
        command("distance", "--model", trained / "model.safetensors", "--sentences", "1")
