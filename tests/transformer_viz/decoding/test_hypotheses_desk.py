"""The hypotheses beside each other, on a real model."""

import math
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.decoding.beam_tree import NodeStatus
from core.text.tokens import Token
from core.trace.trace import AttentionKind, Trace
from tests.transformer_viz.decoding.decoding_desk import Desk, desk, tiny_model
from transformer_viz.decoding.hypotheses_desk import ANOTHER_MODEL, FROM_A_FILE, NO_MODEL
from transformer_viz.state.hypotheses import Candidate
from transformer_viz.state.session import ModelInfo, Search

__all__ = ["desk", "tiny_model"]


def named(desk: Desk) -> tuple[tuple[Candidate, ...], ...]:
    """The candidates of the active hypothesis, asked for."""
    desk.decoding.watch(True)
    desk.wait(lambda: desk.decoding.candidates is not None)
    assert desk.decoding.candidates is not None
    return desk.decoding.candidates


def another(desk: Desk, step: int) -> Candidate:
    """A candidate that was not taken and does not end."""
    taken = desk.decoding.hypotheses[0].ids[step]
    return next(
        one for one in named(desk)[step] if one.token.id != taken and one.token.piece != "</s>"
    )


def test_the_list_begins_with_the_models_own_translation(desk: Desk) -> None:
    (own,) = desk.decoding.hypotheses
    assert own is desk.decoding.active
    assert own.trace is desk.session.trace
    assert (own.number, own.origin, own.given) == (1, "greedy", 0)


def test_nothing_is_computed_until_somebody_looks(desk: Desk) -> None:
    assert desk.decoding.candidates is None
    steps = named(desk)
    own = desk.decoding.hypotheses[0]
    assert len(steps) == len(own.ids)
    assert own.trace.log_probabilities is not None
    for step, id, value in zip(steps, own.ids, own.trace.log_probabilities, strict=True):
        assert step[0].token.id == id  # greedy took the likeliest
        assert step[0].log_probability == pytest.approx(float(value), abs=1e-4)


def test_another_candidate_makes_a_branch_beside_the_original(desk: Desk) -> None:
    own, chosen = desk.decoding.hypotheses[0], another(desk, 2)
    desk.decoding.take(2, chosen)
    assert desk.decoding.asking
    desk.wait_for(2)
    branch = desk.decoding.hypotheses[1]
    assert desk.decoding.hypotheses[0] is own
    assert branch is desk.decoding.active
    assert branch.ids[:3] == (*own.ids[:2], chosen.token.id)
    assert branch.is_finished
    assert (branch.origin, branch.given) == ("branch of 1 at step 3", 3)
    assert desk.session.trace is branch.trace
    assert (desk.session.selection.kind, desk.session.selection.query) == (AttentionKind.CROSS, 2)
    assert desk.decoding.asking == ""


def test_a_branch_goes_on_greedily_with_its_own_candidates(desk: Desk) -> None:
    desk.decoding.take(2, another(desk, 2))
    desk.wait_for(2)
    branch = desk.decoding.hypotheses[1]
    steps = named(desk)
    assert [step[0].token.id for step in steps[3:]] == list(branch.ids[3:])
    assert steps[:3] != steps[3:6]


def test_the_attention_is_that_of_the_hypothesis(desk: Desk) -> None:
    own = desk.decoding.hypotheses[0]
    desk.decoding.take(1, another(desk, 1))
    desk.wait_for(2)
    branch = desk.decoding.hypotheses[1].trace
    same, other = (slice(0, 2), slice(2, 4))
    for kind in (AttentionKind.CROSS, AttentionKind.DECODER_SELF):
        before, after = own.trace.weights(kind, 2, 0), branch.weights(kind, 2, 0)
        np.testing.assert_allclose(after[same, :2], before[same, :2], atol=1e-5)
        assert not np.allclose(after[other, :2], before[other, :2], atol=1e-4)


def test_the_candidate_that_was_taken_only_leads_on(desk: Desk) -> None:
    taken = named(desk)[0][0]
    desk.decoding.take(0, taken)
    assert desk.decoding.walk.step == 1
    assert len(desk.decoding.hypotheses) == 1


