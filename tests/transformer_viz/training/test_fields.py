from __future__ import annotations

import dataclasses
import re
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
    all_fields,
    in_words,
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
        ("pruned_heads", "", ()),
        ("pruned_heads", " encoder:1.2 \n\ncross:2.1", ("encoder_self.0.1", "cross.1.0")),
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
        ("pruned_heads", "the third one", "“the third one”|'the third one'|the third one"),
        ("clip_norm", "Infinity", "“Infinity” is not a number"),
        ("clip_norm", "1,500", "can be read in two ways; type 1.5 or 1500"),
    ],
)
def test_what_is_no_number_is_refused_with_the_reason(name: str, text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        FIELDS[name].read(text)


def test_every_label_is_another_and_none_is_a_name_in_python() -> None:
    """Letters of the paper stay as they are."""
    labels = [field.label for field in FIELDS.values()]
    assert len(set(labels)) == len(labels)
    for label in labels:
        assert re.fullmatch(r"d_\w+", label) or label[0].isupper()
        assert "_" not in label.replace("d_ff", "").replace("d_", "")


def test_heads_are_shown_as_people_count_them() -> None:
    assert (
        FIELDS["pruned_heads"].show(("encoder_self.0.1", "cross.1.0")) == "encoder:1.2\ncross:2.1"
    )


@pytest.mark.parametrize("python", ["None", "null", "True", "False", " core.", "``", "tuple"])
def test_no_meaning_speaks_python(python: str) -> None:
    assert [name for name, field in FIELDS.items() if python in field.meaning + field.empty] == []
    assert all(field.meaning.endswith(".") for field in FIELDS.values())


def test_each_field_that_may_be_empty_says_what_that_stands_for() -> None:
    assert {name: field.empty for name, field in FIELDS.items() if field.optional} == {
        "licence": "not stated",
        "clip_norm": "no limit",
        "start_from": "new weights",
        "early_stopping": "never",
        "threads": "as many as are fastest",
        "d_k": "d_model / heads",
        "d_v": "the same as d_k",
    }


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"clip_norm": -1.0},
            "“Largest gradient norm” = -1.0 is not possible; allowed: above 0, or",
        ),
        ({"max_length": 1}, "the smaller of “Source tokens per batch” and “Target tokens per"),
        ({"d_model": 6}, "a divisor of d_model = 6, or set d_k"),
        ({"probes": ("",)}, "with its translation after =>"),
        ({"average_last": 9}, "allowed: at most “Checkpoints kept” = 2"),
    ],
)
def test_what_the_configuration_refuses_is_told_in_the_words_of_the_form(
    settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as raised:
        preset("tiny").with_settings({"encoder_heads": 4} | settings)
    told = in_words(str(raised.value))
    assert sentence in told
    assert "null" not in told
