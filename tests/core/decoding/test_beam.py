"""Beam search on probabilities written by hand: every outcome is known."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.decoding.beam import Candidates, beam_search, ending, extended, going_on
from core.decoding.config import SearchConfig
from core.decoding.hypothesis import Hypothesis
from core.decoding.penalty import normalised
from core.decoding.search import proceed, search
from tests.core.decoding.scripted import END, Script, ScriptedModel, table, words

NEVER = float("-inf")


def decode(model: ScriptedModel, **settings: object) -> list[list[Hypothesis]]:
    return search(model, model.sources(), SearchConfig(**settings))  # type: ignore[arg-type]


def best(model: ScriptedModel, **settings: object) -> tuple[str, float]:
    """The winner of the first sentence and its probability."""
    hypothesis = decode(model, **settings)[0][0]
    return words(hypothesis.ids), math.exp(hypothesis.log_probability)


SHORT_OR_LONG = table({"": {"a": 0.5, "b": 0.5}, "b": {"c": 0.9, END: 0.1}})
"""a. has probability 0.5, bc. has 0.45."""


@pytest.mark.parametrize(
    ("alpha", "penalty", "winner"),
    [
        (0.0, "gnmt", "a"),
        (0.6, "gnmt", "a"),  # ln 0.5 / (7/6)^0.6 = -0.632, ln 0.45 / (8/6)^0.6 = -0.672
        (2.0, "gnmt", "bc"),  # -0.509, -0.449
        (0.6, "length", "bc"),  # -0.457, -0.413
        (-1.0, "length", "a"),
    ],
)
def test_the_length_penalty_decides(alpha: float, penalty: str, winner: str) -> None:
    text, probability = best(ScriptedModel(SHORT_OR_LONG), beam=2, alpha=alpha, penalty=penalty)
    assert text == winner
    assert probability == pytest.approx({"a": 0.5, "bc": 0.45}[winner])


def test_the_first_to_end_on_top_need_not_win() -> None:
    trap = table({"": {END: 0.51, "a": 0.49}, "a": {"b": 1.0}})
    text, probability = best(ScriptedModel(trap), beam=2, alpha=1.0)
    assert text == "ab"  # ln 0.49 / (8/6) = -0.535 against ln 0.51 = -0.673
    assert probability == pytest.approx(0.49)
    assert best(ScriptedModel(trap), beam=2, alpha=0.0)[0] == ""


def test_search_stops_as_soon_as_nothing_can_win_and_no_sooner() -> None:
    # The live hypothesis keeps probability 0.4 for ever; it ends only when it must.
    endless = table({"": {END: 0.6, "a": 0.4}} | {"a" * n: {"a": 1.0} for n in range(1, 60)})
    model = ScriptedModel(endless)
    assert best(model, beam=2, alpha=0.0)[0] == ""
    assert model.steps == 1  # without a penalty 0.6 stays ahead of 0.4
    model = ScriptedModel(endless)
    assert best(model, beam=2, alpha=0.6)[0] == ""
    assert model.steps == 52  # ln 0.4 / lp(52) = -0.237: it might still win, up to the limit


def test_a_worse_path_wins_that_greedy_never_sees() -> None:
    garden = table({"": {"a": 0.6, "b": 0.4}, "a": {"c": 0.5, "d": 0.5}, "b": {"e": 0.9, END: 0.1}})
    assert best(ScriptedModel(garden), beam=1, alpha=0.0) == ("ac", pytest.approx(0.3))
    assert best(ScriptedModel(garden), beam=2, alpha=0.0) == ("be", pytest.approx(0.36))


def test_an_end_below_the_beam_does_not_count() -> None:
    # "." is second: with one hypothesis it would not have survived as a token.
    second = table({"": {"a": 0.6, END: 0.4}, "a": {END: 0.55, "b": 0.45}})
    model = ScriptedModel(second)
    memory = model.encode(torch.tensor([[4, 3]]))
    config = SearchConfig(beam=1, alpha=0.0)
    ((one,),) = beam_search(model, memory, torch.tensor([[4, 3]]), [9], config, proceed)
    assert words(one.ids) == "a"
    assert math.exp(one.log_probability) == pytest.approx(0.33)
    assert best(ScriptedModel(second), beam=2, alpha=0.0) == ("", pytest.approx(0.4))


@pytest.mark.parametrize("beam", [1, 2, 3])
def test_at_the_limit_the_end_is_forced_and_counted(beam: int) -> None:
    on_and_on = table({"a" * n: {"a": 0.9, END: 0.1} for n in range(60)})
    limited = best(ScriptedModel(on_and_on), beam=beam, alpha=50.0, max_length=3)
    assert limited == ("aa", pytest.approx(0.9 * 0.9 * 0.1))
    # One token and the end token of input, one more of output.
    text, _ = best(ScriptedModel(on_and_on), beam=beam, alpha=50.0, max_extra=1)
    assert text == "aa"


def test_hypotheses_that_change_places_keep_their_own_past() -> None:
    # After step 2 both survivors descend from the second row, after step 3 they cross.
    crossing = table(
        {
            "": {"a": 0.55, "b": 0.45},
            "a": {"c": 0.34, "d": 0.33, "e": 0.33},
            "b": {"f": 0.55, "g": 0.45},
            "bf": {"a": 0.5, "b": 0.5},
            "bg": {"c": 1.0},
            "bgc": {"h": 1.0},
        }
    )
    text, probability = best(ScriptedModel(crossing), beam=2, alpha=0.0)
    assert (text, probability) == ("bgch", pytest.approx(0.45 * 0.45))


def test_sentences_leave_the_batch_one_by_one_and_none_notices() -> None:
    scripts = [
        table({}),
        SHORT_OR_LONG,
        table({"": {"a": 0.6, "b": 0.4}, "a": {"c": 0.4, "d": 0.6}, "ad": {"h": 1.0}}),
    ]
    for settings_ in ({"beam": 2, "alpha": 0.6}, {"beam": 1}, {"beam": 3, "n_best": 2}):
        model = ScriptedModel(*scripts)
        together = decode(model, **settings_)
        assert model.rows[0] == 3 * settings_["beam"]
        assert model.rows == sorted(model.rows, reverse=True)
        assert model.rows[-1] < model.rows[0]
        alone = [
            search(ScriptedModel(*scripts), [source], SearchConfig(**settings_))[0]
            for source in model.sources()
        ]
        assert together == alone


def test_the_n_best_are_all_there() -> None:
    model = ScriptedModel(SHORT_OR_LONG)
    found = decode(model, beam=3, n_best=3, alpha=0.0)[0]
    assert [words(one.ids) for one in found] == ["a", "bc", "b"]
    assert [math.exp(one.log_probability) for one in found] == pytest.approx([0.5, 0.45, 0.05])


def random_script(seed: int, letters: str) -> Script:
    """Random probabilities for the letters and the end, the same for the same prefix."""

    def script(prefix: str) -> dict[str, float]:
        generator = torch.Generator().manual_seed(hash((seed, *map(ord, prefix))) % 2**63)
        shares = torch.rand(len(letters) + 1, generator=generator, dtype=torch.float64) ** 3 + 1e-3
        return dict(zip((*letters, END), (shares / shares.sum()).tolist(), strict=True))

    return script


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    alpha=st.floats(-1.5, 2.5),
    penalty=st.sampled_from(["gnmt", "length"]),
    limit=st.integers(1, 4),
    n_best=st.integers(1, 4),
)
def test_a_beam_as_wide_as_the_space_finds_the_best_of_all(
    seed: int, alpha: float, penalty: str, limit: int, n_best: int
) -> None:
    script = random_script(seed, "ab")
    scores = []
    for length in range(limit):
        for letters in itertools.product("ab", repeat=length):
            text = "".join(letters)
            log_probability = sum(
                math.log(script(text[:at])[letter]) for at, letter in enumerate(text + END)
            )
            scores.append(normalised(log_probability, length + 1, alpha, penalty))
    config = SearchConfig(beam=16, alpha=alpha, penalty=penalty, max_length=limit, n_best=n_best)
    model = ScriptedModel(script)
    found = search(model, model.sources(), config)[0]
    expected = sorted(scores, reverse=True)[:n_best]
    assert [one.score for one in found] == pytest.approx(expected, rel=1e-5, abs=1e-6)


def candidates(rows: list[list[tuple[float, int, int]]]) -> Candidates:
    values = torch.tensor(rows, dtype=torch.float64)
    return Candidates(values[..., 0].float(), values[..., 1].long(), values[..., 2].long())


def test_endings_count_within_the_beam_only_and_never_from_nothing() -> None:
    end = 3
    some = candidates(
        [
            [(-1.0, 1, end), (-2.0, 0, 5), (-3.0, 0, end), (-4.0, 1, 6)],
            [(-1.0, 0, 5), (NEVER, 1, end), (NEVER, 1, 5), (NEVER, 1, 6)],
        ]
    )
    assert list(ending(some, 2, end)) == [(0, 1, -1.0)]


def test_what_goes_on_keeps_its_order() -> None:
    end = 3
    some = candidates([[(-1.0, 1, end), (-2.0, 0, 5), (-3.0, 0, end), (-4.0, 1, 6)]])
    rest = going_on(some, 2, end)
    assert rest.tokens.tolist() == [[5, 6]]
    assert rest.parents.tolist() == [[0, 1]]
    assert rest.log_probabilities.tolist() == [[-2.0, -4.0]]


def test_a_prefix_grows_from_its_parent() -> None:
    prefixes = torch.tensor([[[2, 7], [2, 8]]])
    grown = extended(prefixes, candidates([[(-1.0, 1, 5), (-2.0, 1, 6)]]))
    assert grown.tolist() == [[[2, 8, 5], [2, 8, 6]]]
