from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import safetensors.numpy

from core.corpus.store import PairStore
from core.errors import UserError
from core.text.sentence_pieces import train_tokenizer
from core.training import data, texts
from core.training.config import RunConfig, TrainingConfig
from core.training.data import TrainingData
from core.training.encoding import encode_pair, fits
from core.training.events import Event, Interrupted, Preparing, Started
from core.training.preparation import Preparation, StoppedError, unwatched
from core.training.run import resume_run, start_run
from core.training.run_folder import RunFolder
from core.training.survey import take_survey
from core.training.texts import training_rows


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "CHUNK_ROWS", 20)
    monkeypatch.setattr(texts, "ROWS_BETWEEN_CALLS", 5)


class Counter:
    """A watch that stops at its ``limit``-th call while something is done."""

    def __init__(self, limit: int | None = None, what: str = "") -> None:
        self.limit = limit
        self.what = what
        self.calls = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        self.calls += self.what in what
        if self.calls == self.limit:
            raise StoppedError(0)


def training_data(config: TrainingConfig, folder: Path) -> TrainingData:
    survey = take_survey(config, unwatched)
    lines = (side for _, _, *sides in rows(config) for side in sides)
    return TrainingData(survey, train_tokenizer(lines, 50), config, folder)


def rows(config: TrainingConfig) -> Iterator[tuple[str, int, str, str]]:
    return training_rows(config, take_survey(config, unwatched).validation, unwatched, "")


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("max_length", [40, 6])
def test_encoded_in_chunks_is_encoded_one_by_one(
    tmp_path: Path, copies: RunConfig, max_length: int
) -> None:
    config = copies.with_settings({"max_length": max_length}).training
    prepared = training_data(config, tmp_path / "data")
    prepared.prepare(unwatched)
    slow = [encode_pair(a, b, prepared.tokenizer) for _, _, a, b in rows(config)]
    expected = [pair for pair in slow if fits(pair, max_length)]
    assert [(pair.source, pair.target) for pair in prepared.epoch(0)] == [
        (pair.source, pair.target) for pair in expected
    ]
    lengths = [len(pair.source) for pair in expected]
    assert prepared.epoch(0).source.lengths.tolist() == lengths
    assert bool(prepared.left_out) == (len(expected) < len(slow)) == (max_length == 6)