def test_the_same_branch_again_is_the_same_hypothesis(desk: Desk) -> None:
    chosen = another(desk, 2)
    desk.decoding.take(2, chosen)
    desk.wait_for(2)
    desk.decoding.activate(1)
    assert desk.decoding.active is desk.decoding.hypotheses[0]
    desk.decoding.take(2, chosen)
    desk.wait(lambda: not desk.decoding.asking)
    assert len(desk.decoding.hypotheses) == 2
    assert desk.decoding.active is desk.decoding.hypotheses[1]


def test_a_typed_word_takes_the_place_of_a_token(desk: Desk) -> None:
    own = desk.decoding.hypotheses[0]
    desk.decoding.type_token(1, " Tier")
    desk.wait_for(2)
    typed = desk.decoding.hypotheses[1]
    pieces = typed.trace.predicted_tokens[1 : typed.given]
    assert "".join(token.piece for token in pieces) == "▁Tier"
    assert typed.ids[:1] == own.ids[:1]
    assert typed.origin == "typed into 1 at step 2"


def test_a_word_that_is_not_in_the_vocabulary_is_said_so(desk: Desk) -> None:
    desk.decoding.type_token(1, " 駅")
    desk.wait(lambda: bool(desk.decoding.problem))
    assert "“駅” is not in this model's vocabulary" in desk.decoding.problem
    assert len(desk.decoding.hypotheses) == 1
    assert not desk.decoding.asking


def test_a_prefix_without_room_for_more_is_said_so(desk: Desk) -> None:
    desk.decoding.type_token(1, " Tier" * 60)
    desk.wait(lambda: bool(desk.decoding.problem))
    assert "choose a shorter one" in desk.decoding.problem


def test_a_target_is_scored_by_teacher_forcing(desk: Desk) -> None:
    desk.decoding.score_target("Das Tier war müde.")
    desk.wait_for(2)
    target = desk.decoding.hypotheses[1]
    assert target.origin == "your own translation"
    assert target.trace.translation == "Das Tier war müde."
    assert target.is_finished
    values = target.trace.log_probabilities
    assert values is not None
    assert target.log_probability == pytest.approx(float(values.sum()))
    assert target.perplexity == pytest.approx(math.exp(-float(values.mean())))
    penalty = ((5 + len(target.ids)) / 6) ** 0.6
    assert target.score(0.6) == pytest.approx(float(values.sum()) / penalty)
    assert target.score(0.0) == pytest.approx(float(values.sum()))


def test_hypotheses_are_closed_and_the_own_translation_stays(desk: Desk) -> None:
    for step in (0, 1):
        desk.decoding.activate(1)
        desk.decoding.take(step, another(desk, step))
        desk.wait_for(step + 2)
    desk.decoding.close(3)
    assert [one.number for one in desk.decoding.hypotheses] == [1, 2]
    assert desk.decoding.active is desk.decoding.hypotheses[1]
    desk.decoding.close(1)
    assert [one.number for one in desk.decoding.hypotheses] == [1, 2]
    desk.decoding.activate(1)
    desk.decoding.take(3, another(desk, 3))
    desk.wait_for(3)
    assert desk.decoding.hypotheses[-1].number == 4  # a number is never given again


def test_another_text_begins_a_new_list(desk: Desk) -> None:
    desk.decoding.take(2, another(desk, 2))
    desk.wait_for(2)
    desk.translate("The dog slept.")
    (own,) = desk.decoding.hypotheses
    assert own.trace is desk.session.trace
    assert own.number == 1
    assert named(desk)[0][0].token.id == own.ids[0]


def test_a_branch_of_the_text_before_is_never_shown(desk: Desk) -> None:
    chosen = another(desk, 2)
    desk.decoding.take(2, chosen)
    desk.translate("The dog slept.")
    assert desk.decoding.asking == ""
    desk.qtbot.wait(50)
    assert [one.trace.text for one in desk.decoding.hypotheses] == ["The dog slept."]


def test_another_search_begins_a_new_list_that_says_so(desk: Desk) -> None:
    before = desk.session.trace
    desk.controller.set_search(Search(3, 0.6))
    desk.wait(lambda: desk.session.trace is not before)
    (own,) = desk.decoding.hypotheses
    assert own.origin == "beam 3"


# The beam tree


def grown(desk: Desk) -> None:
    desk.decoding.grow_tree()
    assert desk.decoding.growing
    desk.wait(lambda: desk.decoding.tree is not None)


