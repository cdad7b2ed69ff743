"""What a head does on the text shown, beside what its role says that it does over a corpus."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from core.text.tokens import Token, TokenKind
from core.text.words import is_punctuation
from core.trace.head_map import Entries, entries, map_row
from core.trace.sinks import sinks
from core.trace.trace import AttentionKind, Floats, Head, Trace
from transformer_viz.heads.report import Evidence, Role
from transformer_viz.heads.wording import GOLD
from transformer_viz.state.bundled import Subject
from transformer_viz.words.wording import token_name

LARGEST_MAP = 512 * 512
"""Cells: a larger map is not computed for a line of text."""

PRONOUNS = ("er", "sie", "es", "ihn")
BROAD_KEYS = 20
_POSITION = re.compile(r"positional\(([+-]?\d+)\)")
_CUES = {
    "coreference": ("it",),
    "possessive": ("his", "her", "its", "their"),
    "relative": ("who", "whom", "which", "that"),
    "comparative": ("than",),
    "causative": ("make", "makes", "made"),
}
"""English words that need the other word of a relation, where they are always the same ones."""


@dataclass(frozen=True, slots=True)
class Here:
    """``text``: what the head does here; ``agrees``: whether that is what its role says, None where
    nobody knows what would be right."""

    text: str
    agrees: bool | None


@dataclass(frozen=True, slots=True)
class Link:
    """The rows and the columns, in tokens, of a word and the one that it should look at."""

    rows: range
    keys: range


def here(role: Role, head: Head, trace: Trace, subject: Subject | None) -> Here | None:
    """None where the text has nothing that the role is about.

    Args:
        subject: what the text is a sample of, if it is one.
    """
    if trace.allowed(head.kind).size > LARGEST_MAP or not trace.has(head):
        return None
    if not role.sort.startswith(GOLD):
        value = _value(role, head, trace)
        return None if value is None else Here(f"{value:.2f}", value >= role.score / 2)
    relation = role.sort.removeprefix(GOLD)
    if relation == "alignment":
        return _on_words(role, head, trace)
    known = link_of(role, head.kind, trace, subject) or _measured(role, head.kind, trace)
    if known is not None:
        return _looks(role, head, trace, known.rows, known.keys)
    rows = _cue(role, head.kind, trace)
    return None if rows is None else _looks(role, head, trace, rows, None)


def link_of(
    role: Role | None, kind: AttentionKind, trace: Trace, subject: Subject | None
) -> Link | None:
    """The subject of a sample in the maps of a kind, in the direction and by the reading of the
    role; without one from the word that needs the other one, by the word predicted."""
    if subject is None or (role is not None and role.sort != GOLD + subject.relation):
        return None
    backward = role is not None and role.direction == "backward"
    fed = role is not None and role.reading == "fed"
    if kind is AttentionKind.DECODER_SELF:
        if subject.side != "target":
            return None
        ends = [_word(trace.predicted_tokens, word) for word in (subject.start, subject.end)]
    elif subject.side != "source":
        return None
    elif kind is AttentionKind.CROSS:
        end = _word(trace.source_tokens, subject.end)
        row = None
        if subject.relation == "coreference" and not backward:
            row = _word(trace.predicted_tokens, *PRONOUNS)
        if row is None or end is None:
            return None
        return Link(_moved(row, int(fed)), end)
    else:
        ends = [_word(trace.source_tokens, word) for word in (subject.start, subject.end)]
    query, key = ends[::-1] if backward else ends
    if query is None or key is None:
        return None
    if kind is AttentionKind.DECODER_SELF:
        query, key = _moved(query, int(fed)), _moved(key, 1)
        if key.stop > query.stop:
            return None
    return Link(query, key)


def weight_on(head: Head, trace: Trace, link: Link) -> float:
    """The mean over the rows of the sum over the columns."""
    rows = [trace.row(*head, row)[link.keys.start : link.keys.stop] for row in link.rows]
    return float(np.sum(rows) / len(link.rows))


def _measured(role: Role, kind: AttentionKind, trace: Trace) -> Link | None:
    """Where the text is one that the role was measured on."""
    for one in (*role.best, *role.worst):
        if one.source == trace.text and _same_target(one, kind, trace):
            columns = entries(trace.key_tokens(kind), merge_words=True)
            entry = columns.of_token(one.key)
            if entry is not None and one.query < len(trace.query_tokens(kind)):
                return Link(range(one.query, one.query + 1), columns.spans[entry])
    return None


def _same_target(one: Evidence, kind: AttentionKind, trace: Trace) -> bool:
    return kind is AttentionKind.ENCODER_SELF or trace.translation == one.target


def _looks(role: Role, head: Head, trace: Trace, rows: range, keys: range | None) -> Here:
    """Where the rows look; right if that is the word with these columns, and wrong, if nobody knows
    that word, only where they rest on a sink."""
    columns = entries(trace.key_tokens(head.kind), merge_words=True)
    weights, _allowed = map_row(trace, (head,), rows, columns)
    heaviest = int(weights.argmax())
    resting = {columns.of_token(sink.key) for sink in sinks(trace, *head)}
    looking = _name(role, trace, head.kind, rows)
    text = f"“{looking}” → “{token_name(columns.tokens[heaviest])}” {weights[heaviest]:.2f}"
    if keys is None:
        token = columns.tokens[heaviest]
        rests = heaviest in resting or _means_nothing(token)
        return Here(text, False if rests else None)
    wanted = columns.of_token(keys.start)
    if heaviest == wanted and heaviest not in resting:
        return Here(text, True)
    if wanted is not None and wanted != heaviest:
        text += f", “{token_name(columns.tokens[wanted])}” {weights[wanted]:.2f}"
    return Here(text, False)


def _name(role: Role, trace: Trace, kind: AttentionKind, rows: range) -> str:
    """The word that the rows stand for: in the decoder the one fed or the one predicted."""
    predicted = kind is not AttentionKind.ENCODER_SELF and role.reading == "predicted"
    tokens = trace.predicted_tokens if predicted else trace.query_tokens(kind)
    words = entries(tokens, merge_words=True)
    entry = words.of_token(rows[0])
    return token_name(tokens[rows[0]] if entry is None else words.tokens[entry])


def _on_words(role: Role, head: Head, trace: Trace) -> Here:
    """Of an aligner: how many rows look at a word at all."""
    weights = trace.weights(*head)
    tokens = trace.key_tokens(head.kind)
    resting = {sink.key for sink in sinks(trace, *head)}
    words = [
        key not in resting and not _means_nothing(tokens[key])
        for key in weights.argmax(axis=1).tolist()
    ]
    share = sum(words) / len(words)
    return Here(f"{sum(words)} of {len(words)} rows look at a word", share >= role.score / 2)


def _value(role: Role, head: Head, trace: Trace) -> float | None:
    """The role's own score on this text alone."""
    weights, allowed = trace.weights(*head), trace.allowed(head.kind)
    queries, keys = weights.shape
    position = _POSITION.fullmatch(role.name)
    if position is not None:
        return _positional(weights, trace.key_tokens(head.kind), int(position[1]))
    if role.sort == "sink":
        column = {"first": 0, "end": keys - 1, "final mark": keys - 2}.get(role.on)
        return None if column is None or column < 0 else float(weights[:, column].mean())
    if role.sort == "broad":
        wide = allowed.sum(axis=1) >= BROAD_KEYS
        return float(1 - weights[wide].max(axis=1).mean()) if wide.any() else None
    if role.sort == "diagonal":
        straight = np.minimum(keys - 1, np.floor(np.arange(queries) * keys / queries + 0.5))
        return float(weights[np.arange(queries), straight.astype(int)].mean())
    return None


