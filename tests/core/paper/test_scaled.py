"""Small counterparts of Table 3's rows: the rule, the folder, and what is concluded."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from core.cli import main
from core.errors import UserError
from core.paper import scaled as rule
from core.paper.scaled import BEYOND, ORDER, SCALES, SMALL, Scale, scaled
from core.paper.study import Finding, Outcome, Plan, Study, agreement
from core.paper.variations import VARIATIONS
from core.presets import base, preset

PAPER_ROWS = [one.preset for one in VARIATIONS]


def finding(row: str, *bleu: float, paper: float | None) -> Finding:
    return Finding(row, tuple(Outcome(2.0, one, 10) for one in bleu), paper)


def test_every_row_of_the_paper_and_two_more_have_a_place_in_the_order() -> None:
    assert sorted(ORDER) == sorted([*PAPER_ROWS, *BEYOND])


@pytest.mark.parametrize("row", PAPER_ROWS)
def test_ratios_stay(row: str) -> None:
    paper, small = preset(row), scaled(row, SMALL)
    usual, reference = base(), scaled("base", SMALL)
    for name in ("d_model", "encoder_d_ff", "encoder_layers", "encoder_d_k", "encoder_d_v"):
        ratio = getattr(paper.model, name) / getattr(usual.model, name)
        assert getattr(small.model, name) == ratio * getattr(reference.model, name), name
    for name in ("encoder_heads", "decoder_heads", "dropout", "positions"):
        assert getattr(small.model, name) == getattr(paper.model, name)
    assert small.training.label_smoothing == paper.training.label_smoothing
    assert small.training.steps / reference.training.steps == (
        paper.training.steps / usual.training.steps
    )
    assert small.training.average_last == 1


def test_the_rows_that_the_paper_lacks_change_one_thing() -> None:
    reference = scaled("base", SMALL)
    changed = {row: reference.differences(scaled(row, SMALL)).keys() for row in BEYOND}
    assert changed == {"no-positions": {"positions"}, "no-mask": {"decoder_mask"}}


def test_a_row_that_is_none_is_named() -> None:
    with pytest.raises(UserError, match=r"no row 'demo'; its rows are: base, "):
        scaled("demo", SMALL)
    with pytest.raises(UserError, match="number of seeds is 0; give 1 to 20"):
        Plan(seeds=0, settings={})


def test_each_row_runs_once_before_any_runs_again() -> None:
    plan = Plan(rows=("base", "e-learned"), seeds=2, settings={"steps": 10})
    assert list(plan.runs()) == [("base", 1), ("e-learned", 1), ("base", 2), ("e-learned", 2)]
    assert plan.config("base", 2).training.seed == 2
    assert Plan(settings={"steps": 10}).config("big", 1).training.steps == 30


def test_agreement_counts_only_rows_whose_seeds_are_apart() -> None:
    found = [
        finding("base", 50.0, 52.0, paper=0.0),
        finding("a-heads-1", 40.0, 44.0, paper=-0.9),  # as in the paper
        finding("c-d_ff-4096", 45.0, 49.0, paper=0.4),  # against it
        finding("b-dk-32", 51.0, 53.0, paper=-0.4),  # overlaps
        finding("a-heads-16", 60.0, 61.0, paper=0.0),  # the paper sees no change
        finding("no-mask", 1.0, 1.0, paper=None),
    ]
    together = agreement(found)
    assert (together["same"], together["decided"], together["rows"]) == (1, 2, 4)
    # Ours 42, 47, 52, 60.5 have the ranks 1 to 4, the paper's 1, 4, 2, 3: 1 − 6·6/(4·15).
    assert together["rank"] == pytest.approx(0.4)
    assert finding("x", 1.0, paper=-1.0).direction(found[0]) == 0  # one seed says nothing
    assert agreement(found[1:])["rows"] == 0  # nothing to compare with


def test_equal_changes_share_a_rank() -> None:
    found = [
        finding("base", 5.0, 5.0, paper=0.0),
        *(finding("a", bleu, paper=paper) for bleu, paper in ((1, -1.0), (1, -1.0), (3, 1.0))),
    ]
    assert agreement(found)["rank"] == pytest.approx(1.0)
    assert agreement(found[:3])["rank"] is None


def test_a_folder_keeps_its_plan(tmp_path: Path) -> None:
    plan = Plan(rows=("base",), settings={"data": ["grammar"]})
    Study.begin(tmp_path, plan)
    assert Study.open(tmp_path).plan == plan
    assert Study.begin(tmp_path, plan).findings() == []
    with pytest.raises(UserError, match="holds variations with other settings"):
        Study.begin(tmp_path, dataclasses.replace(plan, seeds=3))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "is not JSON"),
        ("[]", "does not describe variations"),
        ('{"format": "transformer-viz-variations", "version": 2}', "has version 2"),
        ('{"format": "transformer-viz-variations", "version": 1, "rows": 3}', "is damaged"),
    ],
)
def test_a_damaged_folder_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "study.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=said):
        Study.open(tmp_path)
    with pytest.raises(UserError, match=r"study\.json"):
        Study.open(tmp_path / "nowhere")


TOY = Scale(
    name="small",
    widths=32,
    layers=6,
    settings={
        **{"vocab_size": 200, "grammar_pairs": 60, "validation_pairs": 4, "max_length": 128},
        **{"source_batch_tokens": 200, "target_batch_tokens": 200, "steps": 2, "warmup": 2},
        **{"validate_every": 2, "checkpoint_every": 2, "keep_checkpoints": 1, "average_last": 1},
        **{"device": "cpu", "threads": 1, "probe_points": 0},
    },
)


def test_a_study_runs_goes_on_and_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(SCALES, "small", TOY)
    words = ["variations", "--run", str(tmp_path), "--rows", "base", "no-positions", "--seeds", "1"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["row"] for row in found["rows"]] == ["base", "no-positions"]
    models = [tmp_path / f"{row}-1" / "model.safetensors" for row in ("base", "no-positions")]
    first, second = (model.read_bytes() for model in models)
    models[1].unlink()  # as if it had been interrupted
    changed_at = models[0].stat().st_mtime_ns
    assert main(words) == 0
    said = capsys.readouterr()
    assert "Run 2 of 2: no-positions, seed 1 (without positions)" in said.err
    assert "Run 1 of 2" not in said.err
    assert models[0].stat().st_mtime_ns == changed_at
    assert (models[0].read_bytes(), models[1].read_bytes()) == (first, second)
    assert main(["variations", "--show", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert shown == said.out
    assert "one seed" in shown
    assert rule.CHANGES["no-mask"] == "without the decoder's mask"