def test_the_tree_has_the_beam_that_is_set_and_its_winner_is_the_translation(desk: Desk) -> None:
    before = desk.session.trace
    desk.controller.set_search(Search(3, 0.4))
    desk.wait(lambda: desk.session.trace is not before)
    grown(desk)
    tree = desk.decoding.tree
    assert tree is not None
    assert (tree.beam, tree.alpha) == (3, 0.4)
    assert tree.ids(tree.winner) == desk.decoding.hypotheses[0].ids
    desk.decoding.show_node(tree.winner)
    assert len(desk.decoding.hypotheses) == 1  # it is there already
    score = desk.decoding.hypotheses[0].score(0.4)
    assert tree.nodes[tree.winner].score == pytest.approx(score, abs=1e-4)


def test_a_node_shows_its_own_attention_and_makes_room_for_the_next(desk: Desk) -> None:
    grown(desk)
    tree = desk.decoding.tree
    assert tree is not None
    pruned = [i for i, node in enumerate(tree.nodes) if node.status is NodeStatus.PRUNED]
    for index in pruned[3:5]:
        shown = desk.session.trace
        desk.decoding.show_node(index)
        desk.wait(lambda shown=shown: desk.session.trace is not shown)
        active = desk.decoding.active
        assert active is not None
        assert active.ids == tree.ids(index)
        assert active.log_probability == pytest.approx(tree.nodes[index].log_probability, abs=1e-3)
        assert not active.is_finished
        assert active.score(0.6) is None
        assert desk.decoding.walk.step == tree.nodes[index].step
        assert len(desk.decoding.hypotheses) == 2
    assert desk.decoding.tree is tree


def test_an_unfinished_hypothesis_can_be_continued(desk: Desk) -> None:
    grown(desk)
    tree = desk.decoding.tree
    assert tree is not None
    index = next(i for i, node in enumerate(tree.nodes) if node.status is NodeStatus.PRUNED)
    desk.decoding.show_node(index)
    desk.wait_for(2)
    prefix = desk.decoding.hypotheses[1].ids
    desk.decoding.go_on()
    desk.wait_for(3)
    whole = desk.decoding.hypotheses[2]
    assert whole.ids[: len(prefix)] == prefix
    assert whole.is_finished
    assert whole.origin == "2 continued"


def test_another_text_takes_the_tree_away(desk: Desk) -> None:
    grown(desk)
    desk.translate("The dog slept.")
    assert desk.decoding.tree is None
    assert not desk.decoding.growing


# Without the model that made the trace


@pytest.mark.parametrize("wish", ["take", "type_token", "score_target", "grow_tree"])
def test_a_trace_from_a_file_has_no_candidates_and_says_why(
    desk: Desk, make_trace: Callable[..., Trace], wish: str
) -> None:
    made = make_trace()
    pieces = tuple(Token(token.piece, kind=token.kind) for token in made.predicted_tokens)
    desk.decoding.watch(True)
    desk.session.set_trace(replace(made, predicted_tokens=pieces))
    assert [one.origin for one in desk.decoding.hypotheses] == ["from a file"]
    assert desk.decoding.obstacle == FROM_A_FILE
    arguments: dict[str, tuple] = {
        "take": (0, Candidate(Token("x", 7), -1.0)),
        "type_token": (0, " x"),
        "score_target": ("x",),
        "grow_tree": (),
    }
    getattr(desk.decoding, wish)(*arguments[wish])
    assert desk.decoding.problem == FROM_A_FILE
    assert not desk.decoding.asking
    assert not desk.decoding.growing
    assert desk.decoding.candidates is None


def test_the_hypotheses_of_one_model_are_not_asked_of_another(desk: Desk) -> None:
    model = desk.session.model
    assert isinstance(model, ModelInfo)
    desk.session.set_model(replace(model, name="another"))
    assert desk.decoding.obstacle == ANOTHER_MODEL
    desk.session.set_model(None)
    assert desk.decoding.obstacle == NO_MODEL


def test_the_newest_wish_wins(desk: Desk) -> None:
    """A wish that waits while the engine is busy is replaced by the next."""
    gate, busy = threading.Event(), threading.Event()

    def hold(_backend: object, _context: object) -> None:
        busy.set()
        gate.wait(10)

    desk.engine.ask("explain", hold, done=lambda _: None, failed=lambda _: None)
    busy.wait(10)
    desk.decoding.score_target("Das Tier.")
    desk.decoding.score_target("Mein Bruder.")
    gate.set()
    desk.wait_for(2)
    assert desk.decoding.hypotheses[1].trace.translation == "Mein Bruder."
