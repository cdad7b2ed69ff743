"""A finished sentence pair, and how words, trees and gold links become one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from core.corpus.grammar.dependencies import Dependency, DependencyKind, Side

PUNCTUATION = frozenset({",", ".", "?"})


class English:
    """An English word of a sentence in the making; ``tag`` is its part of speech."""

    __slots__ = ("index", "tag", "text")

    def __init__(self, text: str, tag: str) -> None:
        self.text = text
        self.tag = tag
        self.index = -1


class German:
    """A German word of a sentence in the making, with the English words it translates."""

    __slots__ = ("index", "sources", "text")

    def __init__(self, text: str, *sources: English) -> None:
        self.text = text
        self.sources = sources
        self.index = -1


class Tree:
    """A constituent of the English sentence, such as NP or VP."""

    __slots__ = ("children", "label")

    def __init__(self, label: str, *children: Tree | English) -> None:
        self.label = label
        self.children = children


Word: TypeAlias = English | German
Link: TypeAlias = tuple[DependencyKind, Word, Word]


@dataclass(frozen=True, slots=True)
class Sentence:
    """An English sentence, its German translation and all that the grammar knows of them.

    Words include punctuation marks; ``detokenise`` of the words is the text. ``source_tags`` has
    the part of speech of each source word. ``alignment`` has pairs of a source word index and a
    target word index, sorted. ``tree`` is the bracketed English, its leaves the source words.
    ``pair`` is shared by the two sentences of a minimal pair.
    """

    source: str
    target: str
    family: str
    split: str
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    source_tags: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    dependencies: tuple[Dependency, ...]
    tree: str
    pair: str | None = None

    def with_pair(self, pair: str) -> Sentence:
        return replace(self, pair=pair)

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values, in the order of the class."""
        return {
            "source": self.source,
            "target": self.target,
            "family": self.family,
            "split": self.split,
            "source_words": list(self.source_words),
            "target_words": list(self.target_words),
            "source_tags": list(self.source_tags),
            "alignment": [list(link) for link in self.alignment],
            "dependencies": [dependency.to_dict() for dependency in self.dependencies],
            "tree": self.tree,
            "pair": self.pair,
        }


def word_spans(words: Iterable[str]) -> list[tuple[int, int]]:
    """Return where each word is in ``detokenise(words)``: [start, end) in characters."""
    spans = []
    position = 0
    for word in words:
        if position and word not in PUNCTUATION:
            position += 1
        spans.append((position, position + len(word)))
        position += len(word)
    return spans


def detokenise(words: Iterable[str]) -> str:
    """The text of ``words``: one space before each but the first and punctuation marks."""
    text = ""
    for word in words:
        text += word if not text or word in PUNCTUATION else " " + word
    return text


def _flatten(tree: Tree, words: list[English]) -> str:
    """Append the leaves of ``tree`` to ``words``; return its brackets."""
    parts = ["(" + tree.label]
    for child in tree.children:
        if isinstance(child, English):
            child.index = len(words)
            words.append(child)
            parts.append(_capitalise(child.text) if child.index == 0 else child.text)
        else:
            parts.append(_flatten(child, words))
    return " ".join(parts) + ")"


def _capitalise(text: str) -> str:
    return text[0].upper() + text[1:]


def _number_german(words: Sequence[German]) -> list[German]:
    """Number the words, without commas that another punctuation mark makes superfluous."""
    kept: list[German] = []
    for word in words:
        if word.text in PUNCTUATION and kept and kept[-1].text == ",":
            kept.pop()
        kept.append(word)
    for index, word in enumerate(kept):
        word.index = index
    return kept


@dataclass(frozen=True, slots=True)
class Composition:
    """What a family builds: both sides without the final mark, and the links between words."""

    tree: Tree
    german: Sequence[German]
    links: Iterable[Link]
    mark: str = "."


def finish(composition: Composition, *, family: str, split: str) -> Sentence:
    mark = English(composition.mark, "punctuation")
    tree = composition.tree
    source: list[English] = []
    brackets = _flatten(Tree(tree.label, *tree.children, mark), source)
    target = _number_german([*composition.german, German(mark.text, mark)])
    source_words = [word.text for word in source]
    target_words = [word.text for word in target]
    source_words[0] = _capitalise(source_words[0])
    target_words[0] = _capitalise(target_words[0])
    return Sentence(
        source=detokenise(source_words),
        target=detokenise(target_words),
        family=family,
        split=split,
        source_words=tuple(source_words),
        target_words=tuple(target_words),
        source_tags=tuple([word.tag for word in source]),
        alignment=tuple(
            sorted({(origin.index, word.index) for word in target for origin in word.sources})
        ),
        dependencies=tuple(
            [
                Dependency(
                    kind,
                    Side.SOURCE if isinstance(start, English) else Side.TARGET,
                    start.index,
                    end.index,
                )
                for kind, start, end in composition.links
            ]
        ),
        tree=brackets,
    )
