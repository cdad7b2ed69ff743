from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.torch
import torch

from core.checkpoints.native import load_checkpoint
from core.errors import UserError


def test_the_mean_of_the_last_two_is_the_runs_model(
    tmp_path: Path, trained: Path, command: Callable[..., int]
) -> None:
    output = tmp_path / "mean.safetensors"
    assert command("average", trained, "--last", "2", "-o", output) == 0
    ours = safetensors.torch.load_file(output)
    of_run = safetensors.torch.load_file(trained / "model.safetensors")
    for name, tensor in of_run.items():
        assert torch.equal(tensor, ours[name])
    assert load_checkpoint(output).provenance["scores"]["bleu"] >= 0


def test_half_precision_halves_the_file(
    tmp_path: Path, trained: Path, command: Callable[..., int]
) -> None:
    whole, half = tmp_path / "whole.safetensors", tmp_path / "half.safetensors"
    command("average", trained, "--last", "3", "-o", whole)
    command("average", trained, "--last", "3", "-o", half, "--half")
    tensors = safetensors.torch.load_file(half)
    assert {str(t.dtype) for name, t in tensors.items() if name != "tokenizer"} == {"torch.float16"}
    for mine, theirs in zip(
        load_checkpoint(half).model.parameters(),
        load_checkpoint(whole).model.parameters(),
        strict=True,
    ):
        assert torch.equal(mine, theirs.half().float())
    provenance = load_checkpoint(half).provenance
    assert provenance["averaged"] == 3
    assert "scores" not in provenance  # three were never scored, two were


@pytest.mark.parametrize(
    ("last", "message"),
    [("4", "has 3 checkpoints, fewer than 4"), ("0", "--last 0 is not possible")],
)
def test_more_than_there_are(
    tmp_path: Path, trained: Path, command: Callable[..., int], last: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        command("average", trained, "--last", last, "-o", tmp_path / "x.safetensors")


def test_averages_are_compared_as_the_run_scored_its_own(
    trained: Path, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(trained.rglob("*"))
    assert command("average", trained, "--compare", "2", "1", "--json") == 0
    two, one = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    of_run = load_checkpoint(trained / "model.safetensors").provenance["scores"]
    assert {name: two[name] for name in of_run} == pytest.approx(of_run)
    *_, last = (json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines())
    assert one["averaged"] == 1
    assert one["validation_loss"] == pytest.approx(last["valid_loss"])
    assert sorted(trained.rglob("*")) == before
    assert command("average", trained, "--compare") == 0  # 1 and 2 of its 3 checkpoints
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]] == ["1", "2"]
    with pytest.raises(UserError, match="has 3 checkpoints; 5 of them cannot be averaged"):
        command("average", trained, "--compare", "5")


def test_no_run(tmp_path: Path, command: Callable[..., int]) -> None:
    with pytest.raises(UserError, match="not a run folder"):
        command("average", tmp_path, "-o", tmp_path / "x.safetensors")
