"""Provenance of any form: what is wrong is left out and named, and nothing raises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bundled import bundled_models
from core.checkpoints.card import model_card
from core.checkpoints.header import Header, read_header
from core.checkpoints.native import save_checkpoint
from core.checkpoints.provenance import checked, left_out_note, source_language
from core.checkpoints.split import split_of
from core.cli import main
from core.config import ModelConfig
from core.decoding.config import SearchConfig
from tests.core.checkpoints.test_native import TOKENIZER, model_for_tokenizer

CONFIG = ModelConfig(vocab_size=10, d_model=8, encoder_heads=2, decoder_heads=2)
PAIR = {"first": 1.0, "second": 2, "both": 0}
WRONG: list[tuple[Any, str]] = [
    *((value, "provenance") for value in (None, 5, "x", [], [1], True)),
    *(({"scores": value}, "scores") for value in (5, None, "x", [])),
    *(({"known_words": value}, "known_words") for value in (5, None, "x", [1], {})),
    *(
        ({"rare_words": value}, "rare_words")
        for value in (5, None, ["otter"], {"3": 1}, {"x": "otter"}, {"0": "otter"}, {"20": "otter"})
    ),
    *(({"decoding": value}, "decoding") for value in ("x", None, 5, [], {}, {"beam": 4})),
    ({"decoding": {"beam": 0, "alpha": 1.0}}, "decoding"),
    ({"decoding": {"beam": 4, "alpha": 1.0, "penalty": 5}}, "decoding"),
    ({"decoding": {"beam": 4, "alpha": 1.0, "unheard": 5}}, "decoding"),
    *(({"languages": value}, "languages") for value in (5, "en", [1, 2], None)),
    *(({"data": value}, "data") for value in (5, "x", [None], None)),
    *(({"validation": value}, "validation") for value in (5, [5])),
    *(({"training": value}, "training") for value in (5, None, "x", [])),
    ({"training": {"max_length": "x"}}, "training.max_length"),
    ({"training": {"max_length": 10**12}}, "training.max_length"),
    *(({"step": value}, "step") for value in (None, "x", -1, 1.5, True, 2**70)),
    *(({"software": value}, "software") for value in (5, None, "x")),
    *(({"licence": value}, "licence") for value in (5, [], {})),
    *(({"imported": value}, "imported") for value in (5, None, [])),
    *(({"command": value}, "command") for value in (5, None, [])),
    *(({"attribution": value}, "attribution") for value in (5, None, [5])),
    *(({"scores": {"gold": value}}, "scores.gold") for value in (5, None, {}, {"pairs": 1})),
    *(({"scores": {"it_head": value}}, "scores.it_head") for value in (5, {}, {"kind": []})),
    *(({"scores": {"doubts": value}}, "scores.doubts") for value in (5, {}, {"threshold": 0.5})),
    ({"scores": {"it_head": {"kind": "cross", "layer": "x", "head": 1}}}, "scores.it_head"),
    ({"scores": {"dev.tsv": {"bleu": "x"}}}, "scores.dev.tsv"),
    ({"scores": {"dev.tsv": []}}, "scores.dev.tsv"),
]


@pytest.mark.parametrize(("values", "name"), WRONG)
def test_what_is_wrong_is_left_out_and_named(values: Any, name: str) -> None:
    kept, left_out = checked(values)
    assert left_out == (name,)
    if isinstance(values, dict):
        kept, left_out = checked({**values, "seed": 1})
        assert kept["seed"] == 1
        assert left_out == (name,)
    assert name in left_out_note("m.safetensors", left_out)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["gold", "it_head", "kind", "layer", "head", "bleu", "beam", "alpha", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
NAMES = [
    *(
        "scores",
        "known_words",
        "rare_words",
        "decoding",
        "data",
        "validation",
        "languages",
        "training",
        "step",
    ),
    *("software", "licence", "imported", "command", "averaged", "seed", "source", "unheard"),
]


@given(st.dictionaries(st.sampled_from(NAMES), json_values))
def test_whatever_it_says_it_can_be_used(values: dict[str, Any]) -> None:
    kept, left_out = checked(values)
    model_card("m", Header(CONFIG, kept, 1, left_out))
    split_of("a.tsv", kept)
    SearchConfig.of_model(kept)
    assert checked(kept) == (kept, ())


@pytest.mark.parametrize("path", bundled_models(), ids=lambda path: path.stem)
def test_of_our_own_models_nothing_is_left_out(path: Path) -> None:
    assert read_header(path).left_out == ()


@pytest.fixture
def altered(tmp_path: Path) -> Path:
    path = tmp_path / "m.safetensors"
    save_checkpoint(path, model_for_tokenizer(), TOKENIZER, {"scores": 5, "decoding": "x"})
    return path


@pytest.mark.parametrize("option", [[], ["--json"], ["--card"]])
def test_info_names_it(
    altered: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(altered), *option]) == 0
    said = capsys.readouterr()
    assert said.err == (
        "m.safetensors describes itself with values of the wrong form, which are ignored: "
        "scores, decoding.\n"
    )


def test_it_translates(altered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", "--model", str(altered), "a"]) == 0
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.parametrize(
    ("provenance", "language"),
    [
        ({}, "en"),
        ({"imported": "x", "languages": ["de", "fr"]}, "de"),
        ({"imported": "x", "languages": ["fr"]}, ""),
        ({"imported": "x"}, ""),
    ],
)
def test_the_language_that_a_model_reads(provenance: dict[str, object], language: str) -> None:
    assert source_language(provenance) == language
