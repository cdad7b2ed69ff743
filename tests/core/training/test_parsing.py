"""A run whose target is a tree: its data, its vocabulary, and what its model says of itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.checkpoints.native import load_checkpoint
from core.decoding.config import PARSING, SearchConfig
from core.errors import UserError
from core.parsing.gold import is_held_out
from core.presets import preset
from core.text.sentence_pieces import SentencePieceTokenizer, train_tokenizer
from core.training.config import RunConfig
from core.training.events import Event
from core.training.generation import generated_epoch
from core.training.preparation import unwatched
from core.training.run import start_run
from core.training.survey import take_survey
from core.training.vocabulary import tokenizer_lines, tree_names

TREE = "( (S (NP-SBJ (DT the) (NN {})) (VP (VBZ sees) (NP (PRP$ its) (NN {}))) (. .)) )\n"
WORDS = ("dog", "cat", "cow", "fox", "owl", "bee", "ant", "hen")


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "wsj.mrg"
    path.write_text("".join(TREE.format(a, b) for a in WORDS for b in WORDS))
    return path


def tiny(**settings: object) -> RunConfig:
    return preset("tiny").with_settings(
        {
            **{"task": "parsing", "vocab_size": 150, "d_model": 16, "steps": 3, "warmup": 1},
            **{"validation_pairs": 3, "validate_every": 3, "checkpoint_every": 3, "threads": 1},
            **{"probe_points": 1, "device": "cpu", "product": "torch", **settings},
        }
    )


def test_a_run_on_a_file_of_trees(tmp_path: Path, trees: Path) -> None:
    events: list[Event] = []
    start_run(
        tmp_path / "run",
        tiny(data=[str(trees)]),
        command="transformer-viz train parse",
        tell=events.append,
        should_stop=lambda: False,
    )
    checkpoint = load_checkpoint(tmp_path / "run" / "model.safetensors")
    about, tokenizer = checkpoint.provenance, checkpoint.tokenizer
    assert about["task"] == "parsing"
    assert about["labels"] == ["NP", "S", "VP"]
    assert SearchConfig.of_model(about) == PARSING
    assert checkpoint.left_out == ()
    target = "S NP DT NN /NP VP VBZ NP PRP$ NN /NP /VP . /S"
    pieces = tokenizer.encode(target)
    assert [tokenizer.token(id).label for id in pieces] == target.split()
    assert tokenizer.decode(pieces) == target


def test_generated_trees_leave_out_the_held_out_patterns() -> None:
    config = tiny(grammar_pairs=150).training
    survey = take_survey(config, unwatched)
    names = tree_names(survey, config, unwatched)
    lines = tokenizer_lines(survey, config, unwatched, names.plain)
    tokenizer: SentencePieceTokenizer = train_tokenizer(lines, 800, names.divided)
    epoch = generated_epoch(0, tokenizer=tokenizer, config=config)
    targets = [tokenizer.decode(pair.target) for pair in epoch]
    assert not any(map(is_held_out, targets))
    assert 130 <= len(targets) < 150
    assert all(
        target.startswith("S") and target.endswith(("/S", "/SQ", "/SBARQ")) for target in targets
    )
    assert all(one.startswith("S") for texts in survey.validation.values() for one in texts)


def test_translations_are_no_trees(write_copies: Callable[..., Path], tmp_path: Path) -> None:
    path = write_copies(tmp_path / "copies.tsv", 20)
    with pytest.raises(UserError, match=r"copies.tsv, line 1: '.+' stands outside of any tree"):
        take_survey(tiny(data=[str(path)]).training, unwatched)


@pytest.mark.parametrize("settings", [{"task": "singing"}, {"gloss_weight": 1.0}])
def test_settings_that_do_not_fit(settings: dict[str, object]) -> None:
    with pytest.raises(UserError, match=next(iter(settings))):
        tiny(**settings)
