"""The linear form can be read back, and any line of tokens gives a tree over the words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UserError
from core.parsing.linear import linearised, rebuilt
from core.parsing.trees import DEEPEST, Tree, read_tree

DOG = read_tree("(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))")
LABELS = ("S", "NP", "VP", "PP")
WORDS = ("the", "dog", "barks", ".")

leaves = st.tuples(st.sampled_from(["NN", "DT", ",", "$"]), st.text("ab/", min_size=1)).map(
    lambda leaf: Tree(leaf[0], word=leaf[1])
)
trees = st.recursive(
    leaves,
    lambda inner: st.builds(
        Tree, st.sampled_from(LABELS), st.lists(inner, min_size=1, max_size=3).map(tuple)
    ),
    max_leaves=12,
)


def test_the_linear_form_of_the_literature() -> None:
    assert " ".join(linearised(DOG)) == "S NP DT NN /NP VP VBZ /VP . /S"


@given(st.builds(lambda root: Tree("TOP", (Tree("S", (root,)),)), trees))
@settings(max_examples=60, deadline=None)
def test_a_tree_comes_back(tree: Tree) -> None:
    again, repairs = rebuilt(linearised(tree), tree.words(), LABELS)
    assert again == tree
    assert repairs.count == 0


@given(
    st.lists(st.sampled_from([*LABELS, "/S", "/NP", "/VP", "/X", "/", "NN", "DT"]), max_size=25),
    st.lists(st.sampled_from(WORDS), max_size=6),
)
@settings(max_examples=150, deadline=None)
def test_any_tokens_give_a_tree_over_exactly_the_words(tokens: list[str], words: list[str]) -> None:
    tree, repairs = rebuilt(tokens, words, LABELS)
    assert tree.words() == tuple(words)
    assert tree.label == "TOP"
    assert len(tree.children) == 1
    assert not tree.children[0].is_leaf
    if words:
        assert read_tree(str(tree)) == tree
        assert all(node.children for node in tree.constituents())
        if repairs.count == 0:
            assert linearised(tree) == tokens


def test_nodes_know_their_tokens() -> None:
    tree, _ = rebuilt(["NP", "DT", "NN", "/NP", "VP", "VBZ", "/VP", "."], WORDS, LABELS)
    (root,) = tree.children
    assert root.tokens == (-1, -1)  # it was put around
    assert [child.tokens for child in root.children] == [(0, 3), (4, 6), (7, 7)]
    unclosed, _ = rebuilt(["S", "NP", "DT", "NN"], WORDS[:2], LABELS)
    assert [node.tokens for node in unclosed.children[0].constituents()] == [(0, -1), (1, -1)]


@pytest.mark.parametrize(
    ("tokens", "tree", "repaired"),
    [
        ("S NP DT NN /NP VP VBZ /VP . /S", str(DOG), {}),
        ("S NP DT NN VP VBZ /VP . /S", None, {"unclosed": 1}),
        ("S NP DT NN /NP /PP VP VBZ /VP . /S", str(DOG), {"unmatched": 1}),
        ("S NP DT NN /NP VP VBZ /VP .", str(DOG), {"unclosed": 1}),
        ("S NP DT NN /NP VP VBZ /VP . NN /S", str(DOG), {"surplus_tags": 1}),
        ("S NP DT NN /NP VP VBZ /VP PP /PP . /S", str(DOG), {"empty": 1}),
        (
            "S NP DT NN /NP VP VBZ /VP /S",
            "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (XX .)))",
            {"missing_tags": 1},
        ),
        (
            "NP DT NN /NP VP VBZ /VP .",
            str(DOG),
            {"roots": 1},
        ),
        ("", "(TOP (S (XX the) (XX dog) (XX barks) (XX .)))", {"missing_tags": 4, "roots": 1}),
    ],
)
def test_the_rule_of_repair(tokens: str, tree: str | None, repaired: dict[str, int]) -> None:
    found, repairs = rebuilt(tokens.split(), WORDS, LABELS)
    if tree is not None:
        assert str(found) == tree
    counts = {name: getattr(repairs, name) for name in repairs.__slots__}
    assert {name: count for name, count in counts.items() if count} == repaired
    assert repairs.count == sum(repaired.values())


def test_nesting_without_end() -> None:
    tree, repairs = rebuilt(["S"] * 1_000 + ["NN"], ["a"], LABELS)
    assert str(tree).count("(S ") == DEEPEST
    assert repairs.count == 1_000


@pytest.mark.parametrize(
    ("text", "what"),
    [("(S (NP (NP a)))", "also the label"), ("(/S (NN a))", "begins with '/'")],
)
def test_what_could_not_be_read_back(text: str, what: str) -> None:
    with pytest.raises(UserError, match=what):
        linearised(read_tree(text))
