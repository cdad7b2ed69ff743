"""How far a model reaches, measured in a process that answers as a test tells it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.analysis.distance import Reach
from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.heads.desk import FakeChild
from transformer_viz.engine import measuring
from transformer_viz.engine.measuring import UNREADABLE
from transformer_viz.reach.distance_probe import DistanceProbe
from transformer_viz.reach.distance_report import MOST_FILES, ReportStore, read_report
from transformer_viz.state.session import ModelInfo, Session

E, D = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF


def answer() -> dict[str, Any]:
    """Two dependencies at three distances; the second head is the better one."""
    return {
        "model": "good",
        "seed": 0,
        "pushed_in": [0, 4, 16],
        "relations": [
            {
                "relation": "coreference",
                "sentences": 100,
                "between": [5.0, 9.0, 21.0],
                "longest_trained": 12,
                "model": [1.0, 0.9, 0.6],
                "both": [1.0, 0.8, 0.2],
                "baseline": {"encoder_self": [0.4, 0.3, 0.2]},
                "heads": [
                    {"kind": "encoder_self", "layer": 0, "head": 1, "accuracy": [0.5, 0.1, 0.0]},
                    {"kind": "encoder_self", "layer": 1, "head": 2, "accuracy": [0.9, 0.7, 0.5]},
                ],
            },
            {
                "relation": "particle",
                "sentences": 100,
                "between": [3.0, 7.0, 19.0],
                "longest_trained": 30,
                "model": [1.0, 1.0, 0.9],
                "baseline": {"decoder_self": [0.1, 0.1, 0.1]},
                "heads": [
                    {"kind": "decoder_self", "layer": 0, "head": 0, "accuracy": [0.4, 0.3, 0.2]}
                ],
            },
        ],
    }


class Desk:
    def __init__(self, folder: Path, session: Session, qtbot: QtBot) -> None:
        self.folder, self.session, self.qtbot = folder, session, qtbot
        self.probe = DistanceProbe(session, folder / "distance")

    @property
    def child(self) -> FakeChild:
        child = self.probe._child
        assert isinstance(child, FakeChild)
        return child

    def open(self, name: str, contents: bytes = b"weights") -> Path:
        path = self.folder / f"{name}.safetensors"
        path.write_bytes(contents)
        self.session.set_model(ModelInfo(name, path, 2, 2, 3, 3, 8, 100))
        self.qtbot.waitUntil(lambda: self.probe._checksum != "")
        return path

    def measure(self) -> None:
        self.probe.measure()
        self.answer(json.dumps(answer()))

    def answer(self, text: str | None) -> None:
        self.child.finished.emit(text)
        self.qtbot.waitUntil(lambda: self.probe.running is None)


@pytest.fixture
def desk(tmp_path: Path, trace: Trace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(measuring, "Child", FakeChild)
    session = Session()
    session.set_trace(trace)
    return Desk(tmp_path, session, qtbot)


def test_it_is_measured_when_it_is_asked_for_once_at_a_time(desk: Desk) -> None:
    path = desk.open("good")
    assert desk.child.asked == []
    desk.probe.measure()
    desk.probe.measure()
    assert desk.child.asked == [["distance", "--model", str(path), "--json"]]
    desk.child.progressed.emit('{"done": 20, "total": 80, "seconds_left": 6.0}')
    assert desk.probe.progress is not None
    assert desk.probe.progress.share == 0.25
    desk.answer(json.dumps(answer()))
    assert desk.probe.progress is None
    report = desk.probe.report
    assert report is not None
    assert report.pushed_in == (0, 4, 16)
    coreference, particle = report.relations
    assert coreference.heads[Head(E, 1, 2)] == (0.9, 0.7, 0.5)
    assert coreference.ranked == (Head(E, 1, 2), Head(E, 0, 1))
    assert particle.both is None
    assert particle.baseline == {D: (0.1, 0.1, 0.1)}


def test_it_is_kept_for_the_contents_of_the_model_file(desk: Desk) -> None:
    desk.open("good")
    desk.measure()
    desk.open("other", b"other weights")
    assert desk.probe.report is None
    desk.open("copy")
    desk.qtbot.waitUntil(lambda: desk.probe.report is not None)
    again = DistanceProbe(desk.session, desk.folder / "distance")
    desk.qtbot.waitUntil(lambda: again.report is not None)
    assert again.report == desk.probe.report


def test_another_model_may_be_opened_meanwhile(desk: Desk) -> None:
    path = desk.open("good")
    desk.probe.measure()
    desk.open("other", b"other weights")
    assert desk.probe.running == path
    assert not desk.probe.ready
    desk.answer(json.dumps(answer()))
    assert desk.probe.report is None
    assert desk.probe.ready


def parts() -> list[str]:
    """What the process says of each dependency before all are measured."""
    whole = answer()
    return [json.dumps({**whole, "relations": [one]}) for one in whole["relations"]]


def test_what_is_measured_so_far_is_known_and_stays_when_it_is_cancelled(desk: Desk) -> None:
    desk.open("good")
    desk.probe.measure()
    desk.child.progressed.emit("a warning of some library")
    assert desk.probe.report is None
    desk.child.progressed.emit(parts()[0])
    report = desk.probe.report
    assert report is not None
    assert [one.name for one in report.relations] == ["coreference"]
    assert not report.complete
    desk.probe.cancel()
    assert desk.probe.report is report
    assert not (desk.folder / "distance").exists()


def test_what_is_measured_again_does_not_take_away_what_was_there(desk: Desk) -> None:
    desk.open("good")
    desk.measure()
    known = desk.probe.report
    desk.probe.measure()
    for part in parts():
        desk.child.progressed.emit(part)
    assert desk.probe.report is known


def test_what_is_measured_of_another_model_is_not_shown_before_it_is_open_again(
    desk: Desk,
) -> None:
    desk.open("good")
    desk.probe.measure()
    desk.open("other", b"other weights")
    desk.child.progressed.emit(parts()[0])
    assert desk.probe.report is None
    desk.open("good")
    desk.child.progressed.emit(parts()[1])
    assert desk.probe.report is not None
    assert len(desk.probe.report.relations) == 2


def test_a_failure_and_cancelling_leave_what_was_known(desk: Desk) -> None:
    desk.open("good")
    desk.measure()
    known = desk.probe.report
    desk.probe.measure()
    desk.child.failed.emit("There is not enough memory.")
    assert desk.probe.problem == "There is not enough memory."
    desk.probe.measure()
    assert desk.probe.problem == ""
    desk.probe.cancel()
    assert desk.child.cancelled == 1
    assert desk.probe.running is None
    assert desk.probe.report is known


def _shorter(values: dict[str, Any]) -> dict[str, Any]:
    values["relations"][0]["model"] = [1.0]
    return values


@pytest.mark.parametrize(
    "said",
    [
        None,
        "no JSON",
        "[]",
        '{"pushed_in": [0], "relations": []}',
        json.dumps({"pushed_in": [0]}),
        json.dumps(_shorter(answer())),
    ],
)
def test_an_answer_that_is_none_is_a_failure(desk: Desk, said: str | None) -> None:
    desk.open("good")
    desk.probe.measure()
    desk.answer(said)
    assert desk.probe.problem == UNREADABLE
    assert desk.probe.report is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("encoder_self", "nowhere"),
        lambda text: text.replace('"between"', '"beyond"'),
    ],
)
def test_a_spoilt_file_is_as_none(tmp_path: Path, spoil: Callable[[str], str]) -> None:
    store = ReportStore(tmp_path / "distance")
    store.write("0" * 64, spoil(json.dumps(answer())))
    assert store.read("0" * 64) is None
    assert ReportStore(None).read("0" * 64) is None


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    store = ReportStore(tmp_path / "distance")
    for number in range(MOST_FILES + 3):
        store.write(f"{number:064}", json.dumps(answer()))
    assert len(list((tmp_path / "distance").iterdir())) == MOST_FILES


def test_what_the_command_prints_is_read() -> None:
    """The JSON of the command itself, from its own value."""
    reach = Reach(
        relation="particle",
        sentences=4,
        pushed_in=(0, 8),
        between=np.array([3.0, 11.0]),
        longest_trained=9,
        model=np.array([1.0, 0.5]),
        both=None,
        heads={D: (Head(D, 1, 0),)},
        accuracy={D: np.array([[0.75], [0.25]])},
        baseline={D: np.array([0.5, 0.0])},
    )
    about = {"model": "m", "seed": 0, "pushed_in": [0, 8]}
    printed = json.dumps(about | {"relations": [reach.to_dict()]})
    (relation,) = read_report(printed).relations
    assert relation.heads == {Head(D, 1, 0): (0.75, 0.25)}
    assert relation.between == (3.0, 11.0)
