"""Trees are read as they are written, cleaned as parsers need them, and bounded."""

from __future__ import annotations

import pytest

from core.errors import UserError
from core.parsing.trees import (
    DEEPEST,
    MOST_NODES,
    Tree,
    cleaned,
    plain_label,
    read_tree,
    read_trees,
)

TRACED = """
( (S (NP-SBJ-1 (DT The) (NN dog))
     (VP (VBD was) (VP (VBN seen) (NP (-NONE- *-1)) (PP-LGS (IN by) (NP=2 (PRP me)))))
     (-LRB- -LRB-) (. .)) )
(TOP (NP (NNP Rome)))
"""


def test_a_file_with_traces_and_functions() -> None:
    (first, tree), (second, rome) = read_trees(TRACED.split("\n"), "wsj.mrg")
    assert (first, second) == (2, 5)
    assert str(cleaned(tree)) == (
        "(TOP (S (NP (DT The) (NN dog)) (VP (VBD was) (VP (VBN seen) (PP (IN by) (NP (PRP me)))))"
        " (-LRB- -LRB-) (. .)))"
    )
    assert cleaned(rome) == rome


def test_reading_is_the_opposite_of_writing() -> None:
    text = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))"
    tree = read_tree(text)
    assert str(tree) == text
    assert tree.words() == ("the", "dog", "barks", ".")
    assert [leaf.label for leaf in tree.leaves()] == ["DT", "NN", "VBZ", "."]
    assert [node.label for node in tree.constituents()] == ["S", "NP", "VP"]


@pytest.mark.parametrize(
    ("label", "plain"),
    [("NP-SBJ-1", "NP"), ("NP=2", "NP"), ("-LRB-", "-LRB-"), ("ADVP|PRT", "ADVP|PRT"), ("", "")],
)
def test_labels(label: str, plain: str) -> None:
    assert plain_label(label) == plain


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("(S (NN a)", "line 1: the text ends inside the tree that begins on line 1"),
        ("(S (NN a)\n\n", "line 3: the text ends inside"),
        ("(S (NN a)))", "line 1: a closing bracket stands outside"),
        ("\nword", "line 2: 'word' stands outside"),
        ("(S (NN a) b)", "'b' follows a bracket"),
        ("(S a b)", "contains 'S a b'"),
        ("(S a (NN b))", "contains 'S a'"),
        ("(S " * (DEEPEST + 1), f"more than {DEEPEST} brackets deep"),
        ("(S " + "(N a)" * MOST_NODES + ")", "more than 20,000 nodes"),
        ("(" + "x" * 1_001 + " a)", "more than 1,000 characters"),
    ],
)
def test_errors_name_the_line(text: str, what: str) -> None:
    with pytest.raises(UserError) as error:
        list(read_trees(text.split("\n"), "bad.mrg"))
    assert "bad.mrg, line" in str(error.value)
    assert what in str(error.value)


@pytest.mark.parametrize("text", ["", "(NN a) (NN b)"])
def test_one_tree_is_one_tree(text: str) -> None:
    with pytest.raises(UserError, match="where one is expected"):
        read_tree(text)


def test_cleaning_an_odd_tree() -> None:
    assert cleaned(read_tree("(S (NP (-NONE- *)))")) is None
    assert str(cleaned(read_tree("( (S (NN a)) (. .))"))) == "(TOP (S (NN a)) (. .))"
    assert str(cleaned(read_tree("(ROOT (S1 (NN a)))"))) == "(TOP (NN a))"
    assert cleaned(read_tree("()")) is None
    assert cleaned(Tree("NN", word="a")) == Tree("TOP", (Tree("NN", word="a"),))
