from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from core import files
from core.checkpoints.tensor_file import write_tensors
from core.errors import UserError
from core.files import atomic_write
from core.presets import preset
from core.statistics.rows import HeadStatistics
from core.trace.trace import AttentionKind, Head
from core.training.events import Interrupted, Step, Validation
from core.training.probe_log import log_line
from core.training.run_folder import RunFolder

STATISTICS = HeadStatistics({"entropy": 1.0, "confidence": 0.5}, entropy_limit=2.0, sink_key=0)
HEADS = [(Head(AttentionKind.CROSS, 0, 0), [STATISTICS])]


def step(number: int) -> Step:
    return Step(
        step=number,
        epoch=0,
        train_loss=1.0,
        gloss_loss=None,
        learning_rate=0.1,
        gradient_norm=2.0,
        position_cosine=0.1,
        tokens_per_second=10.0,
        seconds=1.0,
    )


def validation(number: int) -> Validation:
    return Validation(
        step=number,
        valid_loss=1.0,
        perplexity=2.7,
        bleu=1.0,
        chrf=2.0,
        bleu_signature="b",
        chrf_signature="c",
    )


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", preset("tiny"), {"command": "c"})


def test_the_record_comes_back(folder: RunFolder) -> None:
    config, about = RunFolder.open(folder.path).read_record()
    assert config == preset("tiny")
    assert about == {"command": "c"}


def test_no_run_is_overwritten(folder: RunFolder) -> None:
    with pytest.raises(UserError, match="already contains a run; resume it"):
        RunFolder.create(folder.path, preset("tiny"), {})


def test_no_other_folder_or_file_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(UserError, match="not empty; choose another folder"):
            RunFolder.create(path, preset("tiny"), {})
    (tmp_path / "empty").mkdir()
    RunFolder.create(tmp_path / "empty", preset("tiny"), {})


def test_a_place_where_no_folder_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be created"):
        RunFolder.create(tmp_path / "file" / "run", preset("tiny"), {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "does not describe a run"),
        ('{"format": "something"}', "does not describe a run"),
        ('{"format": "transformer-viz-run", "format_version": 99}', "format version 99"),
        ('{"format": "transformer-viz-run", "format_version": 1}', 'needs the section "model"'),
    ],
)
def test_a_damaged_record(folder: RunFolder, text: str, message: str) -> None:
    folder.record.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        folder.read_record()


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a run folder"):
        RunFolder.open(tmp_path)


def test_steps_and_validations_become_lines(folder: RunFolder) -> None:
    for event in (step(1), validation(1), Interrupted(step=1, run="r")):
        folder.log(event)
    lines = [json.loads(line) for line in folder.metrics.read_text(encoding="utf-8").splitlines()]
    assert [sorted(line)[0] for line in lines] == ["epoch", "bleu"]
    assert lines[0]["train_loss"] == 1.0
    assert "gloss_loss" not in lines[0]


def test_rewinding_drops_what_came_after_and_a_line_cut_short(folder: RunFolder) -> None:
    for number in (10, 20, 30):
        folder.log(step(number))
        sample = {"source": "a\u2028b", "translation": "c", "references": ["d"]}
        folder.append(folder.samples, {"step": number, **sample})
        folder.append(folder.probe_log, log_line(number, HEADS, None, ["e"]))
        folder.checkpoint(number).write_bytes(b"")
        folder.probe(number, 11).parent.mkdir(exist_ok=True)
        folder.probe(number, 11).write_bytes(b"")
    with folder.metrics.open("ab") as file:
        file.write(b'{"step": 2')
    assert folder.rewind(20) == (30, 0)
    for path in (folder.metrics, folder.samples, folder.probe_log):
        lines = path.read_bytes().split(b"\n")[:-1]
        assert [json.loads(line)["step"] for line in lines] == [10, 20]
    assert folder.checkpoints() == [folder.checkpoint(10), folder.checkpoint(20)]
    kept = sorted((folder.path / "probes").iterdir())
    assert kept == [folder.probe(10, 11), folder.probe(20, 11)]


@pytest.mark.parametrize("odd", ['{"foo": 1}', "123", "{", '{"step": "x", "bleu": 1}', ""])
def test_rewinding_drops_and_counts_odd_lines(folder: RunFolder, odd: str) -> None:
    folder.log(step(10))
    kept = folder.metrics.read_bytes()
    with folder.metrics.open("a", encoding="utf-8") as file:
        file.write(f"{odd}\n")
    folder.log(step(15))
    assert folder.rewind(10) == (15, 1)
    assert folder.metrics.read_bytes() == kept


def test_a_start_that_was_killed_while_it_wrote_its_state_can_be_repeated(tmp_path: Path) -> None:
    def killed(temporary: Path) -> None:
        (temporary.parent / ".tmpcMt7sR").write_bytes(b"half")  # of a library
        raise KeyboardInterrupt

    folder = RunFolder.make(tmp_path / "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files.shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(KeyboardInterrupt):
            atomic_write(folder.state, killed)
    assert list(folder.state.parent.iterdir())
    RunFolder.require_free(folder.path)
    RunFolder.make(folder.path)
    assert not list(folder.state.parent.iterdir())
    (folder.state.parent / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="not empty"):
        RunFolder.require_free(folder.path)


def test_after_which_update_the_state_was_saved(folder: RunFolder) -> None:
    assert folder.saved_update() is None
    for position, saved in (('{"update": 12}', 12), ('{"update": []}', None), ("{", None)):
        write_tensors(folder.state, {"a": torch.zeros(1)}, {"position": position})
        assert folder.saved_update() == saved


def test_checkpoints_go_by_number_and_the_newest_stay(folder: RunFolder) -> None:
    for number in (999_999, 5, 1_000_000):
        folder.checkpoint(number).write_bytes(b"")
    (folder.path / "checkpoints" / "notes.txt").write_bytes(b"")
    assert folder.checkpoints() == [folder.checkpoint(n) for n in (5, 999_999, 1_000_000)]
    folder.prune_checkpoints(keep=2)
    assert folder.checkpoints() == [folder.checkpoint(n) for n in (999_999, 1_000_000)]
