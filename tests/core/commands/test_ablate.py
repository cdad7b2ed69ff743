from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import UserError

Command = Callable[..., int]


def test_as_json(
    tmp_path: Path, command: Command, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = trained / "model.safetensors"
    words = ("--head", "cross:1.2", "--head", "encoder_self.0.0=0.5", "--sentences", "8", "--json")
    keep = ("--keep", tmp_path / "kept")
    assert command("ablate", "--model", model, *words, *keep) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert (result["model"], result["corpus"], result["sentences"]) == ("model", "grammar", 8)
    (setting,) = result["settings"]
    assert setting["gates"] == {"cross.0.1": 0.0, "encoder_self.0.0": 0.5}
    assert setting["names"] == ["cross:1.2", "encoder:1.1"]
    assert result["before"].keys() == {"loss", "bleu", "chrf", "exact", "pronoun"}
    assert setting["after"].keys() == result["before"].keys()
    assert setting["after"]["pronoun"].keys() == {"first", "second", "both"}
    assert result["before"]["loss"] != setting["after"]["loss"]
    assert result["importance"]["cross.0.1"] > 0
    last = json.loads(captured.err.splitlines()[-1])
    assert (last["done"], last["total"]) == (32, 32)
    assert command("ablate", "--model", model, *words, *keep) == 0
    again = capsys.readouterr()
    assert json.loads(again.out) == result
    last = json.loads(again.err.splitlines()[-1])
    assert (last["done"], last["total"]) == (8, 8), "with all heads on it is measured once"


def test_a_folder_that_cannot_keep_it_costs_nothing_else(
    tmp_path: Path, command: Command, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = trained / "model.safetensors"
    (tmp_path / "file").touch()
    words = ("--head", "cross.0.1", "--sentences", "8", "--keep", tmp_path / "file")
    assert command("ablate", "--model", model, *words) == 0
    captured = capsys.readouterr()
    assert "all heads on" in captured.out
    assert f"Could not write {tmp_path / 'file'}: File exists." in captured.err


def test_each_head_by_itself(
    command: Command, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ("--model", trained / "model.safetensors", "--sentences", "2", "--json", "--each")
    assert command("ablate", *model, "--head", "cross.0.1", "--alone", "decoder_self.0.1") == 0
    gates = [one["gates"] for one in json.loads(capsys.readouterr().out)["settings"]]
    assert gates == [{"cross.0.1": 0.0}, {"decoder_self.0.0": 0.0}]
    assert command("ablate", *model, "--head", "cross.0.1=even") == 0
    (even,) = json.loads(capsys.readouterr().out)["settings"]
    assert even["gates"] == {"cross.0.1": "even"}
    assert even["switches"] == []
    assert command("ablate", *model[:-1], "--scaling", "off", "--no-mask") == 0
    (switched,) = json.loads(capsys.readouterr().out)["settings"]
    assert (switched["gates"], switched["switches"]) == ({}, ["scaling=off", "mask=off"])
    assert switched["after"]["loss"] != even["after"]["loss"]
    assert command("ablate", *model) == 0
    result = json.loads(capsys.readouterr().out)
    assert [list(one["gates"]) for one in result["settings"]] == [
        [code] for code in result["importance"]
    ]


def test_for_people_and_of_files(
    tmp_path: Path, command: Command, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("The dog sleeps.\tDer Hund schläft.\nno tab\n", encoding="utf-8")
    words = ("--model", trained / "model.safetensors", "--corpus", path, "--beam", "2")
    assert command("ablate", *words, "--alone", "decoder_self.0.1") == 0
    captured = capsys.readouterr()
    assert "a.tsv: 2 lines, 1 pair; 1 × no tab (line 2)" in captured.err
    names, on, off = captured.out.splitlines()
    assert names.split()[2:] == ["import.", "loss", "BLEU", "chrF", "exact", "changed"]
    assert on.startswith("all heads on ")
    assert off.startswith("decoder:1.1 × 0 ")
    assert len(names) == len(on) + 9 == len(off)


def test_what_cannot_be_done(tmp_path: Path, command: Command, trained: Path) -> None:
    model = ("--model", trained / "model.safetensors")
    text = tmp_path / "a.txt"
    text.write_text("The dog sleeps.\n", encoding="utf-8")
    for words, says in [
        ((), "No head is named"),
        (("--head", "cross.0"), "cross:LAYER.HEAD"),
        (("--head", "cross.0.99"), r"no head cross:1\.100.*LAYER is 1 to"),
        (("--alone", "cross.7.0"), r"no head cross:8\.1"),
        (("--head", "cross.0.0=half"), "'half' is neither a finite number"),
        (("--head", "cross.0.0=inf"), "finite"),
        (("--head", "cross.0.0", "--corpus", text), "has no translations"),
    ]:
        with pytest.raises(UserError, match=says):
            command("ablate", *model, *words)
    pruned = tmp_path / "pruned.safetensors"
    assert command("prune", *model, "--head", "cross.0.1", "-o", pruned) == 0
    with pytest.raises(UserError, match=r"cross\.0\.0 is the only head in its layer"):
        command("ablate", "--model", pruned, "--alone", "cross.0.0")


SENTENCE = "The dog sleeps."


def test_every_head_for_one_sentence(
    command: Command, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ("--model", trained / "model.safetensors")
    assert command("ablate", *model, "--sentence", SENTENCE, "--json") == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert result["sentence"] == SENTENCE
    assert result["log_probability"] < 0
    heads = command_heads(result)
    assert len(heads) == len(set(heads)) == 6
    changes = [one["change"] for one in result["settings"]]
    assert changes == sorted(changes)
    for one in result["settings"]:
        assert one["log_probability"] == pytest.approx(result["log_probability"] + one["change"])
        assert one["differs"] == (one["translation"] != result["translation"])
    last = json.loads(captured.err.splitlines()[-1])
    assert last["done"] == last["total"] == 6
    words = ("--head", "cross:1.2", "--head", "encoder:1.1=0.5", "--head", "cross:1.1=even")
    assert command("ablate", *model, "--sentence", SENTENCE, *words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["log", "P", "change", "translation"]
    assert lines[1].startswith("all heads on")
    assert {line.split("  ")[0] for line in lines[2:]} == {
        *("cross:1.2 × 0", "encoder:1.1 × 0.5", "cross:1.1 even")
    }


def test_pairs_of_heads_for_one_sentence(
    command: Command, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--model", trained / "model.safetensors", "--sentence", SENTENCE, "--pairs", "--json")
    assert command("ablate", *words, "--head", "cross:1.1") == 0
    result = json.loads(capsys.readouterr().out)
    (pair,) = result["settings"]
    assert set(pair["names"]) == {"cross:1.1", "cross:1.2"}
    assert set(pair["gates"].values()) == {0.0}
    assert command("ablate", *words) == 0
    assert len(json.loads(capsys.readouterr().out)["settings"]) == 3


def command_heads(result: dict[str, Any]) -> list[str]:
    return [name for one in result["settings"] for name in one["names"]]


def test_what_does_not_go_with_a_sentence(command: Command, trained: Path) -> None:
    model = ("--model", trained / "model.safetensors")
    for words, says in [
        (("--sentence", SENTENCE, "--alone", "cross:1.1"), "--alone does not go with --sentence"),
        (("--sentence", " "), "The sentence is empty"),
        (("--sentence", SENTENCE, "--head", "cross:9.1"), r"no head cross:9\.1"),
        (("--pairs",), "--pairs needs a sentence"),
    ]:
        with pytest.raises(UserError, match=says):
            command("ablate", *model, *words)
