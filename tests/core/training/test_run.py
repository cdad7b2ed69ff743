from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from core.checkpoints.native import load_checkpoint
from core.decoding.translate import translate
from core.errors import UserError
from core.training.batch import Batch
from core.training.config import RunConfig
from core.training.events import Event, Finished, Interrupted, Started
from core.training.run import resume_run, start_run
from core.training.run_folder import RunFolder
from core.training.updater import Update, Updater

CLOCK = ("tokens_per_second", "seconds", "other_seconds")

Ids = list[list[int]]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Ids, float]]:
    """What every update was given, and its loss."""
    log: list[tuple[Ids, float]] = []
    apply = Updater.apply

    def watched(self: Updater, batches: list[Batch], number: int) -> Update:
        update = apply(self, batches, number)
        log.append(([row for b in batches for row in b.source.tolist()], update.loss_sum))
        return update

    monkeypatch.setattr(Updater, "apply", watched)
    return log


def start(
    path: Path, config: RunConfig, should_stop: Callable[[], bool] = lambda: False
) -> list[Event]:
    events: list[Event] = []
    start_run(path, config, command="a command", tell=events.append, should_stop=should_stop)
    return events


def resume(
    path: Path, steps: int | None = None, should_stop: Callable[[], bool] = lambda: False
) -> list[Event]:
    events: list[Event] = []
    resume_run(path, steps=steps, tell=events.append, should_stop=should_stop)
    return events


def stop_after(updates: int) -> Callable[[], bool]:
    counter = itertools.count(1)
    return lambda: next(counter) >= updates


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def without_times(path: Path) -> list[dict[str, Any]]:
    return [{key: value for key, value in line.items() if key not in CLOCK} for line in lines(path)]


def tensors(path: Path) -> dict[str, torch.Tensor]:
    return safetensors.torch.load_file(path)


@pytest.mark.parametrize("accumulation", [1, 2])
def test_interrupted_and_resumed_is_uninterrupted_to_the_bit(
    tmp_path: Path,
    copies: RunConfig,
    seen: list[tuple[Ids, float]],
    accumulation: int,
) -> None:
    copies = copies.with_settings({"accumulation": accumulation})
    start(tmp_path / "whole", copies)
    whole = list(seen)
    seen.clear()

    # Twice, between logged steps and in the middle of an epoch, with dropout on.
    events = start(tmp_path / "parts", copies, stop_after(7))
    assert isinstance(events[-1], Interrupted)
    assert events[-1].step == len(seen) == 7
    torch.manual_seed(12345)
    torch.rand(7)
    resume(tmp_path / "parts", should_stop=stop_after(6))
    assert len(seen) == 13
    resume(tmp_path / "parts")
    assert seen == whole

    first, second = RunFolder.open(tmp_path / "whole"), RunFolder.open(tmp_path / "parts")
    for mine, theirs in (
        (first.model, second.model),
        *zip(first.checkpoints(), second.checkpoints(), strict=True),
    ):
        assert mine.read_bytes() == theirs.read_bytes(), mine.name
    ours, other = tensors(first.state), tensors(second.state)  # whose position holds times
    assert ours.keys() == other.keys()
    for name, tensor in ours.items():
        assert torch.equal(tensor, other[name]), name
    assert without_times(first.metrics) == without_times(second.metrics)
    assert lines(first.samples) == lines(second.samples)


def test_a_run_that_was_killed_goes_on_from_its_last_checkpoint(
    tmp_path: Path, copies: RunConfig, seen: list[tuple[Ids, float]]
) -> None:
    start(tmp_path / "whole", copies)
    whole = list(seen)
    seen.clear()

    def killed() -> bool:
        if len(seen) == 15:  # logged at 12, saved at 8
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        start(tmp_path / "killed", copies, killed)
    seen.clear()
    killed_run = RunFolder.open(tmp_path / "killed")
    killed_run.lock.path.touch()  # which a process leaves that nothing can stop from ending
    events = resume(tmp_path / "killed")
    assert seen == whole[8:]
    started = next(event for event in events if isinstance(event, Started))
    assert (started.step, started.unexpected_end, started.repeated) == (8, True, 4)
    folders = [RunFolder.open(tmp_path / name) for name in ("whole", "killed")]
    assert without_times(folders[0].metrics) == without_times(folders[1].metrics)
    assert lines(folders[0].samples) == lines(folders[1].samples)


