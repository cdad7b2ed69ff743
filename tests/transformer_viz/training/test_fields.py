from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from core.config import ModelConfig
from core.errors import UserError
from core.presets import PRESETS, preset
from core.training.config import TrainingConfig
from transformer_viz.training.fields import (
    CHOICES,
    COMMON,
    ELSEWHERE,
    Field,
    all_fields,
    documented,
    values,
)

FIELDS = {field.name: field for group in all_fields().values() for field in group}


def test_every_setting_is_there_once_and_says_what_it_means() -> None:
    names = [
        field.name for part in (TrainingConfig, ModelConfig) for field in dataclasses.fields(part)
    ]
    listed = [field.name for group in all_fields().values() for field in group]
    assert sorted([*listed, *ELSEWHERE]) == sorted({*names, *ELSEWHERE})
    assert [name for name, field in FIELDS.items() if not field.meaning] == []
    assert next(iter(all_fields())) == COMMON


@pytest.mark.parametrize("name", CHOICES)
def test_the_choices_are_those_that_the_configuration_allows(name: str) -> None:
    base = preset("tiny").with_settings({"device": "cuda"})
    for choice in CHOICES[name]:
        base.with_settings({name: choice})
    with pytest.raises(UserError):
        base.with_settings({name: "something else"})


@pytest.mark.parametrize("name", PRESETS)
def test_what_is_shown_is_read_back_as_it_was(name: str) -> None:
    for setting, value in values(preset(name)).items():
        if setting in ELSEWHERE:
            continue
        field = FIELDS[setting]
        if field.kind is bool:
            assert isinstance(value, bool)
            continue
        assert field.read(field.show(value)) == value, setting


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("steps", "1_000", 1000),
        ("steps", "1,500", 1500),
        ("dropout", "0,1", 0.1),
        ("adam_epsilon", "1,5e-9", 1.5e-9),
        ("clip_norm", "", None),
        ("dropout", " 1e-1 ", 0.1),
        ("device", "cuda:1", "cuda:1"),
        ("licence", "42", "42"),
        (
            "probes",
            " It is red_brown.\n\nHe said, [no]. \n",
            ("It is red_brown.", "He said, [no]."),
        ),
        ("probes", " \n", ()),
        ("probes", "It ran => Es lief\na dog ⇥ ein Hund", ("It ran\tEs lief", "a dog\tein Hund")),
        ("probes", "from a table\taus einer Tabelle", ("from a table\taus einer Tabelle",)),
    ],
)
def test_typed_texts_become_values(name: str, text: str, value: Any) -> None:
    assert FIELDS[name].read(text) == value


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("steps", "many", "“many” is not a number"),
        ("steps", "null", "“null” is not a number"),
        ("steps", "", "Type a number"),
        ("steps", "1,5", "“1,5” is not a whole number"),
        ("clip_norm", "Infinity", "“Infinity” is not a number"),
        ("clip_norm", "1,500", "can be read in two ways; type 1.5 or 1500"),
    ],
)
def test_what_is_no_number_is_refused_with_the_reason(name: str, text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        FIELDS[name].read(text)


def test_labels_are_words_but_for_the_letters_of_the_paper() -> None:
    def label(name: str) -> str:
        return Field(name, int, False, (), "").label

    assert label("label_smoothing") == "Label smoothing"
    assert label("encoder_d_ff") == "Encoder d_ff"
    assert label("d_model") == "d_model"


def test_the_docstring_is_read_entry_by_entry() -> None:
    class Documented:
        """Text.

        Attributes:
            one, two: both of them,
                over two lines.
            three: ``code``.
        """

    assert documented(Documented) == {
        "one": "both of them, over two lines.",
        "two": "both of them, over two lines.",
        "three": "code.",
    }
