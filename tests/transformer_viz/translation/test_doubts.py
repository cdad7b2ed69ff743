from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.bundled import model_path
from core.text.function_words import ENGLISH
from core.text.tokens import Token, TokenKind
from core.trace.trace import Trace
from tests.transformer_viz.stage import GOOD, OTHER, Stage, word_trace
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.worker import Context
from transformer_viz.state.session import ModelInfo, Search
from transformer_viz.translation.doubts import SourceDoubt, SourceMark, TranslationDoubts

CONTEXT = Context(stale=lambda: False, report=lambda text: None)
PROVENANCE = {"known_words": ["mind", "otter", "box"], "rare_words": {"1": "box", "7": "otter"}}


def model(path: Path = GOOD, **provenance: object) -> ModelInfo:
    return ModelInfo(path.stem, path, 2, 2, 3, 3, 8, 100, provenance)


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    """A stage whose model knows three words, two of them rarely seen."""
    made = Stage()
    load = made.backend.load
    made.backend.load = lambda path, context: replace(load(path, context), provenance=PROVENANCE)
    made.controller.translate("mind")
    made.controller.open(GOOD)
    qtbot.waitUntil(made.shows("mind"))
    yield made
    made.backend.gate.set()
    made.controller.close()


@pytest.fixture
def desk(stage: Stage) -> TranslationDoubts:
    return stage.controller.doubts


def settled(stage: Stage, text: str) -> Callable[[], bool]:
    return lambda: stage.shows(text)() and not stage.controller.doubts.asking


def test_rare_and_unseen_words_are_marked_with_the_trace(
    stage: Stage, desk: TranslationDoubts, qtbot: QtBot
) -> None:
    stage.controller.translate("Mind the otter, box")
    qtbot.waitUntil(stage.shows("Mind the otter, box"))
    assert desk.marks == (
        SourceMark(5, 8, SourceDoubt.UNSEEN, "“the” was never seen in training."),
        SourceMark(9, 14, SourceDoubt.RARE, "“otter” was rarely seen in training (7 times)."),
        SourceMark(16, 19, SourceDoubt.RARE, "“box” was rarely seen in training (once)."),
    )


def test_what_is_left_untranslated_follows(
    stage: Stage, desk: TranslationDoubts, qtbot: QtBot
) -> None:
    stage.controller.translate("mind box")
    qtbot.waitUntil(stage.shows("mind box"))
    assert desk.asking
    assert [mark.doubt for mark in desk.marks] == [SourceDoubt.RARE]
    qtbot.waitUntil(settled(stage, "mind box"))
    left = desk.marks[-1]
    assert (left.start, left.end, left.doubt) == (5, 8, SourceDoubt.UNTRANSLATED)
    assert left.about.startswith("“box” is left untranslated")
    assert desk.verdict.startswith("Probably wrong: “box” is left untranslated, “box” was rarely")
    assert desk.is_bad


def test_a_sentence_without_doubts_says_nothing(
    stage: Stage, desk: TranslationDoubts, qtbot: QtBot
) -> None:
    qtbot.waitUntil(settled(stage, "mind"))
    assert (desk.marks, desk.verdict, desk.is_bad) == ((), "", False)


def test_low_probabilities_are_counted_at_once(
    stage: Stage, desk: TranslationDoubts, qtbot: QtBot
) -> None:
    stage.session.set_trace(word_trace("mind mind mind", step=float(np.log(0.4))))
    assert desk.verdict == "Probably wrong: 3 of 3 words are guesses."


def test_a_measured_model_has_its_own_threshold(stage: Stage, desk: TranslationDoubts) -> None:
    stage.session.set_model(model(OTHER, scores={"doubts": {"threshold": 1.5}}))
    stage.session.set_trace(word_trace("mind mind", step=-3.0))
    assert (desk.verdict, desk.is_bad) == ("2 of 2 words are guesses.", False)


def test_an_older_file_lists_no_counts(stage: Stage, desk: TranslationDoubts) -> None:
    stage.session.set_model(model(OTHER, known_words=["mind"]))
    stage.session.set_trace(word_trace("mind otter"))
    assert [(mark.start, mark.doubt) for mark in desk.marks] == [(5, SourceDoubt.UNSEEN)]
    stage.session.set_model(model(OTHER))
    stage.session.set_trace(word_trace("mind otter"))
    assert desk.marks == ()


def test_characters_outside_the_vocabulary_are_marked(
    stage: Stage, desk: TranslationDoubts
) -> None:
    tokens = (
        Token("▁mind", start=0, end=4),
        Token("<unk>", kind=TokenKind.UNKNOWN, start=5, end=6, surface="日"),
        Token("<0xF0>", kind=TokenKind.BYTE, start=6, end=7),
        Token("</s>", kind=TokenKind.SPECIAL),
    )
    numbered = tuple(replace(token, id=place + 4) for place, token in enumerate(tokens))
    stage.session.set_trace(replace(word_trace("mind 日😀"), source_tokens=numbered))
    unknown = [mark for mark in desk.marks if "vocabulary" in mark.about]
    assert [(mark.start, mark.end) for mark in unknown] == [(5, 6), (6, 7)]


def test_of_a_trace_from_a_file_only_the_translation_is_judged(
    stage: Stage, desk: TranslationDoubts, trace: Trace, qtbot: QtBot
) -> None:
    before = len(stage.backend.asked_about)
    stage.controller.show_trace(word_trace("otter", step=-2.0), Path("a.npz"))
    assert (desk.marks, desk.asking) == ((), False)
    assert desk.verdict == "Probably wrong: 1 of 1 words is a guess."
    assert len(stage.backend.asked_about) == before


def test_other_languages_are_not_asked_about(stage: Stage, desk: TranslationDoubts) -> None:
    stage.session.set_model(model(OTHER, imported="x", languages=["de", "en"]))
    stage.session.set_trace(word_trace("box"))
    assert not desk.asking


def test_a_newer_text_goes_first(stage: Stage, desk: TranslationDoubts, qtbot: QtBot) -> None:
    qtbot.waitUntil(settled(stage, "mind"))
    stage.backend.asked_about.clear()
    for text in ("mind b", "mind bo", "mind box"):
        stage.controller.translate(text)
        qtbot.waitUntil(stage.shows(text))
    qtbot.waitUntil(settled(stage, "mind box"))
    assert [trace.text for trace in stage.backend.asked_about] == ["mind box"]


def test_the_text_that_is_typed_back_is_asked_about_again(
    stage: Stage, desk: TranslationDoubts, qtbot: QtBot
) -> None:
    stage.session.set_trace(word_trace("mind box"))
    assert desk.asking
    stage.session.textChanged.emit("other")
    assert desk.asking, "it is only put off"
    qtbot.waitUntil(lambda: not desk.asking)
    assert desk.verdict.startswith("Probably wrong")


def test_nothing_is_left_when_the_text_is_gone(
    stage: Stage, desk: TranslationDoubts, qtbot: QtBot
) -> None:
    stage.session.set_trace(word_trace("box"))
    stage.controller.translate("")
    assert (desk.marks, desk.verdict, desk.asking) == ((), "", False)


def test_the_real_engine_finds_the_word_that_was_dropped() -> None:
    backend = TorchBackend(1)
    backend.load(model_path("plain-en-de"), CONTEXT)
    text = "The old king loves the dog."
    trace = backend.explain(text, Search(), CONTEXT, "Der König liebt den Hund.")
    found = backend.uptakes(trace, ENGLISH, CONTEXT)
    assert [one.word for one in found if one.is_untranslated] == ["old"]
