"""A run that begins with the weights and the vocabulary of a trained model."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import torch

from core.checkpoints.card import model_card
from core.checkpoints.header import read_header
from core.checkpoints.native import load_checkpoint, save_checkpoint
from core.cli import main
from core.errors import UserError
from core.training.config import RunConfig
from core.training.run import resume_run, start_run
from tests.core.checkpoints.marian_folders import save_marian_folder

QUIET = {"tell": lambda event: None, "should_stop": lambda: False}


def started_from(model: Path, config: RunConfig, path: Path) -> Path:
    config = config.with_settings({"start_from": str(model)})
    start_run(path, config, command="second", **QUIET)  # type: ignore[arg-type]
    return path


@pytest.fixture
def first(tmp_path: Path, copies: RunConfig) -> Path:
    start_run(tmp_path / "first", copies, command="the first", **QUIET)  # type: ignore[arg-type]
    return tmp_path / "first" / "model.safetensors"


def test_it_begins_with_the_weights_and_the_vocabulary(
    tmp_path: Path, copies: RunConfig, first: Path
) -> None:
    """Even if the configuration has another shape; only the dropout is its own. With a learning
    rate of nearly nothing, the weights stay what they were."""
    other = copies.with_settings(
        {"vocab_size": 90, "d_model": 48, "dropout": 0.25, "peak_factor": 1e-30}
    )
    run = started_from(first, other, tmp_path / "second")
    before, after = load_checkpoint(first), load_checkpoint(run / "model.safetensors")
    assert after.config == dataclasses.replace(before.config, dropout=0.25)
    assert after.tokenizer.encode("a b c") == before.tokenizer.encode("a b c")
    for name, tensor in before.model.state_dict().items():
        torch.testing.assert_close(after.model.state_dict()[name], tensor, rtol=0, atol=0)


def test_the_record_and_the_card_say_what_it_began_with(
    tmp_path: Path, copies: RunConfig, first: Path
) -> None:
    run = started_from(first, copies, tmp_path / "second")
    about = json.loads((run / "run.json").read_text())["started_from"]
    assert about["file"] == "model.safetensors"
    assert about["command"] == "the first"
    header = read_header(run / "model.safetensors")
    assert header.provenance["started_from"] == about
    assert header.provenance["training"]["start_from"] == "model.safetensors"
    assert "| began with | model.safetensors (`the first`, " in model_card("second", header)


def test_a_resumed_run_needs_the_first_model_no_longer(
    tmp_path: Path, copies: RunConfig, first: Path
) -> None:
    run = started_from(first, copies, tmp_path / "second")
    first.unlink()
    resume_run(run, steps=copies.training.steps + 1, **QUIET)  # type: ignore[arg-type]
    header = read_header(run / "model.safetensors")
    assert header.provenance["step"] == copies.training.steps + 1
    assert header.provenance["started_from"]["command"] == "the first"


def test_the_command_names_the_model_without_its_folder(
    tmp_path: Path, copies: RunConfig, first: Path
) -> None:
    configuration = tmp_path / "config.json"
    configuration.write_text(json.dumps(copies.to_dict()))
    out = str(tmp_path / "second")
    assert main(["train", str(configuration), "--start-from", str(first), "--out", out]) == 0
    command = json.loads((tmp_path / "second" / "run.json").read_text())["command"]
    assert "--start-from model.safetensors" in command


def test_a_model_that_was_imported_is_refused(tmp_path: Path, copies: RunConfig) -> None:
    from core.checkpoints.opening import open_model

    folder = tmp_path / "marian"
    save_marian_folder(folder)
    imported = open_model(folder)
    path = tmp_path / "imported.safetensors"
    save_checkpoint(path, imported.model, imported.tokenizer, dict(imported.provenance))
    with pytest.raises(UserError, match="start from a model that this program trained"):
        started_from(path, copies, tmp_path / "second")
    assert not (tmp_path / "second").exists()
