from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.stage import GOOD, OTHER, Stage, word_trace
from transformer_viz.compare.comparison import Comparison, Sides, facing_head
from transformer_viz.state.bundled import counterpart, minimal_pairs
from transformer_viz.state.session import ModelInfo, Phase, Search

MakeTrace = Callable[..., Trace]
PAIR = minimal_pairs()[0]


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    """A stage that shows "a b it c" and whose comparison is watched."""
    made = Stage()
    made.controller.translate("a b it c")
    made.controller.open(GOOD)
    qtbot.waitUntil(made.shows("a b it c"))
    made.controller.comparison.watch(True)
    yield made
    made.backend.gate.set()
    made.controller.close()


@pytest.fixture
def comparison(stage: Stage) -> Comparison:
    return stage.controller.comparison


def texts(comparison: Comparison) -> tuple[str, str] | None:
    sides = comparison.sides
    return None if sides is None else (sides.a.text, sides.b.text)


def show(qtbot: QtBot, comparison: Comparison, a: str, b: str) -> None:
    qtbot.waitUntil(lambda: comparison.status.phase is Phase.READY and texts(comparison) == (a, b))


def test_without_a_choice_there_is_nothing_to_compare(stage: Stage, comparison: Comparison) -> None:
    assert comparison.status.phase is Phase.EMPTY
    assert comparison.status.message.startswith("Type a second sentence")
    comparison.choose_text("a b it c")
    assert comparison.status.message.startswith("The two sides are identical.")
    comparison.choose_text("  ")
    assert comparison.text is None
    assert stage.backend.compared == []


def test_a_second_sentence_is_read_by_the_session_s_model(
    stage: Stage, comparison: Comparison, qtbot: QtBot
) -> None:
    comparison.choose_text("a b it d")
    show(qtbot, comparison, "a b it c", "a b it d")
    assert stage.backend.compared == [(GOOD, "a b it d")]
    assert comparison.sides is not None
    assert comparison.sides.same_model


def test_editing_the_first_sentence_asks_for_the_second_no_more(
    stage: Stage, comparison: Comparison, qtbot: QtBot
) -> None:
    comparison.choose_text("a b it d")
    show(qtbot, comparison, "a b it c", "a b it d")
    stage.controller.translate("a c")
    show(qtbot, comparison, "a c", "a b it d")
    assert len(stage.backend.compared) == 1


def test_a_second_model_follows_the_sentence(
    stage: Stage, comparison: Comparison, qtbot: QtBot
) -> None:
    comparison.choose_model(OTHER)
    show(qtbot, comparison, "a b it c", "a b it c")
    stage.controller.translate("new words")
    show(qtbot, comparison, "new words", "new words")
    assert comparison.sides is not None
    assert comparison.sides.model_b.path == OTHER
    assert stage.session.model is not None
    assert stage.session.model.path == GOOD, "the session's model is left alone"


def test_the_second_sentence_follows_the_session_s_model_and_search(
    stage: Stage, comparison: Comparison, qtbot: QtBot
) -> None:
    comparison.choose_text("b")
    show(qtbot, comparison, "a b it c", "b")
    stage.controller.open(OTHER)
    qtbot.waitUntil(lambda: stage.backend.compared[-1] == (OTHER, "b"))
    show(qtbot, comparison, "a b it c", "b")
    assert comparison.sides is not None
    assert comparison.sides.same_model
    stage.controller.set_search(Search(4, 1.0))
    qtbot.waitUntil(lambda: len(stage.backend.compared) == 3)
    show(qtbot, comparison, "a b it c", "b")


def test_a_sentence_of_a_minimal_pair_is_compared_with_the_other(
    stage: Stage, comparison: Comparison, qtbot: QtBot
) -> None:
    stage.controller.translate(PAIR.second)
    show(qtbot, comparison, PAIR.second, PAIR.first)
    assert comparison.text is None
    assert comparison.implied_text == PAIR.first
    stage.controller.translate("no pair")
    qtbot.waitUntil(lambda: comparison.status.phase is Phase.EMPTY)
    assert comparison.sides is None


def test_a_pair_is_one_choice(stage: Stage, comparison: Comparison, qtbot: QtBot) -> None:
    comparison.textWanted.connect(stage.controller.translate)
    comparison.choose_text("b")
    comparison.choose_model(OTHER)
    comparison.choose_pair(PAIR)
    show(qtbot, comparison, *PAIR)
    assert comparison.path is None
    assert PAIR.label == "tired / wide"
    assert counterpart("no pair") is None


def test_the_newest_question_wins(stage: Stage, comparison: Comparison, qtbot: QtBot) -> None:
    stage.backend.gate.clear()
    stage.backend.busy.clear()
    shown = []
    comparison.changed.connect(lambda: shown.append(texts(comparison)))
    comparison.choose_text("old")
    stage.backend.busy.wait(10)
    comparison.choose_text("older")
    comparison.choose_text("new")
    stage.backend.gate.set()
    show(qtbot, comparison, "a b it c", "new")
    assert set(shown) == {None, ("a b it c", "new")}
    assert [text for _, text in stage.backend.compared] == ["old", "new"]


