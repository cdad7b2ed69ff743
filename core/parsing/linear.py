"""A tree as a line of tokens, and a valid tree from any line of tokens.

The linear form is that of Vinyals et al. (2015) as tensor2tensor writes it: ``NP`` opens a
constituent, ``/NP`` closes it, and each word is replaced by its tag. The words are not repeated:
there are as many tags as words, so their order puts them back, and the parser need not copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from core.errors import UserError
from core.parsing.trees import DEEPEST, TOP, Tree

CLOSING = "/"
ROOT = "S"  # encloses what has no single root
UNKNOWN_TAG = "XX"


def linearised(tree: Tree) -> list[str]:
    """Return the tokens of a tree without its ``TOP``.

    Raises:
        UserError: a name is that of a constituent and of a tag as well, or begins with a slash,
            so that the tokens could not be read back.
    """
    constituents = {node.label for node in tree.constituents()}
    for leaf in tree.leaves():
        if leaf.label in constituents:
            raise UserError(
                f"{leaf.label!r} is the tag of {leaf.word!r} and also the label of a constituent; "
                "rename one of them."
            )
    names = constituents | {leaf.label for leaf in tree.leaves()}
    if slashed := [name for name in names if name.startswith(CLOSING)]:
        raise UserError(f"The name {slashed[0]!r} begins with {CLOSING!r}; rename it.")
    return list(_tokens(tree))


def closing(label: str) -> str:
    """Return the token that closes a constituent."""
    return CLOSING + label


def _tokens(tree: Tree) -> Iterable[str]:
    if tree.is_leaf:
        return [tree.label]
    inside = [token for child in tree.children for token in _tokens(child)]
    if tree.label == TOP:
        return inside
    return [tree.label, *inside, closing(tree.label)]


@dataclass(slots=True)
class Repairs:
    """What had to be mended for a line of tokens to be a tree over the given words.

    Attributes:
        unmatched: closing tokens without an open constituent of that label; ignored.
        unclosed: constituents that something else ended; closed there.
        missing_tags: words beyond the last tag; put under the root with the tag ``XX``.
        surplus_tags: tags beyond the last word; dropped.
        empty: constituents without a word, or nested beyond any sense; dropped.
        roots: 1 if there was not exactly one root, so that an ``S`` was put around all.
    """

    unmatched: int = 0
    unclosed: int = 0
    missing_tags: int = 0
    surplus_tags: int = 0
    empty: int = 0
    roots: int = 0

    @property
    def count(self) -> int:
        return (
            self.unmatched
            + self.unclosed
            + self.missing_tags
            + self.surplus_tags
            + self.empty
            + self.roots
        )


@dataclass(slots=True)
class _Open:
    label: str
    token: int = -1
    children: list[Tree] = field(default_factory=list)


def rebuilt(
    tokens: Sequence[str], words: Sequence[str], labels: Iterable[str]
) -> tuple[Tree, Repairs]:
    """Return a tree under ``TOP`` over exactly ``words``, and what had to be mended for it.

    Every line of tokens gives a tree. The rule: ``/X`` closes the innermost open ``X`` and all
    that is open inside it, and is ignored where no ``X`` is open; the end closes everything; tags
    beyond the last word, constituents without a word and those in more than ``DEEPEST`` others are
    dropped; words beyond the last tag are put under the root with the tag ``XX``; several roots, or
    a bare tag as root, get an ``S``.

    Args:
        labels: the constituents; any other token that does not begin with a slash is a tag.
    """
    known, repairs = frozenset(labels), Repairs()
    top = _Open(TOP)
    stack = [top]
    used = 0
    for place, token in enumerate(tokens):
        if token in known and len(stack) > DEEPEST:
            repairs.empty += 1
        elif token in known:
            stack.append(_Open(token, place))
        elif not token.startswith(CLOSING):
            if used < len(words):
                leaf = Tree(token, word=words[used], tokens=(place, place))
                stack[-1].children.append(leaf)
                used += 1
            else:
                repairs.surplus_tags += 1
        else:
            label = token.removeprefix(CLOSING)
            if all(opened.label != label for opened in stack[1:]):
                repairs.unmatched += 1
                continue
            while stack[-1].label != label:
                repairs.unclosed += 1
                _close(stack, repairs)
            _close(stack, repairs, place)
    while len(stack) > 1:
        repairs.unclosed += 1
        _close(stack, repairs)
    rest = [Tree(UNKNOWN_TAG, word=word) for word in words[used:]]
    repairs.missing_tags = len(rest)
    return Tree(TOP, (_rooted(top.children, rest, repairs),)), repairs


def _close(stack: list[_Open], repairs: Repairs, token: int = -1) -> None:
    done = stack.pop()
    if done.children:
        node = Tree(done.label, tuple(done.children), tokens=(done.token, token))
        stack[-1].children.append(node)
    else:
        repairs.empty += 1


def _rooted(roots: list[Tree], rest: list[Tree], repairs: Repairs) -> Tree:
    if len(roots) == 1 and not roots[0].is_leaf:
        (root,) = roots
        return Tree(root.label, (*root.children, *rest), tokens=root.tokens)
    repairs.roots = 1
    return Tree(ROOT, (*roots, *rest))
