from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors
import safetensors.torch
import torch

from core.config import ModelConfig
from core.errors import UserError
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.text.sentence_pieces import train_tokenizer
from core.training.best import Best
from core.training.config import RunConfig
from core.training.run import resume_run, start_run
from core.training.run_folder import RunFolder
from core.training.state import Position, Sums, load_state, save_state
from core.training.updater import Updater


def updater(config: RunConfig, seed: int = 1) -> Updater:
    model = Transformer(config.model)
    initialise(model, seed)
    return Updater(model, config.training)


def test_everything_comes_back(tmp_path: Path, copies: RunConfig) -> None:
    copies = copies.with_settings({"precision": "fp16"})
    saved, fresh = updater(copies), updater(copies, seed=2)
    saved.scaler.load_state_dict(saved.scaler.state_dict() | {"scale": 8.0, "_growth_tracker": 3})
    torch.autograd.backward(sum(p.square().sum() for p in saved.model.parameters()))
    saved.optimizer.step()
    position = Position(
        update=1,
        epoch=2,
        batch=3,
        seconds=4.5,
        since_log=Sums(loss=0.1, tokens=7),
        best=Best(kept=[(1, 0.25)], since=2),
    )
    tokenizer = train_tokenizer(["one two"], 20)
    torch.manual_seed(5)
    save_state(tmp_path / "state", saved, tokenizer, copies, position)
    expected = torch.rand(3)

    state = load_state(tmp_path / "state")
    state.restore(fresh)
    assert state.position == position
    assert state.config == copies
    assert state.tokenizer.model_bytes == tokenizer.model_bytes
    assert torch.equal(torch.rand(3), expected)
    assert fresh.scaler.state_dict() == saved.scaler.state_dict()
    for ours, theirs in zip(fresh.model.parameters(), saved.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
        for key, value in saved.optimizer.state[theirs].items():
            assert torch.equal(fresh.optimizer.state[ours][key], value), key


def test_a_state_of_another_model_is_refused(tmp_path: Path, copies: RunConfig) -> None:
    save_state(tmp_path / "state", updater(copies), train_tokenizer(["a"], 9), copies, Position())
    other = RunConfig(model=ModelConfig(vocab_size=60), training=copies.training)
    with pytest.raises(UserError, match=r"lacks .* tensor|has shape"):
        load_state(tmp_path / "state").restore(updater(other))


@pytest.fixture
def stopped(tmp_path: Path, copies: RunConfig) -> RunFolder:
    """A run that was stopped after one update."""
    start_run(tmp_path / "run", copies, command="c", tell=print, should_stop=lambda: True)
    return RunFolder(tmp_path / "run")


def resume(folder: RunFolder) -> None:
    resume_run(folder.path, steps=None, tell=print, should_stop=lambda: True)


@pytest.fixture
def edit(stopped: RunFolder) -> Callable[..., None]:
    """edit(part, **values) changes run.json, edit(part, remove=[…]) takes settings out."""

    def change(part: str, remove: tuple[str, ...] = (), **values: Any) -> None:
        record = json.loads(stopped.record.read_text(encoding="utf-8"))
        record[part].update(values)
        for name in remove:
            del record[part][name]
        stopped.record.write_text(json.dumps(record), encoding="utf-8")

    return change


@pytest.mark.parametrize(
    ("part", "values", "message"),
    [
        (
            "training",
            {"seed": 2},
            "seed = 2, but the run was trained with 1 so far; restore that value",
        ),
        ("training", {"clip_norm": 1.0}, "clip_norm = 1.0, but the run was trained with null"),
        ("model", {"d_model": 32}, "d_model = 32, but the run was trained with 16 so far"),
    ],
)
def test_settings_that_changed_are_named(
    stopped: RunFolder, edit: Callable[..., None], part: str, values: dict[str, Any], message: str
) -> None:
    edit(part, **values)
    with pytest.raises(UserError, match=message):
        resume(stopped)


def test_a_sum_that_an_earlier_version_began_is_no_number() -> None:
    old = {"update": 3, "since_log": {"loss": 6.0, "tokens": 3}}
    assert Position.from_json(json.dumps(old)).since_log.nll is None
    assert Position.from_json(json.dumps({"since_log": {"nll": 2.0}})).since_log.nll == 2.0


def test_settings_that_no_weight_depends_on_may_change(
    stopped: RunFolder, edit: Callable[..., None], tmp_path: Path
) -> None:
    moved = tmp_path / "moved.tsv"
    (tmp_path / "copies.tsv").rename(moved)
    edit("training", steps=40, keep_checkpoints=4, keep_best=2, data=[str(moved)])
    resume(stopped)
    assert load_state(stopped.state).position.update == 2


def test_a_run_of_an_earlier_version_goes_on(stopped: RunFolder, edit: Callable[..., None]) -> None:
    new = ("early_stopping", "best_by", "keep_best", "tf32", "compile", "tensorboard")
    edit("training", remove=(*new, "probes", "probe_points"))
    with safetensors.safe_open(stopped.state, framework="pt") as file:
        metadata = file.metadata()
    tensors = safetensors.torch.load_file(stopped.state)
    position = json.loads(metadata["position"])
    del position["best"]
    del position["since_log"]["nll"]
    old = {"format": metadata["format"], "position": json.dumps(position)}
    safetensors.torch.save_file(tensors, stopped.state, metadata=old)
    resume(stopped)
    assert load_state(stopped.state).position.update == 2


@pytest.mark.parametrize("where", [0.02, 0.2, 0.5, 0.99])
def test_a_state_that_changed_on_the_disk_is_not_trained_on(
    stopped: RunFolder, where: float
) -> None:
    content = bytearray(stopped.state.read_bytes())
    content[round(where * len(content))] ^= 4
    stopped.state.write_bytes(content)
    with pytest.raises(UserError, match=r"state\.safetensors is damaged, so the run cannot be res"):
        resume(stopped)


def test_the_same_state_is_the_same_file(tmp_path: Path, copies: RunConfig) -> None:
    saved, tokenizer = updater(copies), train_tokenizer(["one two"], 20)
    for name in ("one", "two"):
        save_state(tmp_path / name, saved, tokenizer, copies, Position())
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("content", [b"", b"12345678{}", None])
def test_what_is_no_state(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "state"
    if content is None:
        safetensors.torch.save_file({"a": torch.zeros(1)}, path)
    else:
        path.write_bytes(content)
    with pytest.raises(UserError, match=r"damaged|not the state of a run"):
        load_state(path)