def test_sides_that_are_shown_belong_together(
    stage: Stage, comparison: Comparison, qtbot: QtBot
) -> None:
    """With two models a new sentence replaces both traces at once."""
    comparison.choose_model(OTHER)
    show(qtbot, comparison, "a b it c", "a b it c")
    shown = []
    comparison.changed.connect(lambda: shown.append((comparison.status.phase, texts(comparison))))
    stage.controller.translate("next")
    show(qtbot, comparison, "next", "next")
    assert shown[0] == (Phase.BUSY, ("a b it c", "a b it c"))
    assert all(a == b for _, both in shown if both is not None for a, b in [both])


def test_a_failure_is_a_sentence_and_keeps_what_was_shown(
    stage: Stage, comparison: Comparison, qtbot: QtBot
) -> None:
    comparison.choose_text("b")
    show(qtbot, comparison, "a b it c", "b")
    comparison.choose_model(Path("broken.safetensors"))
    qtbot.waitUntil(lambda: comparison.status.phase is Phase.FAILED)
    assert comparison.status.message == "broken.safetensors is truncated."
    assert texts(comparison) == ("a b it c", "b")
    comparison.choose_model(Path("broken.safetensors"))
    assert comparison.status.phase is Phase.BUSY, "choosing it again tries again"
    comparison.choose_model(None)
    assert comparison.status.phase is Phase.READY
    assert len(stage.backend.compared) <= 3


def test_nothing_is_computed_unwatched(stage: Stage, comparison: Comparison, qtbot: QtBot) -> None:
    comparison.watch(False)
    comparison.choose_text("b")
    stage.controller.translate("x y")
    qtbot.waitUntil(stage.shows("x y"))
    assert stage.backend.compared == []
    comparison.watch(True)
    show(qtbot, comparison, "x y", "b")


def test_swapping_sentences(stage: Stage, comparison: Comparison, qtbot: QtBot) -> None:
    comparison.sentenceWanted.connect(stage.controller.replace_sentence)
    comparison.choose_text("b")
    show(qtbot, comparison, "a b it c", "b")
    comparison.swap()
    show(qtbot, comparison, "b", "a b it c")


def test_swapping_models(stage: Stage, comparison: Comparison, qtbot: QtBot) -> None:
    comparison.choose_model(OTHER)
    show(qtbot, comparison, "a b it c", "a b it c")
    comparison.swap()
    qtbot.waitUntil(
        lambda: (
            comparison.sides is not None
            and (comparison.sides.model_a.path, comparison.sides.model_b.path) == (OTHER, GOOD)
        )
    )


def test_a_trace_from_a_file_is_compared_with_the_model_by_words(
    stage: Stage, comparison: Comparison, qtbot: QtBot
) -> None:
    made = word_trace("a b it c")
    anonymous = tuple(replace(token, id=-1) for token in made.source_tokens)
    stage.controller.show_trace(replace(made, source_tokens=anonymous), Path("x.npz"))
    show(qtbot, comparison, "a b it c", "a b it c")
    sides = comparison.sides
    assert sides is not None
    assert sides.model_a is None
    assert sides.model_b.path == GOOD
    assert not sides.same_model
    assert not sides.same_vocabulary
    assert comparison.implied_text == "a b it c"
    first = Head(AttentionKind.ENCODER_SELF, 1, 2)
    assert comparison.second_head(first) == first
    comparison.textWanted.connect(stage.controller.translate)
    comparison.choose_text("b")
    show(qtbot, comparison, "a b it c", "b")
    comparison.swap()
    assert stage.session.text == "a b it c", "it stays A"


def test_the_head_of_b(stage: Stage, comparison: Comparison, qtbot: QtBot) -> None:
    first = Head(AttentionKind.CROSS, 1, 0)
    comparison.choose_text("b")
    show(qtbot, comparison, "a b it c", "b")
    assert comparison.second_head(first) == first
    comparison.choose_model(OTHER)
    show(qtbot, comparison, "a b it c", "b")
    assert comparison.second_head(first) == first
    comparison.choose_head(0, 7)
    assert comparison.second_head(first) == Head(AttentionKind.CROSS, 0, 2), "the nearest"
    comparison.choose_model(None)
    assert comparison.second_head(first) == first


def test_the_heads_that_both_models_name_for_it_face_each_other(make_trace: MakeTrace) -> None:
    def model(kind: str, layer: int, head: int) -> ModelInfo:
        scores = {"it_head": {"kind": kind, "layer": layer, "head": head}}
        return ModelInfo("m", Path("m"), 2, 3, 3, 2, 8, 100, {"scores": scores})

    trace = make_trace()
    a, b = model("encoder_self", 0, 2), model("encoder_self", 1, 1)
    sides = Sides(trace, trace, a, b)
    self_attention = AttentionKind.ENCODER_SELF
    assert facing_head(sides, Head(self_attention, 0, 2)) == Head(self_attention, 1, 1)
    assert facing_head(sides, Head(self_attention, 0, 1)) == Head(self_attention, 0, 1)
    other_kind = Sides(trace, trace, a, model("cross", 1, 1))
    assert facing_head(other_kind, Head(self_attention, 0, 2)) == Head(self_attention, 0, 2)