def _positional(weights: Floats, tokens: tuple[Token, ...], offset: int) -> float | None:
    counted = [
        row
        for row in range(len(weights))
        if 0 <= row + offset < len(tokens) and tokens[row + offset].kind is not TokenKind.SPECIAL
    ]
    if not counted:
        return None
    heaviest = weights[counted].argmax(axis=1)
    return float((heaviest == np.array(counted) + offset).mean())


def _cue(role: Role, kind: AttentionKind, trace: Trace) -> range | None:
    relation = role.sort.removeprefix(GOLD)
    if role.direction == "backward":
        return None
    if kind is AttentionKind.ENCODER_SELF:
        return _word(trace.source_tokens, *_CUES.get(relation, ()))
    if kind is AttentionKind.CROSS and relation == "coreference":
        row = _word(trace.predicted_tokens, *PRONOUNS)
        return None if row is None else _moved(row, int(role.reading == "fed"))
    return None


def _word(tokens: tuple[Token, ...], *words: str) -> range | None:
    """The pieces of the first of these words."""
    wanted = {word.casefold() for word in words}
    found: Entries = entries(tokens, merge_words=True)
    for span, token in zip(found.spans, found.tokens, strict=True):
        if token.label.casefold() in wanted:
            return span
    return None


def _moved(span: range, by: int) -> range:
    return range(span.start + by, span.stop + by)


def _means_nothing(token: Token) -> bool:
    return token.kind is TokenKind.SPECIAL or is_punctuation(token)
