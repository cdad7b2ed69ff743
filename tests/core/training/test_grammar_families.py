from __future__ import annotations

import pytest

from core.corpus.grammar.generate import FAMILIES, generate
from core.errors import UserError
from core.presets import preset
from core.training.preparation import unwatched
from core.training.survey import fingerprint, take_survey
from core.training.texts import grammar_sample

SMALL = preset("tiny").training
CHOSEN = preset("tiny").with_settings(
    {"grammar_families": ["question", "passive"], "grammar_pairs": 40, "validation_pairs": 10}
)


def test_only_the_chosen_families_are_generated() -> None:
    made = list(grammar_sample(CHOSEN.training))
    assert {sentence.family for sentence in made} == {"question", "passive"}
    assert made == list(generate(40, seed=1, families=["question", "passive"]))


def test_none_stands_for_all() -> None:
    made = list(grammar_sample(SMALL))
    assert made == list(generate(SMALL.grammar_pairs, seed=1, families=list(FAMILIES)))


def test_the_run_says_which_and_prepares_anew_for_others() -> None:
    survey = take_survey(CHOSEN.training, unwatched)
    assert survey.report == ["question, passive: 40 new pairs per epoch"]
    expected = generate(10, seed=1, split="test", families=["question", "passive"])
    assert set(survey.validation) == {sentence.source for sentence in expected}
    assert survey.made_of != fingerprint(SMALL, unwatched)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_sentences_to_train_and_to_validate_on(family: str) -> None:
    for split in ("train", "test"):
        made = list(generate(3, seed=1, split=split, families=[family]))
        assert [sentence.family for sentence in made] == [family] * 3


@pytest.mark.parametrize("families", [["rhyme"], ["passive", "passive"]])
def test_unknown_and_repeated_families_are_refused(families: list[str]) -> None:
    with pytest.raises(UserError, match=r"^grammar_families = .* each once of coreference"):
        preset("tiny").with_settings({"grammar_families": families})
