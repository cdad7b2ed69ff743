"""The parse command: a tree for every line in, and scores of a parser."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from core.checkpoints.card import model_card
from core.checkpoints.header import read_header
from core.checkpoints.native import save_checkpoint
from core.cli import main
from core.decoding.config import SearchConfig
from core.decoding.hypothesis import Hypothesis
from core.evaluation import parsing
from core.evaluation.parsing import Parse, Question, generated_gold, parse_all, score_parses
from core.parsing.gold import is_held_out, parsing_pair
from core.parsing.linear import rebuilt
from core.parsing.trees import read_tree
from core.text.sentence_pieces import train_tokenizer
from tests.core.model.small import small_transformer

LABELS = ["NP", "S", "VP"]
GOLD = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))"
DECODING = {"beam": 2, "alpha": 0.3, "max_extra": 20}


@pytest.fixture
def parser(tmp_path: Path) -> Path:
    lines = ["the dog barks.", "S NP DT NN /NP VP VBZ /VP . /S"]
    tokenizer = train_tokenizer(lines * 9, 60, [f"/{label}" for label in LABELS])
    path = tmp_path / "parser.safetensors"
    about = {"task": "parsing", "labels": LABELS, "decoding": DECODING}
    save_checkpoint(path, small_transformer(vocab_size=tokenizer.vocab_size), tokenizer, about)
    return path


def test_a_valid_tree_over_the_words_for_each_line(
    parser: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["the dog barks.", "", "(the dog) didn't"]
    words = [("the", "dog", "barks", "."), (), ("-LRB-", "the", "dog", "-RRB-", "didn't")]
    assert main(["parse", "--model", str(parser), *texts]) == 0
    output = capsys.readouterr()
    lines = output.out.removesuffix("\n").split("\n")
    for line, expected in zip(lines, words, strict=True):
        assert (read_tree(line).words() if line else ()) == expected
    assert "of 3 had to be repaired" in output.err

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"the dog.\nbarks")))
    assert main(["parse", "--model", str(parser), "--tokenized", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["words"] for one in found] == [["the", "dog."], ["barks"]]
    for one in found:
        tree, repairs = rebuilt(one["output"].split(), one["words"], LABELS)
        assert (one["tree"], sum(one["repairs"].values())) == (str(tree), repairs.count)


def test_scores_of_a_file_are_recorded_for_the_card(
    parser: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = tmp_path / "gold.mrg"
    gold.write_text(f"( {GOLD} )\n{GOLD.replace('dog', 'animal')}\n")
    assert main(["parse", "--model", str(parser), "--gold", str(gold), "--json", "--record"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["gold"] == "gold.mrg"
    assert (result["beam"], result["alpha"]) == (2, 0.3)
    assert result["trees"]["sentences"] == 2
    header = read_header(parser)
    assert header.left_out == ()
    assert header.provenance["scores"]["parsing"] == result
    card = model_card("parser", header)
    assert "## Labelled brackets of gold trees: gold.mrg" in card
    assert f"| F1 | {result['trees']['f1']:.2f} |" in card
    assert "| task | parsing |" in card


@pytest.mark.parametrize("words", ["evaluate --gold", "heads", "ablate --each", "distance"])
def test_measures_of_translations_lead_here(
    words: str, parser: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words.split(), "--model", str(parser)]) == 1
    assert "parse --gold" in capsys.readouterr().err


def test_scores_on_generated_sentences_are_told_apart(
    parser: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--gold", "grammar", "--sentences", "4", "--beam", "1"]
    assert main(["parse", "--model", str(parser), *words]) == 0
    output = capsys.readouterr().out
    assert "4 sentences with held-out combinations of words" in output
    assert "1 sentence with held-out patterns" in output
    assert output.count("F1 ") == 2


def test_generated_gold_is_unseen_in_both_ways() -> None:
    gold = generated_gold(20, seed=1)
    assert (len(gold.known), len(gold.held_out)) == (20, 4)
    assert all(is_held_out(parsing_pair(tree)[1]) for tree in gold.held_out)
    assert not any(is_held_out(parsing_pair(tree)[1]) for tree in gold.known)


def test_gold_tags_are_used_and_failures_counted() -> None:
    gold = read_tree(GOLD)
    for output, f1 in (
        ("S NP XX XX /NP VP XX /VP XX /S", 100.0),
        ("", 50.0),  # the one bracket of a flat S
    ):
        tree, repairs = rebuilt(output.split(), gold.words(), LABELS)
        score = score_parses([gold], [Parse(tree, repairs, output, 0.0, 0.0)])
        assert score.f1 == f1
        assert score.failed == 0


def test_the_best_hypothesis_that_is_a_tree_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = train_tokenizer(["the dog", "S NP DT NN /NP /S"], 60, ["/NP", "/S"])
    texts = ["S NP DT /NP", "S NP DT NN /NP /S", "NP DT NN /NP"]
    found = [Hypothesis(tuple(tokenizer.encode(text)), -at, -at) for at, text in enumerate(texts)]
    for hypotheses, rank, repairs in ((found, 1, 0), (found[:1], 0, 2), (found[2:], 0, 0)):
        asked: list[SearchConfig] = []

        def ranked(model: object, sources: object, config: SearchConfig, **more: object) -> object:
            asked.append(config)  # noqa: B023
            return [hypotheses]  # noqa: B023

        monkeypatch.setattr(parsing, "ranked_hypotheses", ranked)
        question = Question("the dog", ("the", "dog"))
        model = small_transformer(vocab_size=tokenizer.vocab_size)
        config = SearchConfig(beam=3)
        (parse,) = parse_all(model, tokenizer, ["NP", "S"], [question], config)
        assert (parse.rank, parse.repairs.count) == (rank, repairs)
        assert parse.output == tokenizer.decode(hypotheses[rank].ids)
        assert asked[0].n_best == 3


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--record", "a"], "add --gold"),
        (["--longest", "1", "the dog barks"], "Line 1 has"),
        (["--sentences", "0", "--gold", "grammar"], "--sentences"),
        (["--gold", "absent.mrg"], "absent.mrg"),
    ],
)
def test_refusals(
    parser: Path, words: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["parse", "--model", str(parser), *words]) == 1
    assert what in capsys.readouterr().err


def test_a_translator_is_no_parser(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = train_tokenizer(["the dog"], 20)
    path = tmp_path / "small.safetensors"
    save_checkpoint(path, small_transformer(vocab_size=tokenizer.vocab_size), tokenizer, {})
    assert main(["parse", "--model", str(path), "a"]) == 1
    assert "small.safetensors is not a parser" in capsys.readouterr().err
