"""Constituency trees: read from brackets in Penn Treebank style, cleaned, and written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from core.errors import UserError

TOP = "TOP"
EMPTY = "-NONE-"  # the tag of traces and other words that are not there
WRAPPERS = frozenset({"", TOP, "ROOT", "S1"})  # names of the node around a whole sentence
DEEPEST = 200
MOST_NODES = 20_000
LONGEST_NAME = 1_000  # characters of a label or a word

_PART = re.compile(r"[()]|[^\s()]+")


@dataclass(frozen=True, slots=True)
class Tree:
    """A constituent with a label and children, or a leaf: a word under its part-of-speech tag.

    ``word`` is None for a constituent, and ``children`` is empty for a leaf. ``tokens`` are the
    places of the tokens that opened and closed it in the linear form that it was rebuilt from; -1
    stands for one that was not there. Trees are equal without regard to them.
    """

    label: str
    children: tuple[Tree, ...] = ()
    word: str | None = None
    tokens: tuple[int, int] = field(default=(-1, -1), compare=False)

    @property
    def is_leaf(self) -> bool:
        return self.word is not None

    def leaves(self) -> Iterator[Tree]:
        """Yield the leaves from left to right."""
        if self.is_leaf:
            yield self
        for child in self.children:
            yield from child.leaves()

    def words(self) -> tuple[str, ...]:
        return tuple(leaf.word or "" for leaf in self.leaves())

    def constituents(self) -> Iterator[Tree]:
        """Yield every node that is not a leaf, each before its children."""
        if not self.is_leaf:
            yield self
            for child in self.children:
                yield from child.constituents()

    def __str__(self) -> str:
        if self.is_leaf:
            return f"({self.label} {self.word})"
        return f"({' '.join([self.label, *map(str, self.children)])})"


@dataclass(slots=True)
class _Open:
    """A bracket that is not yet closed, with the names and nodes that it contains so far."""

    line: int
    names: list[str] = field(default_factory=list)
    children: list[Tree] = field(default_factory=list)

    def closed(self, where: str) -> Tree:
        match self.names, self.children:
            case [label, word], []:
                return Tree(label, word=word)
            case [label], children:
                return Tree(label, tuple(children))
            case [], [_, *_]:
                return Tree("", tuple(self.children))
            case [], []:
                return Tree("")
        raise UserError(
            f"{where}: a bracket contains {' '.join(self.names)!r}; a leaf is (TAG word), and "
            "a constituent (LABEL …) with a bracket for each child."
        )


def read_trees(lines: Iterable[str], name: str) -> Iterator[tuple[int, Tree]]:
    """Yield each tree with the number of the line on which it begins, as it is written.

    A tree may extend over several lines, and several may stand on one. An outer bracket without a
    label, as in ``( (S …) )``, is a constituent with an empty label.

    Args:
        name: what the text is called in errors.

    Raises:
        UserError: the brackets do not match, a node is neither a leaf nor a constituent, or a
            tree is deeper than ``DEEPEST`` or has more than ``MOST_NODES`` nodes.
    """
    stack: list[_Open] = []
    number = nodes = 0
    for number, line in enumerate(lines, start=1):
        for match in _PART.finditer(line):
            part, where = match[0], f"{name}, line {number:,}"
            if part == "(":
                nodes = nodes + 1 if stack else 1
                _require_bounded(len(stack) + 1, nodes, where)
                stack.append(_Open(number))
            elif not stack:
                what = "a closing bracket" if part == ")" else repr(part[:40])
                raise UserError(f"{where}: {what} stands outside of any tree.")
            elif part == ")":
                done = stack.pop()
                tree = done.closed(where)
                if stack:
                    stack[-1].children.append(tree)
                else:
                    yield done.line, tree
            elif stack[-1].children:
                raise UserError(f"{where}: {part[:40]!r} follows a bracket; enclose it in its own.")
            elif len(part) > LONGEST_NAME:
                raise UserError(f"{where}: a name has more than {LONGEST_NAME:,} characters.")
            else:
                stack[-1].names.append(part)
    if stack:
        raise UserError(
            f"{name}, line {number:,}: the text ends inside the tree that begins on line "
            f"{stack[0].line:,}; add the missing brackets."
        )


def _require_bounded(depth: int, nodes: int, where: str) -> None:
    if depth > DEEPEST:
        raise UserError(f"{where}: a tree is more than {DEEPEST} brackets deep.")
    if nodes > MOST_NODES:
        raise UserError(f"{where}: a tree has more than {MOST_NODES:,} nodes.")


def read_tree(text: str) -> Tree:
    """Read exactly one tree; raises UserError for anything else."""
    trees = [tree for _, tree in read_trees(text.split("\n"), "the tree")]
    if len(trees) != 1:
        raise UserError(f"There are {len(trees)} trees where one is expected.")
    return trees[0]


def plain_label(label: str) -> str:
    """Return a label without its functions and indices: ``NP`` for ``NP-SBJ-1`` and ``NP=2``.

    A label that begins with a hyphen, such as ``-LRB-``, stays as it is.
    """
    cut = re.search(r"(?!^)[-=]", label)
    return label if cut is None or label.startswith("-") else label[: cut.start()]


def cleaned(tree: Tree) -> Tree | None:
    """Return the tree that a parser is asked for; None where no word is left.

    Empty words (``-NONE-``) and constituents that they leave empty are removed, labels lose their
    functions, and the node around the sentence becomes ``TOP``, whatever it was called. This is
    what the preparation of the Penn Treebank for parsers does (Collins 1999).
    """
    stripped = _without_empty(tree)
    if stripped is None:
        return None
    while not stripped.is_leaf and stripped.label in WRAPPERS and len(stripped.children) == 1:
        stripped = stripped.children[0]
    if stripped.label in WRAPPERS and not stripped.is_leaf:
        return Tree(TOP, stripped.children)
    return Tree(TOP, (stripped,))


def _without_empty(tree: Tree) -> Tree | None:
    if tree.is_leaf:
        return None if tree.label == EMPTY else tree
    kept = [child for child in map(_without_empty, tree.children) if child is not None]
    return Tree(plain_label(tree.label), tuple(kept)) if kept else None
