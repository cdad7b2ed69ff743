from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from core.checkpoints.header import read_header
from core.checkpoints.native import add_scores, load_checkpoint, save_checkpoint
from core.errors import UserError

Command = Callable[..., int]


def test_a_smaller_file(
    tmp_path: Path, command: Command, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = load_checkpoint(trained / "model.safetensors")
    path, smaller = tmp_path / "whole.safetensors", tmp_path / "smaller.safetensors"
    save_checkpoint(path, whole.model, whole.tokenizer, whole.provenance, torch.float16)
    add_scores(path, {"gold": {"exact": 12.0}})
    words = ("--head", "cross.0.1", "--head", "encoder_self.0.0", "-o", smaller)
    assert command("prune", "--model", path, *words) == 0
    header = read_header(smaller)
    before = whole.model.parameter_count()
    assert capsys.readouterr().err == (
        f"{smaller}: {header.parameters:,} parameters, {before:,} before\n"
    )
    assert header.config.pruned_heads == ("cross.0.1", "encoder_self.0.0")
    assert header.provenance["pruned_from"] == "whole"
    assert header.provenance["step"] == whole.provenance["step"]
    assert "scores" not in header.provenance
    # float16 loses nothing of what was float16, so the file is smaller by two bytes a number.
    assert smaller.stat().st_size < path.stat().st_size

    assert command("info", smaller, "--json") == 0
    about = json.loads(capsys.readouterr().out)
    assert about["parameters"] == header.parameters < before
    assert about["model"]["pruned_heads"] == ["cross.0.1", "encoder_self.0.0"]
    assert command("translate", "--model", smaller, "The dog sleeps.") == 0
    assert command("info", smaller, "--card") == 0
    assert "heads (before 2 were pruned), " in capsys.readouterr().out


def test_what_cannot_be_pruned(tmp_path: Path, command: Command, trained: Path) -> None:
    model, out = trained / "model.safetensors", tmp_path / "out.safetensors"
    with pytest.raises(UserError, match=r"no head cross:10\.1"):
        command("prune", "--model", model, "--head", "cross.9.0", "-o", out)
    with pytest.raises(UserError, match="cross:LAYER"):
        command("prune", "--model", model, "--head", "cross", "-o", out)
    assert not out.exists()
