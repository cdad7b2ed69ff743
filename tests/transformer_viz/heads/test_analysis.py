from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.trace.trace import AttentionKind, Head
from tests.transformer_viz.heads.answers import answer
from tests.transformer_viz.heads.desk import Desk, desk
from transformer_viz.engine.checksums import checksum
from transformer_viz.engine.measuring import UNREADABLE, Progress, read_progress
from transformer_viz.heads.analysis import HeadAnalysis
from transformer_viz.heads.store import MOST_FILES, Question, Store

__all__ = ["desk"]

HEAD = Head(AttentionKind.ENCODER_SELF, 0, 1)


def test_nothing_is_measured_unasked(desk: Desk) -> None:
    desk.open("good")
    assert desk.child.asked == []
    assert desk.analysis.ready
    assert desk.analysis.report is None


def test_the_process_is_asked_as_chosen(desk: Desk) -> None:
    path = desk.open("good")
    desk.analysis.measure(Question("a.tsv", 250, importance=True))
    assert desk.child.asked == [
        [
            *("heads", "--model", str(path), "--corpus", "a.tsv", "--sentences", "250"),
            *("--importance", "--json"),
        ]
    ]
    assert desk.analysis.running == path
    desk.analysis.measure(Question())
    assert len(desk.child.asked) == 1, "one at a time"


def test_progress_is_read_from_the_lines_of_the_process(desk: Desk) -> None:
    desk.open("good")
    desk.analysis.measure(Question())
    assert desk.analysis.progress is None
    desk.child.progressed.emit('{"done": 250, "total": 1000, "seconds_left": 30.5}')
    assert desk.analysis.progress == Progress(250, 1000, 30.5)
    assert desk.analysis.progress.share == 0.25
    desk.child.progressed.emit("transformer-viz heads: a warning")
    assert desk.analysis.progress == Progress(250, 1000, 30.5)


@pytest.mark.parametrize("line", ["", "3", "[]", '{"done": 1}', "a word", '{"done": "x"}'])
def test_other_lines_are_no_progress(line: str) -> None:
    assert read_progress(line) is None


def test_what_was_measured_is_there_at_the_next_start(desk: Desk) -> None:
    desk.open("good")
    desk.measure(Question(sentences=300))
    measured = desk.analysis.measured
    assert measured is not None
    again = HeadAnalysis(desk.session, desk.folder / "heads")
    desk.qtbot.waitUntil(lambda: again.measured is not None)
    assert again.measured is not None
    assert again.measured.question == Question(sentences=300)
    assert again.measured.day == measured.day
    assert again.measured.report.heads == measured.report.heads


def test_results_belong_to_the_contents_of_a_model_file(desk: Desk) -> None:
    desk.open("good")
    desk.measure()
    desk.open("other", b"other weights")
    assert desk.analysis.report is None
    desk.open("copy of good")
    assert desk.analysis.report is not None
    assert desk.analysis.report.heads[HEAD].passed


def test_another_model_may_be_opened_while_one_is_measured(desk: Desk) -> None:
    path = desk.open("good")
    desk.analysis.measure(Question())
    desk.open("other", b"other weights")
    assert desk.analysis.running == path
    assert not desk.analysis.ready
    desk.answer()
    assert desk.analysis.report is None, "it is another model that was measured"
    desk.open("good")
    assert desk.analysis.report is not None


def test_a_failure_leaves_what_was_known(desk: Desk) -> None:
    desk.open("good")
    desk.measure()
    desk.analysis.measure(Question("gone.tsv"))
    desk.child.failed.emit("gone.tsv is not there.")
    assert desk.analysis.problem == "gone.tsv is not there."
    assert desk.analysis.ready
    assert desk.analysis.report is not None
    desk.analysis.measure(Question())
    assert desk.analysis.problem == ""


@pytest.mark.parametrize("said", [None, "no JSON", '{"heads": [{}]}'])
def test_an_answer_that_is_none_is_a_failure(desk: Desk, said: str | None) -> None:
    desk.open("good")
    desk.analysis.measure(Question())
    desk.child.finished.emit(said)
    desk.qtbot.waitUntil(lambda: desk.analysis.running is None)
    assert desk.analysis.problem == UNREADABLE
    assert desk.analysis.report is None


def test_cancel_ends_the_process(desk: Desk) -> None:
    desk.open("good")
    desk.analysis.cancel()
    assert desk.child.cancelled == 0
    desk.analysis.measure(Question())
    desk.analysis.cancel()
    assert desk.child.cancelled == 1
    assert desk.analysis.running is None
    assert desk.analysis.problem == ""


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"format": 1', '"format": 99'),
        lambda text: text.replace('"sentences"', '"phrases"', 1),
        lambda text: text.replace("encoder_self", "nowhere", 1),
    ],
)
def test_a_spoilt_file_is_as_none(tmp_path: Path, desk: Desk, spoil: object) -> None:
    path = desk.open("good")
    desk.measure()
    assert desk.analysis.measured is not None
    (file,) = (tmp_path / "heads").iterdir()
    file.write_text(spoil(file.read_text()))  # type: ignore[operator]
    assert Store(tmp_path / "heads").read(checksum(path)) is None


def test_only_the_newest_results_are_kept(desk: Desk) -> None:
    desk.open("good")
    desk.measure()
    measured = desk.analysis.measured
    assert measured is not None
    store = Store(desk.folder / "heads")
    for number in range(MOST_FILES + 3):
        store.write(f"{number:064}", measured, answer()["heads"], [])
    assert len(list((desk.folder / "heads").iterdir())) == MOST_FILES
    assert store.read(f"{MOST_FILES + 2:064}") is not None


def test_without_a_folder_nothing_is_kept(desk: Desk) -> None:
    desk.open("good")
    desk.measure()
    assert desk.analysis.measured is not None
    store = Store(None)
    store.write("0" * 64, desk.analysis.measured, answer()["heads"], [])
    assert store.read("0" * 64) is None


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_memory(desk: Desk) -> None:
    (desk.folder / "heads").write_text("a file in its place")
    desk.open("good")
    desk.measure()
    assert desk.analysis.report is not None
    assert json.loads(json.dumps(desk.analysis.problem)) == ""
