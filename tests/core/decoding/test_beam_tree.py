"""The tree of a beam search against a search in plain Python, on probabilities written by hand."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.decoding.beam_growth import grow_tree
from core.decoding.beam_tree import BeamTree, NodeStatus
from core.decoding.config import SearchConfig
from core.decoding.penalty import length_penalty
from core.decoding.search import search, search_memory, source_batch
from core.errors import UserError
from core.text.tokens import Token
from tests.core.decoding.scripted import CONFIG, END, Script, ScriptedModel, table, words
from tests.core.model.small import random_ids, small_transformer

GARDEN = table({"": {"a": 0.6, "b": 0.4}, "a": {"c": 0.51, "d": 0.49}, "b": {"e": 0.9, END: 0.1}})
"""Greedy takes a; the best whole output begins with b."""

Seen = dict[str, tuple[str, float]]
"""Text of each hypothesis, "." at the end of a finished one → status, log-probability."""


def letter(id: int) -> Token:
    return Token(END if id == CONFIG.eos_id else words([id]), id)


def grown(script: Script, **settings_: object) -> BeamTree:
    model = ScriptedModel(script)
    config = SearchConfig(**settings_)  # type: ignore[arg-type]
    return grow_tree(model, model.sources()[0], config, letter)


def seen(tree: BeamTree) -> Seen:
    return {
        "".join(tree.nodes[one].token.piece for one in tree.path(index)): (
            node.status.value,
            node.log_probability,
        )
        for index, node in enumerate(tree.nodes)
    }


def plain_search(script: Script, beam: int, alpha: float, limit: int) -> Seen:
    """Beam search as one would write it on paper; it stops where no live one can win any more."""

    def score(log_probability: float, length: int) -> float:
        return log_probability / length_penalty(length, alpha)

    live: list[tuple[float, str]] = [(0.0, "")]
    tree: Seen = {}
    finished: dict[str, float] = {}
    for length in range(1, limit + 1):
        grown = [
            (log_probability + math.log(probability), text + token)
            for log_probability, text in live
            for token, probability in script(text).items()
            if length < limit or token == END
        ]
        best = sorted(grown, reverse=True)[: 2 * beam]
        tree |= {text: ("pruned", log_probability) for log_probability, text in best}
        for log_probability, text in best[:beam]:
            if text.endswith(END):
                finished[text] = score(log_probability, length)
                tree[text] = ("finished", log_probability)
        live = [one for one in best if not one[1].endswith(END)][:beam]
        tree |= {text: ("kept", log_probability) for log_probability, text in live}
        if not live:
            break
        reachable = max(score(live[0][0], length + 1), score(live[0][0], limit))
        if finished and max(finished.values()) >= reachable:
            break
    winner = max(finished, key=lambda text: finished[text])
    return tree | {winner: ("winner", tree[winner][1])}


def random_script(seed: int) -> Script:
    def script(prefix: str) -> dict[str, float]:
        generator = torch.Generator().manual_seed(hash((seed, *map(ord, prefix))) % 2**63)
        shares = torch.rand(5, generator=generator, dtype=torch.float64) ** 3 + 1e-3
        return dict(zip((*"abcd", END), (shares / shares.sum()).tolist(), strict=True))

    return script


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    beam=st.integers(1, 4),
    alpha=st.floats(-1.0, 2.0),
    limit=st.integers(1, 5),
)
def test_the_tree_is_that_of_a_plain_search(seed: int, beam: int, alpha: float, limit: int) -> None:
    script = random_script(seed)
    found = seen(grown(script, beam=beam, alpha=alpha, max_length=limit))
    expected = plain_search(script, beam, alpha, limit)
    assert {text: status for text, (status, _) in found.items()} == {
        text: status for text, (status, _) in expected.items()
    }
    for text, (_, log_probability) in expected.items():
        assert found[text][1] == pytest.approx(log_probability, abs=1e-5)


def test_what_becomes_of_each_hypothesis() -> None:
    tree = grown(GARDEN, beam=2, alpha=0.0)
    assert {text: status for text, (status, _) in seen(tree).items()} == {
        "a": "kept",
        "b": "kept",
        "be": "kept",
        "ac": "kept",
        "ad": "pruned",
        "b.": "pruned",
        "be.": "winner",
        "ac.": "finished",
    }
    assert tree.steps == 3
    assert [node.step for node in tree.nodes] == sorted(node.step for node in tree.nodes)


def test_paths_lead_from_the_first_token_and_children_back() -> None:
    tree = grown(GARDEN, beam=2, alpha=0.0)
    path = tree.path(tree.winner)
    assert [tree.nodes[one].token.piece for one in path] == ["b", "e", END]
    assert [tree.nodes[one].parent for one in path] == [None, *path[:-1]]
    assert tree.ids(tree.winner) == tuple(tree.nodes[one].token.id for one in path)
    for one, after in itertools.pairwise(path):
        assert after in tree.children(one)
    assert tree.children(tree.winner) == ()


def test_only_finished_ones_have_a_score_and_it_has_the_penalty() -> None:
    tree = grown(GARDEN, beam=2, alpha=0.6)
    ended = (NodeStatus.FINISHED, NodeStatus.WINNER)
    for node in tree.nodes:
        assert (node.score is not None) == (node.status in ended)
    winner = tree.nodes[tree.winner]
    assert winner.score == pytest.approx(math.log(0.36) / ((5 + 3) / 6) ** 0.6, abs=1e-6)
    assert (tree.beam, tree.alpha, tree.penalty) == (2, 0.6, "gnmt")


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_the_winner_is_what_search_returns_on_a_real_model(beam: int) -> None:
    model = small_transformer(seed=2)
    source = random_ids(5).tolist()
    config = SearchConfig(beam=beam, max_extra=6)
    tree = grow_tree(model, source, config, lambda id: Token(str(id), id))
    (best,) = search(model, [source], config)[0]
    winner = tree.nodes[tree.winner]
    assert tree.ids(tree.winner) == (*best.ids, model.config.eos_id)
    assert winner.log_probability == pytest.approx(best.log_probability, abs=1e-5)
    assert winner.score == pytest.approx(best.score, abs=1e-5)


def test_being_watched_changes_nothing() -> None:
    model = small_transformer(seed=2)
    config = SearchConfig(beam=3, n_best=3, max_extra=6)
    steps: list[int] = []
    with torch.inference_mode():
        source = source_batch(model, [random_ids(5).tolist()])
        memory = model.encode(source)
        unwatched = search_memory(model, memory, source, config)
        watched = search_memory(
            model,
            memory,
            source,
            config,
            observer=lambda candidates, ended, kept: steps.append(len(kept.tokens[0])),
        )
    assert watched == unwatched
    assert set(steps) == {3}


def test_a_check_stops_the_search() -> None:
    def stop() -> None:
        raise InterruptedError

    model = ScriptedModel(GARDEN)
    with pytest.raises(InterruptedError):
        grow_tree(model, model.sources()[0], SearchConfig(beam=2), letter, stop)


def test_a_damaged_model_is_refused() -> None:
    model = small_transformer()
    model.output_embedding.weight.data.fill_(math.nan)
    with pytest.raises(UserError, match="damaged"):
        grow_tree(model, [5, 6], SearchConfig(beam=2), lambda id: Token(str(id), id))
