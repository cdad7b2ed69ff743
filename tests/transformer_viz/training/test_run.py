from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.checkpoints.tensor_file import write_tensors
from core.training.run_folder import RunFolder
from tests.transformer_viz.training.folders import SMALL, log, make_run, say
from transformer_viz.training import run as module
from transformer_viz.training.log_page import LogPage
from transformer_viz.training.run import Run, RunState

pytestmark = pytest.mark.usefixtures("qapp")


def polled(path: Path) -> Run:
    run = Run(path)
    run.poll()
    return run


def test_what_a_folder_tells(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "one", checkpoints=(9, 100, 20))
    log(folder, step=20, valid_loss=4.5, bleu=1.25)
    run = polled(tmp_path / "one")
    assert (run.name, run.config, run.step, run.steps) == ("one", SMALL, 20, 100)
    assert run.state is RunState.STOPPED
    assert [path.stem for path in run.checkpoints()] == [
        "step-000009",
        "step-000020",
        "step-000100",
    ]
    assert run.last("bleu") == 1.25
    assert run.last("chrf") is None
    steps, losses = run.series("train_loss")
    np.testing.assert_allclose((steps, losses), ([10, 20], [4.9, 4.8]))
    assert run.series("nothing")[0].shape == (0,)


def test_the_time_left_is_that_of_the_last_steps(tmp_path: Path) -> None:
    run = polled(make_run(tmp_path / "one", steps=()).path)
    assert run.seconds_left is None
    folder = run.folder
    for step in range(1, 31):
        seconds = step if step <= 10 else 10 + (step - 10) * 2  # slower of late
        log(folder, step=step, seconds=seconds)
    run.poll()
    assert run.seconds_left == pytest.approx(2 * 70)
    log(folder, step=31, seconds=52, other_seconds=62)  # validations and checkpoints: 2 a step
    run.poll()
    assert run.seconds_left == pytest.approx((2 + 2) * 69)


def test_a_held_lock_is_a_run_that_goes_on(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "one")
    run = polled(folder.path)
    with RunFolder(folder.path).lock:
        run.poll()
        assert run.state is RunState.RUNNING
        folder.request("pause")
        run.poll()
        assert run.state is RunState.PAUSED
        folder.request(None)
    run.poll()
    assert run.state is RunState.STOPPED  # the process is gone, with or without saying so


def test_a_process_that_prepares_has_no_run_yet(tmp_path: Path) -> None:
    folder = RunFolder.make(tmp_path / "one")
    with folder.lock:
        run = polled(folder.path)
        assert (run.state, run.message) == (RunState.STARTING, "")
        say(folder, event="preparing", step=0, what="encoding: a.tsv", done=1, total=4)
        run.poll()
        assert run.message == "Encoding: a.tsv: 25%."


def test_a_started_process_is_expected_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    run = polled(tmp_path / "one")
    assert run.state is RunState.FAILED
    run.expect()
    assert run.state is RunState.STARTING
    monkeypatch.setattr(module, "SECONDS_TO_START", 0.0)
    run.folder.log_text.write_text("Traceback …\nMemoryError: too much\n")
    run.poll()
    assert (run.state, run.message) == (RunState.FAILED, "MemoryError: too much")


def test_a_failure_says_why_until_the_run_goes_on(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "one")
    say(folder, event="failed", step=20, message="The loss is no longer a number.")
    run = polled(folder.path)
    assert (run.state, run.message) == (RunState.FAILED, "The loss is no longer a number.")
    log(folder, step=30, train_loss=1.0)  # resumed in a terminal, which says nothing here
    run.poll()
    assert (run.state, run.message) == (RunState.STOPPED, "")


def test_an_earlier_failure_does_not_count_for_a_new_start(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "one")
    say(folder, event="failed", step=20, message="There is no device.")
    run = polled(folder.path)
    run.expect()
    assert run.state is RunState.STARTING
    say(folder, event="failed", step=20, message="There is still no device.")
    run.poll()
    assert run.message == "There is still no device."


