"""The effect on a sample: what is asked of the child process, and what becomes of its answers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from core import cli
from core.trace.trace import AttentionKind, Head
from tests.transformer_viz.heads.desk import FakeChild
from tests.transformer_viz.stage import GOOD, OTHER, Stage
from transformer_viz.gates import gate_effect
from transformer_viz.gates.gate_effect import (
    FEW,
    LARGEST,
    MANY,
    UNREADABLE,
    GateEffect,
    Question,
    Sample,
    read_effect,
)
from transformer_viz.state.gates import ALL_ON, gates
from transformer_viz.state.options import Penalty
from transformer_viz.state.session import Search

OFF = {Head(AttentionKind.ENCODER_SELF, 1, 2): 0.0}
HALF = {Head(AttentionKind.CROSS, 0, 1): 0.5}


def answer(loss: float = 0.5, pronoun: dict[str, float] | None = None) -> dict:
    def quality(loss: float) -> dict:
        return {"loss": loss, "bleu": 90.0, "chrf": 95.0, "exact": 80.0, "pronoun": pronoun}

    return {
        "model": "good",
        "sentences": 300,
        "before": quality(0.1),
        "importance": {"encoder_self.1.2": 0.0125, "cross.0.1": 0.5},
        "settings": [{"gates": {"encoder_self.1.2": 0.0}, "after": quality(loss), "changed": 12.5}],
    }


class Asked(Stage):
    """A stage whose measuring starts no process, but at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gate_effect, "Child", FakeChild)
        super().__init__()
        self.effect: GateEffect = self.controller.effect
        self.child: FakeChild = self.effect._child
        self.effect._start.setInterval(0)


