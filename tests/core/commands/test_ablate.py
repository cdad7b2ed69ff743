from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import UserError

Command = Callable[..., int]


def test_as_json(command: Command, trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = trained / "model.safetensors"
    words = ("--head", "cross.0.1", "--head", "encoder_self.0.0=0.5", "--sentences", "8", "--json")
    assert command("ablate", "--model", model, *words) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert result["model"] == "model"
    assert result["corpus"] == "grammar"
    assert result["gates"] == {"cross.0.1": 0.0, "encoder_self.0.0": 0.5}
    assert result["sentences"] == 8
    assert result["before"].keys() == {"loss", "bleu", "chrf", "exact", "pronoun"}
    assert result["before"]["pronoun"].keys() == {"first", "second", "both"}
    assert result["before"]["loss"] != result["after"]["loss"]
    last = json.loads(captured.err.splitlines()[-1])
    assert (last["done"], last["total"]) == (16, 16)


def test_for_people_and_of_files(
    tmp_path: Path, command: Command, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("The dog sleeps.\tDer Hund schläft.\n", encoding="utf-8")
    words = ("--model", trained / "model.safetensors", "--corpus", path, "--beam", "2")
    assert command("ablate", *words, "--alone", "decoder_self.0.1") == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "decoder_self.0.0 × 0"
    assert second == "decoder_self.0.2 × 0" or not second


def test_what_cannot_be_done(tmp_path: Path, command: Command, trained: Path) -> None:
    model = ("--model", trained / "model.safetensors")
    text = tmp_path / "a.txt"
    text.write_text("The dog sleeps.\n", encoding="utf-8")
    for words, says in [
        ((), "No head is named"),
        (("--head", "cross.0"), "KIND.LAYER.HEAD"),
        (("--head", "cross.0.99"), "no head cross.0.99"),
        (("--alone", "cross.7.0"), "no head cross.7.0"),
        (("--head", "cross.0.0=half"), "'half' is not a finite number"),
        (("--head", "cross.0.0=inf"), "finite"),
        (("--head", "cross.0.0", "--corpus", text), "has no translations"),
    ]:
        with pytest.raises(UserError, match=says):
            command("ablate", *model, *words)