def test_finished_at_the_last_step_or_early_and_not_when_trained_on(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "one", steps=(50,), finished=True)  # stopped early
    assert polled(folder.path).state is RunState.FINISHED
    assert polled(folder.path).model == folder.model
    make_run(tmp_path / "two", steps=(100,), finished=True)
    assert polled(tmp_path / "two").state is RunState.FINISHED
    record, about = folder.read_record()
    folder.write_record(record.with_settings({"steps": 200}), about)
    log(folder, step=60, train_loss=1.0)
    assert polled(folder.path).state is RunState.STOPPED


def test_a_run_that_was_killed_says_so_and_what_is_done_again(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "one", steps=(10, 20))
    folder.lock.path.write_text('{"pid": 1}', encoding="utf-8")  # what nobody has taken away
    run = polled(folder.path)
    assert run.state is RunState.INTERRUPTED
    assert run.message.endswith("There is no saved state to resume from.")
    for saved, again in ((15, "repeats steps 16 to 20"), (20, "repeats the steps after that")):
        write_tensors(folder.state, {}, {"position": json.dumps({"update": saved})})
        run.poll()
        assert f"saved after step {saved}; Resume {again}, with the same result." in run.message
        assert run.message.startswith("Ended unexpectedly: the process was killed or")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("events.jsonl", '{"event":"failed"}'),
        ("metrics.jsonl", '{"foo":1}'),
        ("metrics.jsonl", "123"),
        ("samples.jsonl", '{"step":"x"}'),
        ("probes.jsonl", '{"step":3,"heads":[1]}'),
    ],
)
def test_an_odd_line_is_left_out_and_told_of(tmp_path: Path, name: str, line: str) -> None:
    folder = make_run(tmp_path / "one", steps=(10, 20))
    with (folder.path / name).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    run = polled(folder.path)
    assert (run.state, run.step) == (RunState.STOPPED, 20)
    first = 3 if name == "metrics.jsonl" else 1
    (sentence,) = run.odd_lines
    assert sentence == f"{name}: line {first} is not a line of a training run and was skipped."
    page = LogPage()
    page.show_runs([run])
    assert page.toPlainText() == f"⚠ {sentence}"


def test_a_record_that_cannot_be_read_is_a_failure_in_words(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "one")
    folder.record.write_text("{")
    run = polled(folder.path)
    assert run.state is RunState.FAILED
    assert "cannot be read" in run.message


def test_signals_tell_what_has_changed_and_nothing_else(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = make_run(tmp_path / "one")
    run = polled(folder.path)
    with qtbot.assertNotEmitted(run.changed):
        run.poll()
    log(folder, step=30, train_loss=1.0)
    with (
        qtbot.waitSignals([run.metricsChanged, run.changed]),
        qtbot.assertNotEmitted(run.samplesChanged),
        qtbot.assertNotEmitted(run.checkpointsChanged),
    ):
        run.poll()
    folder.checkpoint(30).write_bytes(b"")
    with qtbot.waitSignals([run.checkpointsChanged, run.changed]):
        run.poll()
    (folder.path / "probes").mkdir()
    folder.probe(123, 1).write_bytes(b"")
    folder.probe(7, 0).write_bytes(b"")
    folder.probe(123, 0).write_bytes(b"")
    with qtbot.waitSignal(run.probesChanged):
        run.poll()
    assert list(run.probes()) == [folder.probe(7, 0), folder.probe(123, 0), folder.probe(123, 1)]
    folder.append(folder.samples, {"step": 30, "source": "a"})
    with qtbot.waitSignal(run.samplesChanged):
        run.poll()
    with folder.lock, qtbot.waitSignal(run.stateChanged) as blocker:
        run.poll()
    assert blocker.args == [RunState.RUNNING]
