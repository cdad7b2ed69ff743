from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_viz.state.languages import (
    TRAINED,
    UNKNOWN,
    asked_for,
    asking_for,
    fitted,
    language_name,
    like,
    sides,
    token_label,
)
from transformer_viz.state.session import ModelInfo

TOKENS = (">>afr<<", ">>deu<<", ">>zlm_Latn<<")


@pytest.mark.parametrize(
    ("code", "name"),
    [("de", "German"), ("deu", "German"), ("deu_Latn", "German"), ("xyz", "xyz"), ("C", "C")],
)
def test_languages_have_names_where_they_are_known(code: str, name: str) -> None:
    assert language_name(code) == name


def test_a_token_is_named_with_its_code() -> None:
    assert token_label(">>deu<<") == "German · deu"
    assert token_label(">>qqq<<") == "qqq"


@pytest.mark.parametrize(
    ("provenance", "expected"),
    [
        ({}, TRAINED),
        ({"data": ["grammar"]}, TRAINED),
        ({"imported": "MarianMT folder x", "languages": ["fr", "eng"]}, ("French", "English")),
        ({"imported": "MarianMT folder x", "languages": ["fr"]}, UNKNOWN),
        ({"imported": "Marian model x"}, UNKNOWN),
        ({"task": "parsing", "labels": ["NP"]}, ("English", "Tree")),
        ({"labels": ["NP"]}, TRAINED),
    ],
)
def test_both_sides_are_called_by_their_languages(
    provenance: dict[str, object], expected: tuple[str, str]
) -> None:
    model = ModelInfo("x", Path("x"), 1, 1, 1, 1, 8, 9, provenance)
    assert sides(model) == expected
    assert sides(None) == TRAINED


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (">>deu<< Hi", ">>deu<<"),
        ("  >>deu<<Hi", ">>deu<<"),
        ("Hi >>deu<<", ""),
        (">> deu<< Hi", ""),
        ("", ""),
    ],
)
def test_a_text_asks_for_the_language_that_it_begins_with(text: str, asked: str) -> None:
    assert asked_for(text) == asked


@given(st.text(), st.sampled_from(["", *TOKENS]), st.sampled_from(TOKENS))
def test_asking_for_another_language_changes_nothing_else(
    text: str, first: str, second: str
) -> None:
    if asked_for(text) or not text.strip():
        return
    asking = asking_for(first, text)
    assert asked_for(asking) == first
    assert asking_for(second, asking) == asking_for(second, text)
    assert asking_for("", asking) in (text, text.lstrip())


def test_nothing_is_asked_of_an_empty_text() -> None:
    assert asking_for(">>deu<<", "  ") == "  "
    assert asking_for(">>deu<<", ">>afr<<") == ""


def test_a_sentence_is_asked_for_in_the_language_of_another() -> None:
    assert like("Hi", ">>deu<< Ho") == ">>deu<< Hi"
    assert like(">>afr<< Hi", ">>deu<< Ho") == ">>afr<< Hi"
    assert like("Hi", "Ho") == "Hi"


@pytest.mark.parametrize(
    ("text", "languages", "before", "preferred", "expected"),
    [
        ("Hi", (), (), "", "Hi"),
        ("Hi", TOKENS, (), "", ">>afr<< Hi"),
        ("Hi", TOKENS, (), ">>deu<<", ">>deu<< Hi"),
        ("Hi", TOKENS, (), ">>fra<<", ">>afr<< Hi"),
        (">>deu<< Hi", TOKENS, (), ">>afr<<", ">>deu<< Hi"),
        (">>fra<< Hi", TOKENS, (">>fra<<",), "", ">>afr<< Hi"),
        (">>deu<< Hi", (), TOKENS, "", "Hi"),
        (">>b<< is HTML", (), (), "", ">>b<< is HTML"),
        ("", TOKENS, (), ">>deu<<", ""),
    ],
)
def test_a_text_is_made_to_fit_a_model(
    text: str,
    languages: tuple[str, ...],
    before: tuple[str, ...],
    preferred: str,
    expected: str,
) -> None:
    assert fitted(text, languages, before, preferred) == expected