@pytest.fixture
def desk(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    made = Asked(monkeypatch)
    made.controller.translate("a b")
    made.controller.open(GOOD)
    qtbot.waitUntil(made.shows("a b"))
    yield made
    made.controller.close()


def test_the_command_understands_what_it_is_asked() -> None:
    sample = Sample("a.tsv", 20)
    question = Question(Path("m.safetensors"), gates(OFF | HALF), Search(4, 0.9), sample)
    arguments = question.arguments(Path("kept"))
    args = cli.command_parser(arguments).parse_args(arguments)
    assert args.model == "m.safetensors"
    assert args.head == ["encoder_self.1.2=0.0", "cross.0.1=0.5"]
    assert (args.beam, args.alpha, args.json) == (4, 0.9, True)
    assert (args.corpus, args.sentences, args.keep) == ("a.tsv", 20, Path("kept"))
    assert args.penalty is None  # the model's own
    question = Question(Path("m.safetensors"), gates(OFF), Search(4, 0.9, Penalty.NONE))
    arguments = question.arguments(None)
    assert cli.command_parser(arguments).parse_args(arguments).penalty == "none"


def test_gates_that_stand_still_are_measured(desk: Asked, qtbot: QtBot) -> None:
    desk.session.set_gates(OFF)
    assert desk.effect.running
    desk.session.set_gates(HALF)
    assert desk.child.asked == [], "they moved"
    qtbot.waitUntil(lambda: len(desk.child.asked) == 1)
    assert "--head=cross.0.1=0.5" in desk.child.asked[0]
    assert "--sentences=300" in desk.child.asked[0]


def test_the_process_leaves_the_processor_to_others(desk: Asked) -> None:
    assert desk.child._polite


def test_switched_on_again_nothing_is_measured(desk: Asked, qtbot: QtBot) -> None:
    desk.session.set_gates(OFF)
    desk.session.set_gates(ALL_ON)
    qtbot.wait(20)
    assert desk.child.asked == []
    assert not desk.effect.running


@pytest.mark.parametrize(
    "changes",
    [
        {"provenance": {"imported": "marian", "languages": ["de", "en"]}},
        {"provenance": {"imported": "marian"}},
        {"languages": (">>deu<<",)},
        {"parameters": LARGEST + 1},
    ],
)
def test_for_other_languages_and_large_models_nothing_starts_by_itself(
    desk: Asked, qtbot: QtBot, changes: dict[str, Any]
) -> None:
    desk.session.set_model(replace(desk.session.model, **changes), OFF)
    assert desk.session.gates == OFF
    qtbot.wait(20)
    assert desk.child.asked == []
    assert desk.effect.has_sentences == ("parameters" in changes)
    desk.effect.measure(Sample("a.tsv"))
    assert "--corpus=a.tsv" in desk.child.asked[0]


def test_a_file_that_was_chosen_serves_a_model_of_other_languages_again(
    desk: Asked, qtbot: QtBot
) -> None:
    foreign = {"imported": "marian", "languages": ["de", "en"]}
    desk.session.set_model(replace(desk.session.model, provenance=foreign), OFF)
    desk.effect.measure(Sample("a.tsv"))
    desk.session.set_gates(HALF)
    qtbot.waitUntil(lambda: len(desk.child.asked) == 2)
    assert "--corpus=a.tsv" in desk.child.asked[1]
    desk.child.finished.emit(answer() | {"sentences": 4})
    assert desk.effect.complete, "the file has no more"
    desk.session.set_model(replace(desk.session.model, name="another"))
    assert not desk.effect.has_sentences


def test_a_file_that_was_chosen_serves_a_trained_model_once(desk: Asked, qtbot: QtBot) -> None:
    desk.session.set_gates(OFF)
    desk.effect.measure(Sample("a.tsv"))
    desk.child.finished.emit(answer())
    assert not desk.effect.complete
    desk.session.set_gates(HALF)
    qtbot.waitUntil(lambda: len(desk.child.asked) == 2)
    assert "--corpus=grammar" in desk.child.asked[1]


def test_more_sentences_once_a_few_are_known(desk: Asked) -> None:
    desk.session.set_gates(OFF)
    assert desk.effect.next_sample == Sample(sentences=FEW)
    desk.effect.measure(Sample())
    desk.child.finished.emit(answer(loss=0.7))
    assert desk.effect.next_sample == Sample(sentences=MANY)
    desk.effect.measure(desk.effect.next_sample)
    desk.session.set_gates(dict(OFF))
    assert desk.effect.sample.sentences == MANY
    desk.child.finished.emit(answer(loss=0.6))
    desk.session.set_gates(HALF)
    desk.session.set_gates(OFF)
    assert (desk.effect.effect.after.loss, desk.effect.sample.sentences) == (0.6, MANY)
    assert desk.effect.complete


def test_with_all_heads_on_there_is_nothing_to_measure(desk: Asked) -> None:
    desk.effect.measure(Sample())
    assert desk.child.asked == []


def test_progress_then_the_effect(desk: Asked) -> None:
    desk.session.set_gates(OFF)
    desk.effect.measure(Sample())
    desk.child.progressed.emit('{"done": 150, "total": 600, "seconds_left": 3.0}')
    assert desk.effect.share == 0.25
    desk.child.progressed.emit("a warning of some library")
    assert desk.effect.share == 0.25
    desk.child.finished.emit(answer(pronoun={"first": 99.0, "second": 98.0, "both": 97.0}))
    assert not desk.effect.running
    assert desk.effect.effect.after.loss == 0.5
    assert desk.effect.effect.before.pronoun == 97.0
    assert desk.effect.effect.importance == {Head(AttentionKind.ENCODER_SELF, 1, 2): 0.0125}


def test_other_gates_give_it_up(desk: Asked) -> None:
    desk.session.set_gates(OFF)
    desk.effect.measure(Sample())
    desk.session.set_gates(ALL_ON)
    assert desk.child.cancelled == 1
    assert not desk.effect.running
    assert desk.effect.effect is None


def test_what_was_measured_comes_back_with_its_gates(desk: Asked) -> None:
    desk.session.set_gates(OFF)
    desk.effect.measure(Sample())
    desk.child.finished.emit(answer(loss=0.7))
    desk.session.set_gates(ALL_ON)
    assert desk.effect.effect is None
    desk.session.set_gates(OFF)
    assert desk.effect.effect.after.loss == 0.7
    desk.controller.set_search(Search(4, 0.6))
    assert desk.effect.effect is None, "another search finds other translations"


def test_another_model_forgets_it(desk: Asked, qtbot: QtBot) -> None:
    desk.session.set_gates(OFF)
    desk.effect.measure(Sample())
    desk.child.finished.emit(answer())
    for path in (OTHER, GOOD):
        desk.controller.open(path)
        qtbot.waitUntil(lambda path=path: desk.session.model.path == path)
    desk.session.set_gates(OFF)
    assert desk.effect.effect is None


def test_cancelled_it_leaves_nothing(desk: Asked) -> None:
    desk.session.set_gates(OFF)
    desk.effect.measure(Sample())
    desk.effect.cancel()
    assert desk.child.cancelled == 1
    assert (desk.effect.running, desk.effect.effect, desk.effect.problem) == (False, None, "")


@pytest.mark.parametrize(
    "end", [lambda desk: desk.effect.cancel(), lambda desk: desk.child.failed.emit("No memory.")]
)
def test_what_is_known_stays_what_it_was_measured_on(
    desk: Asked, end: Callable[[Asked], None]
) -> None:
    desk.session.set_gates(OFF)
    desk.effect.measure(Sample())
    desk.child.finished.emit(answer(loss=0.7))
    desk.effect.measure(Sample("a.tsv"))
    assert desk.effect.sample.corpus == "a.tsv"
    end(desk)
    assert (desk.effect.effect.after.loss, desk.effect.sample) == (0.7, Sample())


@pytest.mark.parametrize(
    ("fail", "said"),
    [
        (lambda desk: desk.child.failed.emit("No memory."), "No memory."),
        (lambda desk: desk.child.finished.emit(None), UNREADABLE),
        (lambda desk: desk.child.finished.emit({"sentences": 3}), UNREADABLE),
    ],
)
def test_a_failure_is_said_until_the_next_try(
    desk: Asked, fail: Callable[[Asked], None], said: str
) -> None:
    desk.session.set_gates(OFF)
    desk.effect.measure(Sample())
    fail(desk)
    assert (desk.effect.running, desk.effect.problem) == (False, said)
    desk.effect.measure(Sample())
    assert (desk.effect.running, desk.effect.problem) == (True, "")


def test_a_sample_without_minimal_pairs_has_no_pronouns() -> None:
    assert read_effect(answer()).after.pronoun is None
