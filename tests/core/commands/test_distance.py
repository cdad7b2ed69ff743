from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.analysis.distance import Reach
from core.commands.distance import SAYS_LITTLE, table
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
    said = [json.loads(line) for line in captured.err.splitlines()]
    total = 7 * 2 * len(by_name)
    last = [line for line in said if "done" in line][-1]
    assert (last["done"], last["total"]) == (total, total)
    parts = [line for line in said if "relations" in line]
    assert [one for part in parts for one in part["relations"]] == result["relations"]
    assert all(part | {"relations": result["relations"]} == result for part in parts)


def test_for_people(command: Command, trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = trained / "model.safetensors"
    assert command("distance", "--model", model, "--sentences", "2") == 0
    first, *others = capsys.readouterr().out.strip().split("\n\n")
    assert len(others) == 8
    heading, pushed_in, *lines = first.splitlines()
    assert heading == "coreference, 2 sentences"
    assert pushed_in.split() == ["inserted", "words", "0", "1", "2", "4", "8", "16", "32"]
    names = {line.split(", ")[0].strip() for line in lines}
    assert {"model right", "95% interval", "model right in both"} <= names
    assert any(name.startswith("encoder:") for name in names)
    assert all(len(line.split("%")[1].split()) == 7 for line in lines if line.count("%, ") == 1)


@pytest.mark.parametrize("right", [0.49, 0.5])
def test_a_model_that_is_mostly_wrong_is_said_to_be(right: float) -> None:
    """As one of another pair of languages, or one that is hardly trained, is at any distance."""
    reach = Reach(
        relation="particle",
        sentences=100,
        pushed_in=(0, 8),
        between=np.array([3.0, 11.0]),
        longest_trained=9,
        model=np.array([right, 0.25]),
        both=None,
        heads={},
        accuracy={},
        baseline={},
    )
    assert (SAYS_LITTLE in table(reach)) == (right < 0.5)


def test_one_sentence_makes_no_pair(command: Command, trained: Path) -> None:
    with pytest.raises(UserError, match="--sentences"):
        command("distance", "--model", trained / "model.safetensors", "--sentences", "1")
