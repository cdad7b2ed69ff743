"""What goes wrong with a run is one clear sentence, and nothing is lost."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from core import files
from core.checkpoints.native import load_checkpoint
from core.errors import UserError
from core.training.config import RunConfig
from core.training.events import CheckpointSaved, Event, Started
from core.training.run import resume_run, start_run
from core.training.run_folder import RunFolder
from core.training.state import load_state
from core.training.updater import Updater


def start(path: Path, config: RunConfig, tell: Callable[[Event], None] = lambda _: None) -> None:
    start_run(path, config, command="c", tell=tell, should_stop=lambda: False)


def resume(path: Path) -> None:
    resume_run(path, steps=None, tell=lambda _: None, should_stop=lambda: False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run"


class FullDisk:
    """Listens to a run; from its first checkpoint on, files of this name cannot be written."""

    def __init__(self, patch: pytest.MonkeyPatch, name: str) -> None:
        self.patch, self.name = patch, name
        self.full = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, CheckpointSaved) and not self.full:
            self.full = True
            self.patch.setattr(files.os, "fsync", self._fsync)

    def _fsync(self, descriptor: int) -> None:
        if self.name in os.readlink(f"/proc/self/fd/{descriptor}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs the names of open files")
@pytest.mark.parametrize("name", ["step-", "state.safetensors", "model.safetensors"])
def test_a_full_disk_leaves_the_last_checkpoint_whole(
    path: Path, copies: RunConfig, name: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        disk = FullDisk(patch, name)
        with pytest.raises(UserError) as raised:
            start(path, copies, disk)
    folder = RunFolder(path)
    assert str(raised.value).startswith(f"Could not write {path}")
    assert name in str(raised.value)
    assert "No space left on device; free some space. What was there before" in str(raised.value)
    load_checkpoint(folder.checkpoint(8))
    assert load_state(folder.state).position.update >= 8
    assert not [file for file in path.rglob("*") if files.is_leftover(file)]
    resume(path)
    assert folder.model.is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_line_that_does_not_fit_on_the_disk_ends_the_run(path: Path, copies: RunConfig) -> None:
    folder = RunFolder(path)

    def fill(event: Event) -> None:
        if isinstance(event, Started):
            folder.metrics.symlink_to("/dev/full")

    with pytest.raises(UserError, match=r"Could not write .*metrics\.jsonl: No space left"):
        start(path, copies, fill)
    folder.metrics.unlink()
    resume(path)
    assert folder.model.is_file()


def test_a_loss_that_is_no_number_says_what_to_try(
    path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = Updater.apply

    def spoiled(self: Updater, batches: Any, number: int) -> Any:
        if number == 11:
            with torch.no_grad():
                self.model.source_embedding.weight.fill_(float("nan"))
        return apply(self, batches, number)

    monkeypatch.setattr(Updater, "apply", spoiled)
    with pytest.raises(UserError, match="no longer a number at update 11: decrease peak_factor"):
        start(path, copies)
    folder = RunFolder(path)
    assert all(weight.isfinite().all() for weight in _weights(folder.checkpoint(8)))
    assert load_state(folder.state).position.update == 8


def _weights(path: Path) -> list[torch.Tensor]:
    return list(load_checkpoint(path).model.parameters())


def test_a_memory_that_is_too_small(
    path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Updater, batches: Any, number: int) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB …")

    monkeypatch.setattr(Updater, "apply", full)
    with pytest.raises(UserError, match=r"cpu ran out of memory .* half of source_batch_tok"):
        start(path, copies)


def test_a_machine_that_cannot_compile(
    path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Updater, batches: Any, number: int) -> None:
        raise torch._dynamo.exc.TorchRuntimeError("No working compiler found.\nSet the variable …")

    monkeypatch.setattr(Updater, "apply", fail)
    with pytest.raises(
        UserError, match=r"compile=false\. The error was: No working compiler found\.$"
    ):
        start(path, copies.with_settings({"compile": True}))


def test_a_place_that_may_not_be_written(
    tmp_path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, *args: Any, **kwargs: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(
        UserError, match=r"The run folder .*/run cannot be created: Permission denied"
    ):
        start(tmp_path / "run", copies)


def test_a_folder_with_a_run_in_it_stays_as_it_is(path: Path, copies: RunConfig) -> None:
    start(path, copies.with_settings({"steps": 2}))
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.is_file()}
    with pytest.raises(UserError, match="already contains a run; resume it"):
        start(path, copies)
    assert before == {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"warmup": 0}, r"warmup = 0 is not possible; allowed: 1 or more, because"),
        (
            {"source_batch_tokens": 30},
            r"max_length = 40 is not possible; allowed: 2 to 30, the smaller of source_batch_",
        ),
        ({"device": "cuda:99"}, r"Device cuda:99 is not there: .* finds \d+ CUDA devices"),
        ({"vocab_size": 9}, r"No vocabulary of 9 pieces .* its characters alone need \d+; choose"),
        ({"max_length": 2}, r"has more than 2 tokens on a side; increase max_length"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_is_written(
    path: Path, copies: RunConfig, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        start(path, copies.with_settings(settings))
    assert not path.exists()


@pytest.mark.parametrize(
    ("training", "validation", "message"),
    [
        ("a b\ta b\n", None, "too few sentences to hold some out .* add a validation file"),
        ("a b\ta b\n", "a b\ta b\n", "leaves nothing to train on"),
        ("", "a b\ta b\n", "No pair of sentences could be read"),
    ],
)
def test_a_sentence_is_too_little(
    tmp_path: Path, copies: RunConfig, training: str, validation: str | None, message: str
) -> None:
    settings: dict[str, Any] = {"data": [str(tmp_path / "one.tsv")]}
    (tmp_path / "one.tsv").write_text(training, encoding="utf-8")
    if validation is not None:
        (tmp_path / "valid.tsv").write_text(validation, encoding="utf-8")
        settings["validation"] = [str(tmp_path / "valid.tsv")]
    with pytest.raises(UserError, match=message):
        start(tmp_path / "run", copies.with_settings(settings))
    assert not (tmp_path / "run").exists()


def test_a_sentence_and_another_to_validate_on_are_enough(
    tmp_path: Path, copies: RunConfig
) -> None:
    (tmp_path / "one.tsv").write_text("a b c\tc b a\n", encoding="utf-8")
    (tmp_path / "valid.tsv").write_text("b a\ta b\n", encoding="utf-8")
    settings = {
        "data": [str(tmp_path / "one.tsv")],
        "validation": [str(tmp_path / "valid.tsv")],
        "steps": 2,
        "probe_points": 0,
    }
    start(tmp_path / "run", copies.with_settings(settings))
    assert RunFolder(tmp_path / "run").model.is_file()


def test_the_largest_vocabulary_that_the_text_allows_is_named(
    path: Path, copies: RunConfig
) -> None:
    started: list[Started] = []

    def tell(event: Event) -> None:
        if isinstance(event, Started):
            started.append(event)

    start(path, copies.with_settings({"vocab_size": 5_000, "steps": 2}), tell)
    pieces = started[0].vocabulary
    assert pieces < 5_000
    assert (
        f"vocab_size 5,000 is more than the text allows: the largest possible vocabulary, {pieces} "
        "pieces, is used"
    ) in started[0].data
    config, _ = RunFolder(path).read_record()
    assert config.model.vocab_size == pieces


def test_a_model_without_room_in_the_memory_is_told_in_words(path: Path, copies: RunConfig) -> None:
    large = copies.with_settings({"d_k": 1 << 42})
    with pytest.raises(UserError, match=r"A model of [0-9,]+ parameters does not fit into memor"):
        start(path, large)
    assert not path.exists()
