"""Files of trees as pairs, and what stands in their way."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from core.corpus.read_report import Problem
from core.errors import UserError
from core.parsing.reader import MOST_NAMES, TreeReader, take_inventory

TREES = """( (S (NP-SBJ (DT The) (NN dog))
   (VP (VBZ barks)) (. .)) )
( (S (NP (-NONE- *))) )
(TOP (S (NP (PRP$ its) (NN tail)) (, ,) (VP (VBZ wags))))
"""


def test_rows_are_sentences_and_linear_trees(tmp_path: Path) -> None:
    path = tmp_path / "a.mrg.gz"
    path.write_bytes(gzip.compress(TREES.encode()))
    reader = TreeReader(path)
    assert list(reader) == [
        (1, "The dog barks.", "S NP DT NN /NP VP VBZ /VP . /S"),
        (4, "its tail, wags", "S NP PRP$ NN /NP , VP VBZ /VP /S"),
    ]
    assert (reader.report.lines, reader.report.pairs) == (4, 2)
    assert reader.report.problems[Problem.EMPTY].lines == [3]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "contains no tree"),
        (b"(S (NP (-NONE- *)))\n", "contains no tree"),
        (b"\n(S (NN caf\xe9))\n", "line 2 is not UTF-8"),
        (b"\n(S (NP (NP a)))\n", "line 2: 'NP' is the tag"),
        (b"(S (NN a)\n", "line 1: the text ends"),
        (b"(" + b" " * 1_000_000 + b"S (NN a))", "line 1 is more than 1,000,000 bytes"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "bad.mrg"
    path.write_bytes(data)
    with pytest.raises(UserError) as error:
        list(TreeReader(path))
    assert "bad.mrg" in str(error.value)
    assert what in str(error.value)


def test_the_names_in_trees() -> None:
    names = take_inventory(["S NP DT PRP$ /NP . /S", "S VP `` VBZ /VP /S", "X|Y NN /X|Y"])
    assert names.labels == ("NP", "S", "VP", "X|Y")
    assert names.tags == (".", "DT", "NN", "PRP$", "VBZ", "``")
    assert names.divided == ["/NP", "/S", "/VP", "/X|Y", "X|Y", "PRP$", "``"]
    assert names.plain == ["NP", "VP", "DT", "NN", "VBZ"]


@pytest.mark.parametrize(
    ("targets", "what"),
    [
        (["S NN /S", "NN S /NN"], "NN, S is the label of a constituent in one tree and a tag"),
        ([f"S T{n} /S" for n in range(MOST_NAMES)], f"more than {MOST_NAMES} labels and tags"),
    ],
)
def test_names_that_cannot_be_told_apart(targets: list[str], what: str) -> None:
    with pytest.raises(UserError, match=what):
        take_inventory(targets)
