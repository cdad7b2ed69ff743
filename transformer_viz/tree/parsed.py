"""A parse as the view shows it: nodes over words, and the decoder rows that wrote them.

Legend: S source tokens, W words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError
from core.heads import AttentionKind, Head
from core.parsing.linear import rebuilt
from core.parsing.score import DELETED, Score, evalb_label, score_tree, with_tags
from core.parsing.trees import Tree, cleaned, read_tree
from core.text.tokens import TokenKind
from core.text.words import join_pieces, word_spans
from core.trace.trace import Trace

_PARENTHESES = {"-LRB-": "(", "-RRB-": ")"}


@dataclass(frozen=True, slots=True)
class Node:
    """A constituent or a word.

    Attributes:
        first, end: the words it covers, [first, end).
        level: how many constituents it is in.
        parent: its place in the list of nodes; None for the root.
        opened, closed: the decoder rows that wrote its two tokens; None for one that a repair put
            there, and the same row for a word.
        shared: whether the other one of output and gold has it too; None where there is no other,
            and for a word.
    """

    label: str
    first: int
    end: int
    level: int
    parent: int | None
    opened: int | None
    closed: int | None
    word: str | None = None
    shared: bool | None = None

    @property
    def row(self) -> int | None:
        """The row that stands for it: that of its opening token, or else of the closing one."""
        return self.closed if self.opened is None else self.opened


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of a trace.

    Attributes:
        nodes: each before its children.
        words: the source words, in order.
        spans: for each word its source tokens, [start, stop).
        repairs: how often the tokens had to be mended.
        gold: the nodes of the gold tree, if there is one.
        score: of the parse against it.
    """

    tree: Tree
    nodes: tuple[Node, ...]
    words: tuple[str, ...]
    spans: tuple[range, ...]
    repairs: int
    gold: tuple[Node, ...] = ()
    score: Score | None = None

    @classmethod
    def of(cls, trace: Trace, labels: Sequence[str]) -> Parsed | None:
        """Read the tree out of a trace's output; None where there are no words."""
        spans = [
            span
            for span in word_spans(trace.source_tokens)
            if trace.source_tokens[span.start].kind is not TokenKind.SPECIAL
        ]
        words = tuple(join_pieces([trace.source_tokens[at] for at in span]).label for span in spans)
        if not words:
            return None
        written = trace.predicted_tokens
        names = [
            span for span in _names(trace) if written[span.start].kind is not TokenKind.SPECIAL
        ]
        tokens = [join_pieces([written[at] for at in span]).label for span in names]
        tree, repairs = rebuilt(tokens, words, labels)
        rows = [span.start for span in names]
        nodes = _nodes(tree.children[0], rows)
        return cls(tree, nodes, words, tuple(spans), repairs.count)

    def against(self, gold: Tree) -> Parsed:
        """Return the same parse with a gold tree of the same words beside it."""
        other = _nodes(gold.children[0], [])
        counted = np.cumsum([0, *(leaf.label not in DELETED for leaf in gold.leaves())]).tolist()
        return replace(
            self,
            nodes=_marked(self.nodes, other, counted),
            gold=_marked(other, self.nodes, counted),
            score=score_tree(gold, with_tags(self.tree, gold)),
        )

    def looks_at(self, trace: Trace, heads: Sequence[Head], row: int) -> NDArray[np.float32]:
        """Return how much a decoder row looks at each word [W], the mean over cross heads.

        The weights of a word's pieces are summed; the rest up to 1 lies on the end token.
        """
        kind = AttentionKind.CROSS
        rows = [trace.row(kind, head.layer, head.head, row) for head in heads]
        mean = np.mean(rows, axis=0)
        return np.array([mean[span.start : span.stop].sum() for span in self.spans], np.float32)

    def node_of(self, row: int | None) -> int | None:
        """Return the node that a decoder row opened, or else closed; None for no node."""
        for side in ("opened", "closed"):
            for place, node in enumerate(self.nodes):
                if row is not None and getattr(node, side) == row:
                    return place
        return None


def read_gold(text: str, words: Sequence[str]) -> Tree:
    """Read a gold tree for a sentence of these words.

    Raises:
        UserError: the text is no tree, or its words are others.
    """
    tree = cleaned(read_tree(text))
    if tree is None:
        raise UserError("The gold tree has no words; enter one such as (S (NP (NN a)) …).")
    own = [_PARENTHESES.get(word, word) for word in tree.words()]
    if own != list(words):
        raise UserError(
            f"The gold tree is over “{' '.join(own)}”, but the sentence reads “{' '.join(words)}”."
        )
    return tree


def _names(trace: Trace) -> list[range]:
    """The pieces of each token of the linear form: up to the next piece with a word mark."""
    tokens = trace.predicted_tokens
    starts = [at for at, token in enumerate(tokens) if at == 0 or token.starts_word]
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(tokens)], strict=True)]


def _nodes(root: Tree, rows: Sequence[int]) -> tuple[Node, ...]:
    """All nodes with their places; ``rows`` has the decoder row of each token."""
    nodes: list[Node] = []

    def row(token: int) -> int | None:
        return rows[token] if 0 <= token < len(rows) else None

    def add(tree: Tree, first: int, level: int, parent: int | None) -> int:
        place = len(nodes)
        opened, closed = map(row, tree.tokens)
        end = first + sum(1 for _ in tree.leaves())
        nodes.append(Node(tree.label, first, end, level, parent, opened, closed, tree.word))
        for child in tree.children:
            first = add(child, first, level + 1, place)
        return end

    add(root, 0, 0, None)
    return tuple(nodes)


def _bracket(node: Node, counted: Sequence[int]) -> tuple[str, int, int]:
    return evalb_label(node.label), counted[node.first], counted[node.end]


def _marked(
    nodes: Sequence[Node], others: Sequence[Node], counted: Sequence[int]
) -> tuple[Node, ...]:
    """The nodes with ``shared`` told by the brackets of the other tree, one to one.

    Args:
        counted: how many words before each place EVALB counts.
    """
    left = Counter(_bracket(node, counted) for node in others if node.word is None)
    result = []
    for node in nodes:
        if node.word is None:
            bracket = _bracket(node, counted)
            node = replace(node, shared=left[bracket] > 0)
            left[bracket] -= 1
        result.append(node)
    return tuple(result)
