from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from core.analysis import uptake
from core.analysis.uptake import word_uptakes
from core.bundled import model_path
from core.checkpoints.native import Checkpoint, load_checkpoint
from core.text.function_words import ENGLISH, function_words


@pytest.fixture(scope="module")
def plain() -> Checkpoint:
    return load_checkpoint(model_path("plain-en-de"))


def by_whole_pass(plain: Checkpoint, source: Sequence[int], target: Sequence[int]) -> float:
    config = plain.config
    with torch.no_grad():
        logits = plain.model(
            torch.tensor([[*source, config.eos_id]]), torch.tensor([[config.bos_id, *target]])
        )
    chosen = logits[0, : len(target)].double().log_softmax(dim=-1)
    return float(chosen[torch.arange(len(target)), torch.tensor(target)].sum())


def test_it_is_what_the_translation_loses_without_the_word(plain: Checkpoint) -> None:
    tokens = plain.tokenizer.tokens("The old king loves the dog.")
    target = plain.tokenizer.target.encode("Der alte König liebt den Hund.")
    found = word_uptakes(plain.model, tokens, target, ENGLISH)
    assert [one.word for one in found] == ["old", "king", "loves", "dog"]
    ids = [token.id for token in tokens]
    whole = by_whole_pass(plain, ids, target)
    for one in found:
        without = [id for place, id in enumerate(ids) if place not in one.span]
        expected = whole - by_whole_pass(plain, without, target)
        assert one.nats == pytest.approx(expected, abs=1e-3)
        assert not one.is_untranslated


@pytest.mark.parametrize(
    ("text", "translation", "left"),
    [
        ("The old king loves the dog.", "Der König liebt den Hund.", ["old"]),
        ("The king loves the old dog.", "Der König liebt den Hund.", ["old"]),
        ("The woman wants to buy the new book.", "Die Frau will das Buch kaufen.", ["new"]),
        ("The woman wants to buy the new book.", "Die Frau will das neue Buch kaufen.", []),
    ],
)
def test_a_word_without_a_counterpart_is_left_untranslated(
    plain: Checkpoint, text: str, translation: str, left: list[str]
) -> None:
    target = plain.tokenizer.target.encode(translation)
    found = word_uptakes(plain.model, plain.tokenizer.tokens(text), target, ENGLISH)
    assert [one.word for one in found if one.is_untranslated] == left


def test_function_words_and_punctuation_are_left_out(plain: Checkpoint) -> None:
    tokens = plain.tokenizer.tokens("It wasn't there, was it?")
    found = word_uptakes(plain.model, tokens, plain.tokenizer.target.encode("Nein."), ENGLISH)
    assert [one.word for one in found] == ["wasn't"]


def test_an_empty_translation_takes_up_nothing(plain: Checkpoint) -> None:
    found = word_uptakes(plain.model, plain.tokenizer.tokens("Dogs sleep."), [], ENGLISH)
    assert [one.is_untranslated for one in found] == [True, True]


def test_a_long_text_is_not_asked_about(plain: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uptake, "MOST_TOKENS", 3)
    assert word_uptakes(plain.model, plain.tokenizer.tokens("The dogs sleep."), [5], ENGLISH) == []


def test_it_stops_where_it_is_told_to(plain: Checkpoint) -> None:
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        word_uptakes(plain.model, plain.tokenizer.tokens("Dogs."), [5], ENGLISH, check=stop)


def test_other_languages_have_no_list() -> None:
    assert function_words("en") is function_words("eng") is ENGLISH
    assert function_words("de") is function_words("") is None
    assert "not" not in ENGLISH
    assert not [word for word in ENGLISH if word.endswith("n't")]
