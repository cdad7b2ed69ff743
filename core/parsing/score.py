"""Labelled precision, recall and F1 of parses, as EVALB counts them with COLLINS.prm.

Checked against the C program. Unlike it, a parse that cannot be compared is never dropped: its
gold brackets count as missed and its own as wrong, so a failure lowers the score (EVALB leaves the
sentence out of both totals, which raises it).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from core.errors import UserError
from core.parsing.trees import EMPTY, TOP, Tree, read_tree

DELETED = frozenset({TOP, EMPTY, ",", ":", "``", "''", "."})
"""Tags whose words are left out, and labels of constituents that are not counted (COLLINS.prm)."""
SAME_LABELS = {"PRT": "ADVP"}

Bracket = tuple[str, int, int]  # label, first word, one behind the last; words as they are counted


class Status(StrEnum):
    """Whether a parse could be compared with its gold tree."""

    COMPARED = "compared"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Score:
    """Brackets of one sentence or, summed, of many.

    Attributes:
        matched, gold, test: brackets in both trees, in the gold tree, and in the parse.
        sentences: compared or not.
        exact: those whose brackets are all matched, on both sides.
        failed: those that could not be compared; ``status`` of one sentence says why. A sentence
            of punctuation alone is skipped and has not failed.
    """

    matched: int = 0
    gold: int = 0
    test: int = 0
    sentences: int = 0
    exact: int = 0
    failed: int = 0
    status: Status = Status.COMPARED

    def __add__(self, other: Score) -> Score:
        return Score(
            self.matched + other.matched,
            self.gold + other.gold,
            self.test + other.test,
            self.sentences + other.sentences,
            self.exact + other.exact,
            self.failed + other.failed,
        )

    @property
    def precision(self) -> float:
        """Return the share of the parses' brackets that are right, in per cent."""
        return 100.0 * self.matched / self.test if self.test else 0.0

    @property
    def recall(self) -> float:
        """Return the share of the gold brackets that were found, in per cent."""
        return 100.0 * self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall, in per cent."""
        both = self.gold + self.test
        return 200.0 * self.matched / both if both else 0.0

    def to_dict(self) -> dict[str, float | int]:
        return {
            "sentences": self.sentences,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "exact": 100.0 * self.exact / self.sentences if self.sentences else 0.0,
            "failed": self.failed,
        }


def score_tree(gold: Tree, test: Tree) -> Score:
    """Score one parse. Its words must be those of ``gold`` after the deletions, or it has failed.

    EVALB deletes words by the tags of the tree that they stand in, so a comma that the parser tags
    as a noun makes the comparison impossible; give the parse the gold tags first (``with_tags``).
    """
    gold_words, gold_brackets = _counted(gold)
    words, brackets = _counted(test)
    if not words and not gold_words:
        return Score(sentences=1, exact=1, status=Status.SKIPPED)
    if not words:
        return _failure(gold_brackets, brackets, Status.SKIPPED)
    if words != gold_words:
        return _failure(gold_brackets, brackets, Status.ERROR)
    matched = (gold_brackets & brackets).total()
    counts = matched, gold_brackets.total(), brackets.total()
    return Score(*counts, sentences=1, exact=int(len(set(counts)) == 1))


def score_text(gold: str, test: str) -> Score:
    """Score one bracketed line; one whose brackets do not match is a failure, as in EVALB.

    Raises:
        UserError: the gold line is no tree.
    """
    tree = read_tree(gold)
    try:
        return score_tree(tree, read_tree(test))
    except UserError:
        return _failure(_counted(tree)[1], Counter(), Status.ERROR)


def total(scores: Iterable[Score]) -> Score:
    """Return the sum over sentences, of which the rates are those of all brackets together."""
    return sum(scores, Score())


def with_tags(tree: Tree, gold: Tree) -> Tree:
    """Return ``tree`` with the tags of ``gold``, leaf by leaf; both have the same words."""
    tags = iter([leaf.label for leaf in gold.leaves()])
    return _retagged(tree, tags)


def _retagged(tree: Tree, tags: Iterator[str]) -> Tree:
    if tree.is_leaf:
        return Tree(next(tags), word=tree.word)
    return Tree(tree.label, tuple(_retagged(child, tags) for child in tree.children))


def _failure(gold: Counter[Bracket], test: Counter[Bracket], status: Status) -> Score:
    return Score(0, gold.total(), test.total(), sentences=1, failed=1, status=status)


def _counted(tree: Tree) -> tuple[list[str], Counter[Bracket]]:
    """The words that count, and the brackets over them."""
    words: list[str] = []
    brackets: Counter[Bracket] = Counter()
    _collect(tree, words, brackets)
    return words, brackets


def _collect(tree: Tree, words: list[str], brackets: Counter[Bracket]) -> None:
    if tree.word is not None:
        if tree.label not in DELETED:
            words.append(tree.word)
        return
    start = len(words)
    for child in tree.children:
        _collect(child, words, brackets)
    label = evalb_label(tree.label)
    if label not in DELETED and len(words) > start:
        brackets[label, start, len(words)] += 1


def evalb_label(label: str) -> str:
    """Return a constituent's label as EVALB compares it: cut at the first ``-`` or ``=``, with
    ``PRT`` as ``ADVP``."""
    cut = label.replace("=", "-").split("-", 1)[0]
    return SAME_LABELS.get(cut, cut)
