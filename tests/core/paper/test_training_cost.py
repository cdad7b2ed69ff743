"""The cost of a training: the paper's own figures, torch's own counter, and slow arithmetic."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from core.cli import main
from core.model.product import choosing
from core.model.product_choice import UNMEASURED
from core.paper.systems import SYSTEMS
from core.paper.training_cost import (
    PAPER_BATCH,
    PAPER_TIMES,
    GpuTime,
    Training,
    training_flops,
)
from core.presets import preset
from core.training.run_folder import RunFolder
from tests.core.model.small import random_ids, small_transformer


def test_the_paper_s_estimates_are_recomputed() -> None:
    table = {one.name: one.flops_de for one in SYSTEMS if one.ours}
    for name, time in PAPER_TIMES.items():
        assert time.flops == pytest.approx(table[f"Transformer {name}"], rel=0.01)
    assert GpuTime(hours=1, gpus=2, gpu="K80").flops == 2 * 3600 * 2.8e12


def test_the_column_is_time_and_not_work() -> None:
    base = training_flops(preset("base").model, PAPER_BATCH)
    big = training_flops(preset("big").model, replace(PAPER_BATCH, updates=300_000))
    assert base == pytest.approx(9.5e17, rel=0.01)
    assert big == pytest.approx(9.7e18, rel=0.01)


def test_the_count_is_what_torch_counts_of_a_training_step() -> None:
    model = small_transformer().train()
    sentences, length = 3, 7
    source = random_ids(sentences, length)
    counter = FlopCounterMode(display=False)
    with choosing(UNMEASURED), sdpa_kernel(SDPBackend.MATH), counter:
        model(source, source).sum().backward()
    tokens = sentences * length
    training = Training(updates=1, source_tokens=tokens, target_tokens=tokens, length=length)
    assert training_flops(model.config, training) == counter.get_total_flops()


def test_target_tokens_alone_cost_the_decoder() -> None:
    config = preset("base").model
    one = Training(updates=1, source_tokens=0, target_tokens=100)
    both = replace(one, source_tokens=100)
    encoder = replace(both, target_tokens=0)
    assert training_flops(config, both) == pytest.approx(
        training_flops(config, one) + training_flops(config, encoder)
    )


def test_the_table_and_the_contradiction_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost"]) == 0
    output = capsys.readouterr().out
    assert "Transformer big                   28.4    41.8  2.3 · 10¹⁹  2.3 · 10¹⁹" in output
    assert "says 41.0" in output
    assert "base: 12 h · 3,600 s · 8 P100 · 9.5 · 10¹² = 3.3 · 10¹⁸" in output
    assert "the paper's estimate is 3.4 times that" in output


def test_one_s_own_training_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--updates", "1,000", "--source-tokens", "2000", "--target-tokens", "1500"]
    time = ["--hours", "2", "--gpus", "1", "--gpu", "M40"]
    assert main(["cost", "plain", "plain-en-de", *sizes, *time, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = Training(updates=1_000, source_tokens=2_000, target_tokens=1_500)
    flops = training_flops(preset("plain").model, expected)
    assert [one["flops"] for one in found["trainings"]] == pytest.approx([flops, flops], rel=0.01)
    assert found["time"]["flops"] == 2 * 3600 * 6.0e12


def test_a_bundled_model_says_how_it_was_trained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "plain-en-de", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["trainings"]
    assert (one["updates"], one["source_tokens"]) == (14_000, 1_000)


def test_of_a_model_in_several_runs_only_the_last_is_counted_and_that_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["cost", "demo-en-de"]) == 0
    assert "demo-en-de went on from another model: its last run alone" in capsys.readouterr().err


def test_the_paper_s_time_is_not_compared_with_another_training(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["cost", "base", "--target-tokens", "1000", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["trainings"]
    assert "factor" not in one


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.safetensors"], "missing.safetensors"),
        (["--gpus", "0"], "--gpus is 0"),
    ],
)
def test_what_cannot_be_counted_is_said(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cost", *arguments]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("number", ["0", "-1", "many", "inf", "nan", "1e99"])
def test_a_number_that_is_none_is_wrong_use(number: str) -> None:
    with pytest.raises(SystemExit):
        main(["cost", "--updates", number])


def test_a_run_is_counted_as_far_as_it_got(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = preset("tiny")
    run = RunFolder.create(tmp_path / "run", config, {})
    assert main(["cost", str(run.path), "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["trainings"]
    assert one["updates"] == config.training.steps
