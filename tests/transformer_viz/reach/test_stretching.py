"""Words inserted into the sentence, and the own one brought back, in the real controller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.transformer_viz.stage import GOOD, Stage
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.worker import Context
from transformer_viz.reach.stretching import MOST_WORDS, Stretching
from transformer_viz.shell.history import History

OWN = "a bridge that it crosses"


@pytest.fixture
def stage(qapp: object, qtbot: QtBot) -> Iterator[Stage]:
    stage = Stage()
    stage.controller.open(GOOD)
    stage.controller.translate(OWN)
    qtbot.waitUntil(stage.shows(OWN))
    yield stage
    stage.controller.close()


@pytest.fixture
def stretching(stage: Stage) -> Stretching:
    return stage.controller.stretching


def longer(words: int) -> str:
    first, rest = OWN.split(" ", 1)
    return " ".join([first, *["more"] * words, rest])


def test_the_sentence_grows_shrinks_and_comes_back(
    stage: Stage, stretching: Stretching, qtbot: QtBot
) -> None:
    stage.session.select(query=3, key=0)  # "it" at "a"
    for words in (2, 5, 1):
        stretching.stretch(words)
        assert stretching.words == words
        qtbot.waitUntil(stage.shows(longer(words)))
        assert stretching.own == OWN
        selection = stage.session.selection
        assert (selection.query, selection.key) == (3 + words, 0), "pins stay on their words"
    stretching.stretch(0)
    qtbot.waitUntil(stage.shows(OWN))
    assert not stretching.active
    assert (stage.session.selection.query, stage.session.selection.key) == (3, 0)


def test_of_several_lengths_asked_for_at_once_the_last_is_shown(
    stage: Stage, stretching: Stretching, qtbot: QtBot
) -> None:
    for words in range(1, 9):
        stretching.stretch(words)
    qtbot.waitUntil(stage.shows(longer(8)))
    stretching.restore()
    qtbot.waitUntil(stage.shows(OWN))


def test_an_edit_ends_it_and_stays(stage: Stage, stretching: Stretching, qtbot: QtBot) -> None:
    stretching.stretch(3)
    qtbot.waitUntil(stage.shows(longer(3)))
    stage.controller.translate("another text")
    assert not stretching.active
    assert stretching.words == 0
    qtbot.waitUntil(stage.shows("another text"))
    stretching.restore()
    assert stage.session.text == "another text"


def test_closing_remembers_the_own_sentence_with_what_was_selected_in_it(
    stage: Stage, stretching: Stretching, qtbot: QtBot
) -> None:
    stage.session.select(query=3, key=0)
    before = stage.session.selection
    stretching.stretch(6)
    qtbot.waitUntil(stage.shows(longer(6)))
    saved = []
    stage.controller._file.save = lambda settings: saved.append(settings)
    stage.controller.close()
    assert saved[-1].text == OWN
    assert saved[-1].selection == before


def test_a_drag_is_one_step_to_undo(stage: Stage, stretching: Stretching, qtbot: QtBot) -> None:
    history = History(stage.session, stage.controller, clock=lambda: 0.0)
    for words in (1, 2, 3):
        stretching.stretch(words)
        qtbot.waitUntil(stage.shows(longer(words)))
    history.undo()
    qtbot.waitUntil(stage.shows(OWN))
    assert not stretching.active
    assert not history.can_undo


def test_a_sentence_without_room_says_so(
    stage: Stage, stretching: Stretching, qtbot: QtBot
) -> None:
    stage.controller.translate("boom")
    stretching.stretch(2)
    qtbot.waitUntil(lambda: bool(stretching.problem))
    assert stretching.problem == "Nothing fits in here."
    assert stage.session.text == "boom"


def test_what_cannot_be_brought_back_is_not_stretched(
    stage: Stage, stretching: Stretching, qtbot: QtBot
) -> None:
    assert stretching.obstacle == ""
    stage.controller.translate("")
    assert "no sentence" in stretching.obstacle
    trace = stage.backend.explain("a trace", stage.controller.search, None)  # type: ignore[arg-type]
    stage.controller.show_trace(trace, Path("some.npz"))
    assert "comes from a file" in stretching.obstacle


@pytest.mark.parametrize(
    ("languages", "obstacle"),
    [
        (("fr", "en"), "Only English words can be inserted; this model reads French."),
        (("en", "fr"), ""),
        ((), ""),
    ],
)
def test_words_are_inserted_into_english_alone(
    stage: Stage, stretching: Stretching, languages: tuple[str, ...], obstacle: str
) -> None:
    model = stage.session.model
    assert model is not None
    known = {"imported": "MarianMT folder m", "languages": languages}
    stage.session.set_model(replace(model, provenance=known))
    assert stretching.obstacle == obstacle


def test_without_a_model_nothing_is_inserted(stage: Stage, stretching: Stretching) -> None:
    stage.session.set_model(None)
    assert stretching.obstacle == "Open a model to insert words."


def test_the_real_backend_pushes_words_of_the_grammar_in() -> None:
    text = "The animal didn't cross the street because it was too tired."
    grown = TorchBackend(1).stretch(text, 8, None)  # type: ignore[arg-type]
    assert len(grown.split()) == len(text.split()) + 8
    assert grown.endswith("because it was too tired.")
    assert TorchBackend(1).stretch(text, MOST_WORDS, Context.__new__(Context)).count(" ") == 74
