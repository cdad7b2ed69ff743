"""Parsing with a model, and how good its parses are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from core.corpus.grammar.generate import generate
from core.corpus.grammar.sentence import detokenise
from core.decoding.config import SearchConfig
from core.decoding.hypothesis import Hypothesis
from core.decoding.translate import ranked_hypotheses
from core.errors import UserError
from core.model.transformer import Transformer
from core.parsing.gold import gold_tree, is_held_out, parsing_pair
from core.parsing.linear import Repairs, rebuilt
from core.parsing.score import Score, score_tree, total, with_tags
from core.parsing.trees import Tree
from core.text.tokenizer import Tokenizer

_ENDLESS = 100_000_000


@dataclass(frozen=True, slots=True)
class Parse:
    """A tree over exactly the words of a sentence, and how it came about.

    Attributes:
        output: what the model wrote, before any repair.
        rank: of the hypothesis that was taken, from 0: those before it were no trees over the
            words.
        log_probability, score: as those of a ``Translation``.
    """

    tree: Tree
    repairs: Repairs
    output: str
    log_probability: float
    score: float
    rank: int = 0


class Question(NamedTuple):
    """What the model reads, and the words that the tree shall have."""

    text: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, tree: Tree) -> Question:
        return cls(detokenise(tree.words()), tree.words())


def labels_of(provenance: Mapping[str, Any], name: str) -> list[str]:
    """Return the labels that a parser's file states; raises UserError if it is no parser."""
    labels = provenance.get("labels")
    if provenance.get("task") != "parsing" or not labels:
        raise UserError(
            f"{name} is not a parser; choose one, or train one with `transformer-viz train parse`."
        )
    return list(labels)


def parse_all(
    model: Transformer,
    tokenizer: Tokenizer,
    labels: Sequence[str],
    questions: Sequence[Question],
    config: SearchConfig,
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Parse]:
    """Parse each sentence, in their order; every one gets a tree.

    Of the hypotheses that the beam search finishes, the best one is taken that is a tree over the
    words as it stands; where none is, the best one of all is repaired.

    Raises:
        UserError: as ``ranked_hypotheses``.
    """
    sources = [tokenizer.encode(question.text) for question in questions]
    every = replace(config, n_best=config.beam)
    found = ranked_hypotheses(model, sources, every, progress=progress)
    return [
        _chosen(question, hypotheses, tokenizer, labels)
        for question, hypotheses in zip(questions, found, strict=True)
    ]


def _chosen(
    question: Question,
    hypotheses: Sequence[Hypothesis],
    tokenizer: Tokenizer,
    labels: Sequence[str],
) -> Parse:
    first: Parse | None = None
    for rank, one in enumerate(hypotheses):
        text = tokenizer.target.decode(one.ids)
        tree, repairs = rebuilt(text.split(), question.words, labels)
        parse = Parse(tree, repairs, text, one.log_probability, one.score, rank)
        if repairs.count == 0:
            return parse
        first = first or parse
    assert first is not None
    return first


def score_parses(gold: Sequence[Tree], parses: Sequence[Parse]) -> Score:
    """Return the brackets of all sentences together, with the gold tags on the words.

    What a parser tags wrongly would otherwise decide, in EVALB, which words are compared.
    """
    return total(
        score_tree(tree, with_tags(parse.tree, tree))
        for tree, parse in zip(gold, parses, strict=True)
    )


class GoldTrees(NamedTuple):
    """Trees of generated sentences that no parser was trained on: combinations of words kept for
    the test split, and of these the patterns that training has and the patterns that it lacks."""

    known: list[Tree]
    held_out: list[Tree]


def generated_gold(count: int, *, seed: int) -> GoldTrees:
    """Generate ``count`` trees of known patterns and a fifth as many of held-out ones."""
    known: list[Tree] = []
    held_out: list[Tree] = []
    wanted = -(-count // 5)
    for sentence in generate(_ENDLESS, seed=seed, split="test"):
        tree = gold_tree(sentence)
        unseen = is_held_out(parsing_pair(tree)[1])
        trees, most = (held_out, wanted) if unseen else (known, count)
        if len(trees) < most:
            trees.append(tree)
        if len(known) == count and len(held_out) == wanted:
            break
    return GoldTrees(known, held_out)
