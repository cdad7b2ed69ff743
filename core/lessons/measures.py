"""What a lesson can say or ask about the sentence shown, computed from its trace.

A measure is written in words: ``weight it -> animal``, ``distance it -> animal``, ``heaviest it``,
``entropy it``, ``mean entropy``, ``translation``, ``translation has sie``, ``tokens source``,
``tokens target``, ``heads``, ``layers``, ``loss``. Words are those of the map of the selected head:
the rows of a decoder's map are named by the words that they predict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError
from core.statistics.rows import head_statistics
from core.text.tokens import Token
from core.text.words import join_pieces, word_spans, words_in
from core.trace.trace import AttentionKind, Head, Trace

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity of a sentence, read from its words.

    Attributes:
        words: as the lesson writes it.
        kind: what it is, the key of ``_KINDS``.
        names: the words of the sentence that it is about.
    """

    words: str
    kind: str
    names: tuple[str, ...] = ()

    def value(self, trace: Trace, head: Head) -> Value:
        """Compute it for the head's map; raises UserError if the sentence lacks a word."""
        return _KINDS[self.kind](trace, head, *self.names)


def read_measure(words: str) -> Measure:
    """Read a measure; raises UserError if it is none."""
    split = words.split()
    match split:
        case ["weight" | "distance" as kind, *rest] if "->" in words:
            query, key = " ".join(rest).split("->", 1)
            return Measure(words, kind, (query.strip(), key.strip()))
        case ["mean", "entropy"] | ["loss"]:
            return Measure(words, " ".join(split))
        case ["heaviest" | "entropy" as kind, *rest] if rest:
            return Measure(words, kind, (" ".join(rest),))
        case ["translation", "has", *rest] if rest:
            return Measure(words, "translation has", (" ".join(rest),))
        case ["translation"] | ["heads"] | ["layers"]:
            return Measure(words, split[0])
        case ["tokens", "source" | "target" as side]:
            return Measure(words, "tokens", (side,))
    raise UserError(f"{words!r} cannot be measured; {KNOWN}.")


KNOWN = (
    "possible are: weight WORD -> WORD, distance WORD -> WORD, heaviest WORD, entropy WORD, "
    "translation, translation has WORD, tokens source, tokens target, heads, layers, mean entropy, "
    "loss"
)


def query_words(trace: Trace, kind: AttentionKind) -> list[tuple[str, range]]:
    """Return the words that name the rows of a map, each with its rows: in the encoder the words
    of the source, else those that the rows predict."""
    tokens = trace.source_tokens
    if kind is not AttentionKind.ENCODER_SELF:
        tokens = trace.predicted_tokens or trace.target_tokens
    return _words(tokens)


def key_words(trace: Trace, kind: AttentionKind) -> list[tuple[str, range]]:
    """Return the words that name the columns of a map, each with its columns."""
    return _words(trace.key_tokens(kind))


def rows_of(trace: Trace, kind: AttentionKind, word: str) -> range:
    """Return the rows of the first word of this spelling; raises UserError if there is none."""
    return _find(query_words(trace, kind), word)


def columns_of(trace: Trace, kind: AttentionKind, word: str) -> range:
    """Return the columns of the first word of this spelling; raises UserError without one."""
    return _find(key_words(trace, kind), word)


def _words(tokens: Sequence[Token]) -> list[tuple[str, range]]:
    return [
        (join_pieces(tokens[span.start : span.stop]).label.strip(), span)
        for span in word_spans(tokens)
    ]


def _find(words: list[tuple[str, range]], wanted: str) -> range:
    for word, span in words:
        if word.casefold() == wanted.casefold():
            return span
    there = ", ".join(word for word, _ in words)
    raise UserError(f"there is no word {wanted!r} here; there are: {there}.")


def _row(trace: Trace, head: Head, word: str) -> NDArray[np.float32]:
    """The mean of the rows of a word, [keys]."""
    rows = rows_of(trace, head.kind, word)
    mean: NDArray[np.float32] = np.mean([trace.row(*head, row) for row in rows], axis=0)
    return mean


def _weight(trace: Trace, head: Head, query: str, key: str) -> float:
    columns = columns_of(trace, head.kind, key)
    return float(_row(trace, head, query)[columns.start : columns.stop].sum())


def _heaviest(trace: Trace, head: Head, query: str) -> str:
    row = _row(trace, head, query)
    sums = [
        (float(row[span.start : span.stop].sum()), word)
        for word, span in key_words(trace, head.kind)
    ]
    return max(sums, key=lambda one: one[0])[1]


def _entropy(trace: Trace, head: Head, query: str) -> float:
    """In bits, of the mean row of a word."""
    row = _row(trace, head, query).astype(np.float64)
    kept = row[row > 0]
    return float(-(kept * np.log2(kept)).sum())


def _distance(trace: Trace, head: Head, query: str, key: str) -> int:
    """Tokens from the first row of one word to the first column of another."""
    rows, columns = rows_of(trace, head.kind, query), columns_of(trace, head.kind, key)
    return abs(rows.start - columns.start)


def _mean_entropy(trace: Trace, head: Head) -> float:
    """In bits, over all heads of the map's kind of attention."""
    heads = trace.every_head(head.kind)
    return sum(head_statistics(trace, *one).values["entropy"] for one in heads) / len(heads)


def _loss(trace: Trace, head: Head) -> float:
    """−log P of the translation, in nats per token."""
    logs = trace.log_probabilities
    if logs is None or not len(logs):
        raise UserError("the probability of this translation is not known")
    return -float(logs.mean(dtype=np.float64))


def _has(trace: Trace, head: Head, word: str) -> bool:
    return word.casefold() in words_in(trace.translation)


def _tokens(trace: Trace, head: Head, side: str) -> int:
    return len(trace.source_tokens if side == "source" else trace.target_tokens)


_KINDS: dict[str, Callable[..., Value]] = {
    "weight": _weight,
    "heaviest": _heaviest,
    "entropy": _entropy,
    "distance": _distance,
    "mean entropy": _mean_entropy,
    "loss": _loss,
    "translation": lambda trace, head: trace.translation,
    "translation has": _has,
    "tokens": _tokens,
    "heads": lambda trace, head: sum(len(trace.every_head(kind)) for kind in trace.kinds),
    "layers": lambda trace, head: sum(trace.layers(kind) for kind in trace.kinds[:2]),
}


_IN_BRACES = re.compile(r"\{([^{}\n]+)\}")


def measures_in(text: str) -> dict[str, Measure]:
    """Return the measures in braces of a text, by their words; raises UserError for one that is
    none."""
    return {words: read_measure(words) for words in _IN_BRACES.findall(text)}


def filled(text: str, trace: Trace | None, head: Head | None) -> str:
    """Return a text with what each measure in braces is now, or "…" while that is not known."""

    def value(match: re.Match[str]) -> str:
        if trace is None or head is None:
            return "…"
        try:
            return shown(read_measure(match[1]).value(trace, head))
        except UserError:
            return "…"

    return _IN_BRACES.sub(value, text)


def shown(value: Value) -> str:
    """Write a value in a sentence."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