@pytest.mark.parametrize("odd", ['{"foo": 1}', "123", '{"step": "x"}'])
def test_a_run_with_odd_lines_is_resumed_and_tells_of_them(
    tmp_path: Path, copies: RunConfig, odd: str
) -> None:
    start(tmp_path / "run", copies, stop_after(12))
    folder = RunFolder.open(tmp_path / "run")
    for path in (folder.metrics, folder.samples, folder.probe_log):
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{odd}\n")
    events = resume(tmp_path / "run")
    started = next(event for event in events if isinstance(event, Started))
    assert (started.unexpected_end, started.repeated, started.odd_lines) == (False, 0, 3)
    assert [line["step"] for line in lines(folder.metrics)] == [4, 8, 10, 12, 16, 20, 20]


def test_a_run_can_be_resumed_before_its_first_checkpoint(
    tmp_path: Path, copies: RunConfig, seen: list[tuple[Ids, float]]
) -> None:
    def killed() -> bool:
        if len(seen) == 3:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        start(tmp_path / "run", copies, killed)
    first = list(seen)
    seen.clear()
    resume(tmp_path / "run", should_stop=stop_after(3))
    assert seen == first


def test_the_run_folder_holds_what_the_plan_says(tmp_path: Path, copies: RunConfig) -> None:
    events = start(tmp_path / "run", copies)
    assert [event.name for event in events] == [
        "started",
        *("step", "step", "checkpoint", "validation"),  # 4, 8, 8, 10
        *("step", "step", "checkpoint"),  # 12, 16, 16
        *("step", "validation", "checkpoint", "finished"),  # 20
    ]
    folder = RunFolder.open(tmp_path / "run")
    assert [path.stem for path in folder.checkpoints()] == [
        "step-000008",
        "step-000016",
        "step-000020",
    ]
    config, about = folder.read_record()
    assert config.training == copies.training
    assert about["command"] == "a command"
    assert about["data"] == ["copies.tsv: 60 lines, 60 pairs"]
    steps = [line for line in lines(folder.metrics) if "train_loss" in line]
    assert [line["step"] for line in steps] == [4, 8, 12, 16, 20]
    assert {"learning_rate", "gradient_norm", "position_cosine", "tokens_per_second"} <= set(
        steps[0]
    )
    validations = [line for line in lines(folder.metrics) if "valid_loss" in line]
    assert [line["step"] for line in validations] == [10, 20]
    assert {"perplexity", "bleu", "chrf", "bleu_signature"} <= set(validations[0])
    sample = lines(folder.samples)[0]
    assert sample["step"] == 10
    assert sample["references"] == [sample["source"]]
    assert isinstance(sample["translation"], str)


def test_the_model_is_the_mean_and_says_where_it_comes_from(
    tmp_path: Path, copies: RunConfig
) -> None:
    events = start(tmp_path / "run", copies.with_settings({"licence": "CC0"}))
    folder = RunFolder.open(tmp_path / "run")
    last_two = [tensors(path) for path in folder.checkpoints()[-2:]]
    for name, tensor in tensors(folder.model).items():
        if name != "tokenizer":
            mean = (last_two[0][name].double() + last_two[1][name].double()) / 2
            assert torch.equal(tensor, mean.float())
    about = load_checkpoint(folder.model).provenance
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert about["data"] == ["copies.tsv"]
    assert about["licence"] == "CC0"
    assert about["command"] == "a command"
    assert (about["seed"], about["step"], about["averaged"]) == (1, 20, 2)
    assert about["scores"]["bleu"] == finished.bleu
    assert about["software"]["torch"]
    assert str(tmp_path) not in json.dumps(dict(about))


def test_validation_sentences_are_never_trained_on(
    tmp_path: Path, copies: RunConfig, seen: list[tuple[Ids, float]]
) -> None:
    start(tmp_path / "run", copies)
    folder = RunFolder.open(tmp_path / "run")
    tokenizer = load_checkpoint(folder.model).tokenizer
    trained = {tokenizer.decode(row) for rows, _ in seen for row in rows}
    held_out = {line["source"] for line in lines(folder.samples)}
    assert len(held_out) == 5
    assert len(trained) == 55
    assert not trained & held_out