@pytest.mark.usefixtures("small_chunks")
def test_an_interrupted_encoding_keeps_its_chunks_and_goes_on(
    tmp_path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = copies.with_settings({"max_length": 6}).training
    whole = training_data(config, tmp_path / "whole")
    whole.prepare(unwatched)

    appended: list[int] = []
    append = PairStore.append

    def watched(self: PairStore, *sides: Any, read: int) -> None:
        append(self, *sides, read=read)
        appended.append(read)

    monkeypatch.setattr(PairStore, "append", watched)
    with pytest.raises(StoppedError):
        training_data(config, tmp_path / "parts").prepare(Counter(10))
    assert appended == [20, 20]
    resumed = training_data(config, tmp_path / "parts")
    resumed.prepare(unwatched)
    assert appended == [20, 20, 15]
    assert list(resumed.epoch(0)) == list(whole.epoch(0))
    assert resumed.left_out == whole.left_out != []
    again = training_data(config, tmp_path / "parts")
    again.prepare(unwatched)
    assert len(appended) == 3
    assert list(again.epoch(0)) == list(whole.epoch(0))


def test_what_another_process_has_encoded_meanwhile_is_used(
    tmp_path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (training_data(copies.training, tmp_path / "data") for _ in range(2))
    first.prepare(unwatched)
    monkeypatch.delattr(PairStore, "append")
    second.prepare(unwatched)
    assert list(second.epoch(0)) == list(first.epoch(0))


def run(
    path: Path, config: RunConfig | None, should_stop: Callable[[], bool] = lambda: False
) -> list[Event]:
    """Started with a configuration, resumed without one."""
    events: list[Event] = []
    if config is None:
        resume_run(path, steps=None, tell=events.append, should_stop=should_stop)
    else:
        start_run(path, config, command="train", tell=events.append, should_stop=should_stop)
    return events


def asked_during(what: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[], bool]:
    """A stop that is asked for while something is done for the second time."""
    counter = Counter(what=what)
    call = Preparation.__call__

    def watched(self: Preparation, what: str, done: int, total: int) -> None:
        counter(what, done, total)
        call(self, what, done, total)

    monkeypatch.setattr(Preparation, "__call__", watched)
    return lambda: counter.calls >= 2


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("what", ["reading copies.tsv", "counting words", "learning"])
def test_a_stop_while_the_files_are_read_leaves_nothing(
    tmp_path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    events = run(tmp_path / "run", copies, asked_during(what, monkeypatch))
    assert events[-1] == Interrupted(step=0, run=None)
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("small_chunks")
def test_a_run_that_was_stopped_while_encoding_ends_like_any_other(
    tmp_path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "whole", copies)
    with monkeypatch.context() as context:
        events = run(tmp_path / "parts", copies, asked_during("encoding", context))
    assert events[-1] == Interrupted(step=0, run=str(tmp_path / "parts"))
    assert not any(isinstance(event, Started) for event in events)
    events = run(tmp_path / "parts", None)
    assert events[-1].name == "finished"
    assert model(tmp_path / "whole") == model(tmp_path / "parts")


def test_a_stop_by_the_folder_is_heeded_too(
    tmp_path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "ROWS_BETWEEN_CALLS", 5)
    run(tmp_path / "run", copies, lambda: True)  # at the first call, while reading
    assert not (tmp_path / "run").exists()

    def request(event: Event) -> None:
        events.append(event)
        if isinstance(event, Preparing) and event.what.startswith("encoding"):
            RunFolder(tmp_path / "run").request("stop")

    events: list[Event] = []
    monkeypatch.setattr("core.training.preparation.SECONDS_BETWEEN_EVENTS", 0)
    start_run(tmp_path / "run", copies, command="train", tell=request, should_stop=lambda: False)
    assert events[-1] == Interrupted(step=0, run=str(tmp_path / "run"))


def test_a_run_without_encoded_data_encodes_it_again(tmp_path: Path, copies: RunConfig) -> None:
    run(tmp_path / "whole", copies)
    steps = iter(range(100))
    run(tmp_path / "old", copies, lambda: next(steps) == 6)
    shutil.rmtree(tmp_path / "old" / "data")  # as runs of earlier versions are
    run(tmp_path / "old", None)
    assert model(tmp_path / "whole") == model(tmp_path / "old")
    assert (tmp_path / "old" / "data" / "store.json").is_file()


def test_encoded_data_is_used_again_without_reading_the_text(
    tmp_path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = iter(range(100))
    run(tmp_path / "run", copies, lambda: next(steps) == 6)

    def unwanted(*arguments: object) -> None:
        raise AssertionError("the text was read again")

    monkeypatch.setattr(data, "training_rows", unwanted)
    monkeypatch.setattr("core.training.run.take_survey", unwanted)
    events = run(tmp_path / "run", None)
    assert events[-1].name == "finished"


def test_a_run_with_no_pair_that_is_short_enough_leaves_no_folder(
    tmp_path: Path, copies: RunConfig
) -> None:
    with pytest.raises(UserError, match="Every training pair has more than 2 tokens"):
        run(tmp_path / "run", copies.with_settings({"max_length": 2}))
    assert not (tmp_path / "run").exists()


def test_events_keep_their_distance() -> None:
    now = 0.0
    events: list[Event] = []
    preparation = Preparation(events.append, lambda: now > 1, step=7, clock=lambda: now)
    for now in (0.0, 0.1, 0.15, 0.25, 0.3, 0.5):
        preparation("reading", int(100 * now), 100)
    assert events == [
        Preparing(step=7, what="reading", done=done, total=100) for done in (0, 25, 50)
    ]
    now = 2.0
    with pytest.raises(StoppedError) as stopped:
        preparation("reading", 60, 100)
    assert stopped.value.step == 7


def model(path: Path) -> dict[str, bytes]:
    tensors = safetensors.numpy.load_file(path / "model.safetensors")
    return {name: tensor.tobytes() for name, tensor in tensors.items()}
