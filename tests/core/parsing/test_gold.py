"""The grammar's own trees as gold trees, and the patterns kept from training."""

from __future__ import annotations

from core.corpus.grammar.generate import generate
from core.parsing.gold import HELD_OUT_SHARE, gold_tree, is_held_out, parsing_pair
from core.parsing.linear import rebuilt
from core.parsing.reader import take_inventory
from core.parsing.score import score_tree
from core.parsing.trees import cleaned, read_tree

SENTENCES = [*generate(400, seed=3), *generate(100, seed=3, split="test", wide=True)]


def test_trees_are_over_the_words_and_survive_every_form() -> None:
    pairs = [parsing_pair(gold_tree(sentence)) for sentence in SENTENCES]
    names = take_inventory(target for _, target in pairs)
    assert {"S", "NP", "VP", "SBAR", "PP"} <= set(names.labels)
    for sentence, (source, target) in zip(SENTENCES, pairs, strict=True):
        tree = gold_tree(sentence)
        assert source == sentence.source
        assert tree.words() == sentence.source_words
        assert read_tree(str(tree)) == tree == cleaned(tree)
        again, repairs = rebuilt(target.split(" "), tree.words(), names.labels)
        assert (again, repairs.count) == (tree, 0)
        assert score_tree(tree, again).f1 == 100


def test_a_tree_with_its_tags() -> None:
    found = {str(gold_tree(sentence)) for sentence in SENTENCES}
    assert any("(NP (PRP$ its) (NN " in tree for tree in found)
    assert any("(NP (PRP it))" in tree for tree in found)
    assert any("(WHNP (WDT that))" in tree for tree in found)
    assert any("(MD will) (VP (VB " in tree for tree in found)
    assert any(tree.endswith("(. ?)))") for tree in found)
    assert not any("(PRP$ it)" in tree or "(PRP its)" in tree for tree in found)


def test_one_pattern_in_twenty_is_held_out() -> None:
    patterns = {parsing_pair(gold_tree(sentence))[1] for sentence in SENTENCES}
    held = sum(map(is_held_out, patterns))
    assert 0.5 < held * HELD_OUT_SHARE / len(patterns) < 2
