import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.transformer_viz.stage import GOOD, OTHER, Stage
from transformer_viz.shell import controller as controller_module
from transformer_viz.state.options import Penalty
from transformer_viz.state.session import MAX_CHARACTERS, Phase, Search


@pytest.fixture
def stage(qapp: object) -> Iterator[Stage]:
    made = Stage()
    yield made
    made.backend.gate.set()
    made.controller.close()


@pytest.fixture
def ready(stage: Stage, qtbot: QtBot) -> Stage:
    """A stage that shows the translation of "a b it c"."""
    stage.controller.translate("a b it c")
    stage.controller.open(GOOD)
    qtbot.waitUntil(stage.shows("a b it c"))
    return stage


def test_it_opens_on_the_head_that_the_model_names_for_it(ready: Stage) -> None:
    selection = ready.session.selection
    assert (selection.kind, selection.layer, selection.head) == ("encoder_self", 1, 2)
    assert selection.query == 2
    assert selection.key is None


def test_pins_stay_on_their_word_while_typing(ready: Stage, qtbot: QtBot) -> None:
    ready.controller.translate("a new b it c")
    qtbot.waitUntil(ready.shows("a new b it c"))
    assert ready.session.selection.query == 3
    ready.session.select(head=0)
    ready.controller.translate("nothing left")
    qtbot.waitUntil(ready.shows("nothing left"))
    assert ready.session.selection.query is None
    assert ready.session.selection.head == 0, "a chosen head stays chosen"


def test_fast_typing_ends_at_the_last_text(ready: Stage, qtbot: QtBot) -> None:
    asked = len(ready.backend.explained)
    for length in range(1, 60):
        ready.controller.translate("x" * length)
    qtbot.waitUntil(ready.shows("x" * 59))
    assert len(ready.backend.explained) - asked < 10


def test_a_superseded_answer_is_never_shown(ready: Stage, qtbot: QtBot) -> None:
    ready.backend.gate.clear()
    ready.backend.busy.clear()
    ready.controller.translate("old")
    qtbot.waitUntil(ready.backend.busy.is_set)
    ready.backend.busy.clear()
    ready.controller.translate("new")
    qtbot.wait(20)
    ready.backend.gate.set()
    qtbot.waitUntil(ready.shows("new"))
    assert [trace.text for trace in ready.traces if trace] == ["a b it c", "new"]


def test_a_slow_answer_makes_the_old_picture_stale(ready: Stage, qtbot: QtBot) -> None:
    ready.backend.gate.clear()
    ready.controller.translate("slow")
    qtbot.waitUntil(lambda: ready.phase is Phase.BUSY)
    assert ready.session.trace is not None
    assert ready.session.trace.text == "a b it c"
    ready.backend.gate.set()
    qtbot.waitUntil(ready.shows("slow"))


@pytest.mark.parametrize("text", ["", "   ", "\n \t\u2028"])
def test_without_words_nothing_is_shown(ready: Stage, qtbot: QtBot, text: str) -> None:
    ready.controller.translate("typed before")
    ready.controller.translate(text)
    assert ready.phase is Phase.EMPTY
    assert ready.session.trace is None
    qtbot.wait(50)
    assert ready.session.trace is None


def test_a_text_beyond_the_limit_is_refused_in_one_sentence(ready: Stage) -> None:
    asked = len(ready.backend.explained)
    ready.controller.translate("word " * (MAX_CHARACTERS // 5 + 1))
    assert ready.phase is Phase.FAILED
    assert f"{MAX_CHARACTERS:,}" in ready.session.status.message
    assert ready.session.trace is not None
    assert len(ready.backend.explained) == asked


def test_a_failed_translation_keeps_the_last_good_trace(ready: Stage, qtbot: QtBot) -> None:
    ready.controller.translate("boom")
    qtbot.waitUntil(lambda: ready.phase is Phase.FAILED)
    assert ready.session.status.message == "Cannot translate this."
    assert ready.session.trace is not None
    assert ready.session.trace.text == "a b it c"
    ready.controller.translate("fine again")
    qtbot.waitUntil(ready.shows("fine again"))


def test_a_failed_load_keeps_the_last_good_model_and_says_why(ready: Stage, qtbot: QtBot) -> None:
    ready.controller.open(Path("bad.safetensors"))
    qtbot.waitUntil(lambda: bool(ready.notices))
    assert ready.notices == ["bad.safetensors is truncated."]
    qtbot.waitUntil(ready.shows("a b it c"))
    assert ready.session.model is not None
    assert ready.session.model.path == GOOD
    assert ready.controller.settings.recent_files == (str(GOOD),)


def test_another_model_translates_the_text_again(ready: Stage, qtbot: QtBot) -> None:
    asked = len(ready.backend.explained)
    ready.controller.open(OTHER)
    qtbot.waitUntil(lambda: len(ready.backend.explained) > asked)
    qtbot.waitUntil(ready.shows("a b it c"))
    assert ready.session.model is not None
    assert ready.session.model.name == "other"
    assert ready.controller.settings.recent_files == (str(OTHER), str(GOOD))


def test_without_any_model_the_failure_is_shown(stage: Stage, qtbot: QtBot) -> None:
    stage.controller.translate("hello")
    stage.controller.open(Path("bad.safetensors"))
    qtbot.waitUntil(lambda: stage.phase is Phase.FAILED)
    assert stage.session.status.message == "bad.safetensors is truncated."


def test_where_the_first_model_fails_the_bundled_one_is_shown(
    stage: Stage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller_module, "bundled_models", lambda: [GOOD])
    stage.controller.translate("hello")
    stage.controller.open_first(Path("bad.safetensors"))
    qtbot.waitUntil(stage.shows("hello"))
    assert len(stage.notices) == 1
    assert "truncated" in stage.notices[0]


def test_the_search_is_asked_again_and_remembered(ready: Stage, qtbot: QtBot) -> None:
    ready.controller.set_search(Search(5, 0.9))
    qtbot.waitUntil(lambda: ready.backend.explained[-1] == ("a b it c", Search(5, 0.9)))
    settings = ready.controller.settings
    assert (settings.beam, settings.beam_size, settings.alpha) == (5, 5, 0.9)
    ready.controller.set_search(Search(1, 0.9))
    assert ready.controller.settings.beam_size == 5
    ready.controller.set_search(Search(1, 0.9, Penalty.NONE))
    assert ready.controller.settings.penalty is Penalty.NONE
    assert ready.controller.search == Search(1, 0.9, Penalty.NONE)


def test_closing_while_the_engine_works_leaves_no_thread(qtbot: QtBot) -> None:
    stage = Stage()
    stage.controller.translate("slow")
    stage.controller.open(GOOD)
    qtbot.waitUntil(lambda: stage.session.model is not None)
    stage.controller.close()
    assert "engine" not in {thread.name for thread in threading.enumerate()}
