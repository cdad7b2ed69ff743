from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from core.analysis import forced
from core.checkpoints.native import save_checkpoint
from core.errors import UserError
from tests.core.analysis.planted import planted
from tests.core.commands.conftest import Command

PAIRS = [
    *("the old dog saw a cat.", "it was not wide.", "a child crossed the street, because."),
    *("a cat saw the old dog.", "the street was wide.", "it heard a child in the garden."),
    *("the small table is green.", "a tree in the garden, and a river.", "it was tired."),
    "the child saw the window of the house.",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "planted.safetensors"
    checkpoint = planted()
    save_checkpoint(path, checkpoint.model, checkpoint.tokenizer, checkpoint.provenance)
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "pairs.tsv"
    path.write_text("".join(f"{text}\t{text}\n" for text in PAIRS), encoding="utf-8")
    return path


def head(report: dict[str, Any], kind: str, layer: int, number: int) -> dict[str, Any]:
    (found,) = (
        one
        for one in report["heads"]
        if (one["kind"], one["layer"], one["head"]) == (kind, layer, number)
    )
    assert isinstance(found, dict)
    return found


def test_json(
    command: Command, model: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--model", model, "--corpus", table, "--importance", "--json")
    assert command("heads", *words) == 0
    output = capsys.readouterr()
    report = json.loads(output.out)
    assert report["model"] == "planted"
    assert report["corpus"] == {
        "name": "pairs.tsv",
        "target": "reference",
        "sentences": len(PAIRS),
        "left_out": 0,
        "read": f"pairs.tsv: {len(PAIRS)} lines, {len(PAIRS)} pairs",
    }
    assert len(report["heads"]) == 2 * (6 + 4 + 4)
    previous = head(report, "encoder_self", 0, 0)
    assert previous["statistics"]["previous"] == pytest.approx(1, abs=1e-3)
    assert set(previous["statistics"]) == {
        *("confidence", "entropy", "entropy_normalised", "effective_span", "special"),
        *("sink", "mean_distance", "median_distance", "distance_histogram"),
        *("previous", "same", "next"),
    }
    (role,) = (role for role in previous["roles"] if role["passed"])
    assert role["role"] == "positional(-1)"
    assert "alignment" not in report
    assert {*role} == {
        *("role", "score", "baseline", "threshold", "passed", "rows", "best", "worst"),
        *("cases", "lower", "weight"),
    }
    assert role["cases"] == role["rows"] >= 50
    assert role["threshold"] <= role["lower"] < role["score"]
    assert role["weight"] == pytest.approx(1, abs=1e-3)
    assert {*role["best"][0]} >= {"source", "target", "query", "key", "score"}
    assert len(role["best"]) + len(role["worst"]) == len(PAIRS)
    copying = head(report, "cross", 0, 0)
    assert "diagonal" in copying["statistics"]
    assert "mean_distance" not in copying["statistics"]
    for name in ("importance", "effect"):
        assert copying[name] == max(one[name] for one in report["heads"])
    lines = [json.loads(line) for line in output.err.splitlines()]
    assert [line["done"] for line in lines] == sorted(line["done"] for line in lines)
    total = (2 + 2 + 28) * len(PAIRS)  # measuring, importance, the effect of each head
    assert lines[-1] == {"done": total, "total": total, "seconds_left": 0.0}


def test_a_table_for_people_and_one_for_programs(
    command: Command, model: Path, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "heads.csv"
    assert command("heads", "--model", model, "--corpus", table, "--csv", path) == 0
    output = capsys.readouterr().out
    assert "positional(-1) 1.00, 1.00 (0.90)" in output
    assert output.startswith(f"{len(PAIRS)} sentences of pairs.tsv, decoder input: reference")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * (6 + 4 + 4)
    first = rows[0]
    assert (first["kind"], first["layer"], first["head"]) == ("encoder_self", "1", "1")
    assert first["roles"] == "positional(-1)"
    assert first["positional role"] == "positional(-1)"
    assert float(first["positional score"]) == 1.0
    assert float(first["positional weight"]) == pytest.approx(1, abs=1e-3)
    assert 0.9 < float(first["positional lower"]) < 1
    assert (first["positional threshold"], first["positional passed"]) == ("0.9", "True")
    assert 0 < float(first["positional baseline"]) < 0.5
    assert first["diagonal"] == ""


def test_text_of_one_language(
    command: Command, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(PAIRS), encoding="utf-8")
    words = ("--model", model, "--corpus", path, "--sentences", "2", "--json")
    assert command("heads", *words) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["corpus"]["target"] == "the model's own greedy translation"
    assert report["corpus"]["sentences"] == 2
    evidence = report["heads"][0]["roles"][0]["best"][0]
    assert evidence["source"] == evidence["target"]


def test_one_short_sentence_gives_no_role(
    command: Command, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is nothing to choose between, the heaviest token says nothing."""
    path = tmp_path / "text.txt"
    path.write_text("dog.\n", encoding="utf-8")
    assert command("heads", "--model", model, "--corpus", path, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    roles = [role for one in report["heads"] for role in one["roles"]]
    assert any(role["score"] >= role["threshold"] for role in roles)
    assert not any(role["passed"] for role in roles)
    assert command("heads", "--model", model, "--corpus", path) == 0
    assert capsys.readouterr().out.startswith("1 sentence of text.txt, ")


def test_gold_roles_on_generated_sentences(
    command: Command,
    trained: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forced, "COUNTED_GRAMMAR", 50)
    words = ("--model", trained / "model.safetensors", "--sentences", "60", "--seed", "3")
    assert command("heads", *words, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["corpus"]["seed"] == 3
    roles = {role["role"]: role for role in head(report, "encoder_self", 0, 0)["roles"]}
    gold = roles["gold:coreference"]
    assert gold["direction"] in {"forward", "backward"}
    assert gold["threshold"] == pytest.approx(gold["baseline"] + 0.1)
    assert gold["links"] > 0
    assert [one["reading"] for one in report["alignment"]] == ["fed", "predicted"]
    for one in report["alignment"]:
        assert one["best"]["error"] == min(each["error"] for each in one["heads"])
        assert one["least"] <= one["best"]["error"] <= 1
        assert len(one["heads"]) == sum(each["kind"] == "cross" for each in report["heads"])
        for each in one["heads"]:
            statistics = head(report, "cross", each["layer"], each["head"])["statistics"]
            assert statistics[f"alignment_error_{one['reading']}"] == each["error"]


def test_a_model_without_cross_attention_aligns_nothing(
    tmp_path: Path,
    command: Command,
    trained: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forced, "COUNTED_GRAMMAR", 50)
    model, pruned = trained / "model.safetensors", tmp_path / "pruned.safetensors"
    heads = ("--head", "cross.0.0", "--head", "cross.0.1")
    assert command("prune", "--model", model, *heads, "-o", pruned) == 0
    assert command("heads", "--model", pruned, "--sentences", "3", "--json") == 0
    output = capsys.readouterr()
    report = json.loads(output.out)
    assert "alignment" not in report
    assert {one["kind"] for one in report["heads"]} == {"encoder_self", "decoder_self"}
    last = json.loads(output.err.splitlines()[-1])
    assert last["done"] == last["total"]


def test_a_file_that_is_not_there(command: Command, model: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError):
        command("heads", "--model", model, "--corpus", tmp_path / "missing.txt")