def test_training_on_longer_and_nothing_left_to_do(tmp_path: Path, copies: RunConfig) -> None:
    start(tmp_path / "run", copies)
    with pytest.raises(UserError, match=r"has done 20 of 20 updates; .*--steps N"):
        resume(tmp_path / "run")
    events = resume(tmp_path / "run", steps=24)
    assert isinstance(events[0], Started)
    assert (events[0].step, events[0].steps, events[0].resumed) == (20, 24, True)
    assert (events[-1].name, events[-1].step) == ("finished", 24)
    assert RunFolder.open(tmp_path / "run").read_record()[0].training.steps == 24


def test_data_that_changed_cannot_be_resumed_on(
    tmp_path: Path, copies: RunConfig, write_copies: Callable[..., Path]
) -> None:
    start(tmp_path / "run", copies, stop_after(3))
    write_copies(Path(copies.training.data[0]), 61)
    with pytest.raises(UserError, match="has changed since the run began"):
        resume(tmp_path / "run")


def test_a_run_without_its_state(tmp_path: Path, copies: RunConfig) -> None:
    start(tmp_path / "run", copies, stop_after(3))
    folder = RunFolder.open(tmp_path / "run")
    folder.state.write_bytes(folder.state.read_bytes()[:1000])
    with pytest.raises(UserError, match="damaged, so the run cannot be resumed"):
        resume(tmp_path / "run")
    folder.state.unlink()
    with pytest.raises(UserError, match="missing, so the run cannot be resumed"):
        resume(tmp_path / "run")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"device": "cuda"}, "Device cuda is not there.*Use --device cpu"),
        ({"precision": "fp16"}, "fp16 needs a CUDA device, not cpu; use fp32"),
    ],
)
def test_devices_that_are_not_there(
    tmp_path: Path, copies: RunConfig, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        start(tmp_path / "run", copies.with_settings(settings))
    assert not (tmp_path / "run").exists()


def test_bf16_on_a_processor_learns_as_well(tmp_path: Path, copies: RunConfig) -> None:
    losses = {}
    for precision in ("fp32", "bf16"):
        config = copies.with_settings({"precision": precision, "dropout": 0.0})
        events = start(tmp_path / precision, config)
        assert isinstance(events[-1], Finished)
        losses[precision] = events[-1].valid_loss
    assert losses["bf16"] != losses["fp32"]
    assert losses["bf16"] == pytest.approx(losses["fp32"], rel=0.02)


def test_bad_data_leaves_no_folder_behind(tmp_path: Path, copies: RunConfig) -> None:
    with pytest.raises(UserError, match=r"missing\.tsv"):
        start(tmp_path / "run", copies.with_settings({"data": [str(tmp_path / "missing.tsv")]}))
    assert not (tmp_path / "run").exists()


def test_twenty_pairs_are_learned_by_heart(
    tmp_path: Path, copies: RunConfig, write_copies: Callable[..., Path]
) -> None:
    data = write_copies(tmp_path / "twenty.tsv", 20)
    config = RunConfig(
        model=dataclasses.replace(copies.model, d_model=32, dropout=0.0),
        training=dataclasses.replace(
            copies.training,
            data=(str(data),),
            validation=(str(write_copies(tmp_path / "other.tsv", 10, seed=1)),),
            source_batch_tokens=200,
            target_batch_tokens=200,
            steps=300,
            warmup=60,
            peak_factor=0.4,
            init_scale=0.5,
            log_every=100,
            validate_every=300,
            checkpoint_every=300,
            average_last=1,
        ),
    )
    start(tmp_path / "run", config)
    checkpoint = load_checkpoint(tmp_path / "run" / "model.safetensors")
    sources = [line.split("\t")[0] for line in data.read_text(encoding="utf-8").splitlines()]
    translations = translate(checkpoint.model, checkpoint.tokenizer, sources)
    assert [translation.text for translation in translations] == sources
