"""Gold trees of the generated corpus, and the sentence patterns that are kept from training."""

from __future__ import annotations

import re
from collections.abc import Iterator
from zlib import crc32

from core.corpus.grammar.sentence import Sentence, detokenise
from core.parsing.linear import linearised
from core.parsing.trees import TOP, Tree

HELD_OUT_SHARE = 20  # one pattern in so many

_PART = re.compile(r"\([^\s()]+|\)|[^\s()]+")
_TAGS = {
    **{"article": "DT", "determiner": "DT", "noun": "NN", "name": "NNP", "adjective": "JJ"},
    **{"adverb": "RB", "number": "CD", "particle": "RP", "preposition": "IN"},
    **{"conjunction": "IN", "verb": "VB", "pronoun": "PRP"},
}
_WORDS = {
    **dict.fromkeys(("and", "or", "but"), "CC"),
    **dict.fromkeys(("which", "that"), "WDT"),
    **dict.fromkeys(("who", "whom", "what"), "WP"),
    "whose": "WP$",
    **dict.fromkeys(("where", "when", "why", "how"), "WRB"),
    "to": "TO",
    **dict.fromkeys(("will", "won't", "can", "can't", "could", "couldn't", "may", "must"), "MD"),
    **dict.fromkeys(("mustn't", "should", "shouldn't"), "MD"),
    "?": ".",
}
"""Words with a tag of their own, where ``_WORD_TAGS`` has the grammar's part of speech for it."""
_WORD_TAGS = {
    **{"CC": "conjunction", "WDT": "pronoun determiner", "WP": "pronoun", "WP$": "pronoun"},
    **{"WRB": "adverb", "TO": "verb preposition", "MD": "verb", ".": "punctuation"},
}


def gold_tree(sentence: Sentence) -> Tree:
    """Return the English tree that the grammar built, its words under tags of the Penn Treebank.

    The tags are Penn's without number and tense, which the grammar's parts of speech do not tell:
    NN is any common noun and VB any verb that is not modal.
    """
    parts = (match[0] for match in _PART.finditer(sentence.tree))
    return Tree(TOP, (_built(next(parts)[1:], parts, iter(sentence.source_tags)),))


def _built(label: str, parts: Iterator[str], tags: Iterator[str]) -> Tree:
    """The constituent whose opening bracket was read, up to its closing one."""
    children: list[Tree] = []
    for part in parts:
        if part == ")":
            break
        if part.startswith("("):
            children.append(_built(part[1:], parts, tags))
        else:
            children.append(Tree(_tag(part, next(tags)), word=part))
    last = len(children) - 1
    return Tree(
        label,
        tuple(
            Tree("PRP$", word=child.word) if child.label == "PRP" and place < last else child
            for place, child in enumerate(children)
        ),
    )


def _tag(word: str, part_of_speech: str) -> str:
    own = _WORDS.get(word.lower())
    if own is not None and part_of_speech in _WORD_TAGS[own].split():
        return own
    return word if part_of_speech == "punctuation" else _TAGS[part_of_speech]


def parsing_pair(tree: Tree) -> tuple[str, str]:
    """Return what a parser reads, the words as ordinary text, and what it writes, the tokens of
    the tree.

    Raises:
        UserError: the tree's names cannot be told apart in its linear form.
    """
    return detokenise(tree.words()), " ".join(linearised(tree))


def is_held_out(pattern: str) -> bool:
    """Return whether a pattern, a tree's linear form, is kept from training on generated sentences.

    It is one pattern in ``HELD_OUT_SHARE``, by checksum, so that a parser can be tested on
    sentences of a shape that it has never seen.
    """
    return crc32(pattern.encode()) % HELD_OUT_SHARE == 0
