import argparse
import json
from pathlib import Path

import pytest

from core.commands import corpus
from core.corpus.grammar.generate import generate
from core.errors import UserError
from core.parsing.gold import gold_tree
from core.parsing.reader import TreeReader


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    corpus.add_arguments(parser)
    return corpus.run(parser.parse_args(arguments))


def test_prints_source_and_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--count", "3", "--seed", "5") == 0
    expected = [f"{each.source}\t{each.target}" for each in generate(3, seed=5)]
    assert capsys.readouterr().out.split("\n")[:-1] == expected


def test_prints_json_lines_of_one_family_and_split(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run("--count", "4", "--seed", "5", "--family", "passive", "--split", "test", "--jsonl") == 0
    )
    records = [json.loads(line) for line in capsys.readouterr().out.split("\n")[:-1]]
    expected = generate(4, seed=5, split="test", families=["passive"])
    assert records == [each.to_dict() for each in expected]


def test_prints_trees_that_a_parser_can_be_trained_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run("--count", "5", "--trees") == 0
    path = tmp_path / "gold.mrg"
    path.write_text(capsys.readouterr().out)
    assert [tree for _, tree in TreeReader(path).trees()] == [
        gold_tree(each) for each in generate(5, seed=1)
    ]


def test_prints_sentences_of_the_whole_lexicon(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--count", "5", "--wide") == 0
    expected = [f"{each.source}\t{each.target}" for each in generate(5, seed=1, wide=True)]
    assert capsys.readouterr().out.split("\n")[:-1] == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--family", "poem"], "unknown family 'poem'"),
        (["--split", "dev"], "unknown split 'dev'"),
        (["--count", "-1"], "--count -1 is negative"),
    ],
)
def test_wrong_values_are_said(arguments: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        run(*arguments)
