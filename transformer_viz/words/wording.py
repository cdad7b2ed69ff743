"""How the window says what is selected, the same in every view, tooltip and screen reader."""

import html
from collections.abc import Sequence

from core.text.tokens import Token
from core.text.words import join_pieces, word_span
from core.trace.head_map import cell_weight
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.labels import display_text, isolated
from transformer_viz.drawing.numbers import place_of
from transformer_viz.state.options import Combine
from transformer_viz.state.session import Session
from transformer_viz.words.titles import LONG_TITLES, TITLES

_MOST_NUMBERS = 8  # heads that are listed


def plain_tooltip(text: str) -> str:
    """Return text for a tooltip, shown as it is even where it looks like markup."""
    return f'<p style="white-space:pre">{html.escape(text)}</p>'


def head_name(head: Head) -> str:
    return f"{TITLES[head.kind]} · layer {head.layer + 1} · head {head.head + 1}"


def head_title(head: Head) -> str:
    return f"{LONG_TITLES[head.kind]} · layer {head.layer + 1} · head {head.head + 1}"


def heads_title(heads: Sequence[Head], *, averaged: bool) -> str:
    """Return the title of one head, of the mean of several, or of several beside each other."""
    if len(heads) == 1:
        return head_title(heads[0])
    mean = "mean of " if averaged else ""
    return f"{LONG_TITLES[heads[0].kind]} · {mean}{heads_in_words(heads)}"


def one_of(selected: int) -> str:
    """What a view of a single head adds to its name where several heads are selected."""
    return f" (current head of {selected} selected)" if selected > 1 else ""


def head_numbers(head: Head) -> str:
    """Return layer and head, for example "2.4"."""
    return f"{head.layer + 1}.{head.head + 1}"


def heads_in_words(heads: Sequence[Head]) -> str:
    """Return "3 heads: 2.1, 2.3, 3.4"; a long list is shortened."""
    numbers = [head_numbers(head) for head in heads]
    if len(numbers) > _MOST_NUMBERS:
        numbers[_MOST_NUMBERS - 1 : -1] = ["…"]
    return f"{len(heads)} heads: {', '.join(numbers)}"


def signed(number: float) -> str:
    """Two decimals, with a true minus."""
    return f"{number:.2f}".replace("-", "−")


def score_formula(alpha: float, penalty: str, tokens: str) -> str:
    """What a finished hypothesis is worth by this form of the length penalty; `tokens` is what
    its length is called."""
    if penalty == "none":
        return "log P"
    base = f"((5 + {tokens}) / 6)" if penalty == "gnmt" else tokens
    return f"log P / {base}^{alpha:g}"


def token_name(token: Token) -> str:
    return isolated(display_text(token))


def predicted_token(trace: Trace, kind: AttentionKind, query: int) -> Token | None:
    """What a decoder row predicts; None for encoder rows and for traces that do not say."""
    if kind is AttentionKind.ENCODER_SELF or query >= len(trace.predicted_tokens):
        return None
    return trace.predicted_tokens[query]


def describe_selection(session: Session) -> str:
    """The heads, and the row or cell in focus with its weight, in tokens or merged words: for the
    status bar and screen readers. Of heads side by side, the weight is that of the current one."""
    selection, trace = session.selection, session.trace
    averaged = session.options.combine is Combine.MEAN
    heads = selection.heads if averaged else (selection.primary,)
    name = head_name(selection.primary)
    if len(selection.heads) > 1:
        several = heads_in_words(selection.heads)
        how = f"mean of {several}" if averaged else f"{several}; current: {head_numbers(heads[0])}"
        name = f"{TITLES[selection.kind]} · {how}"
    return name if trace is None else name + describe_focus(session, trace, heads, "weight")


def describe_focus(session: Session, trace: Trace, heads: Sequence[Head], quantity: str) -> str:
    """The row or cell in focus with its `quantity` in the maps of a trace, as it goes on behind a
    name; nothing where no row is."""
    query, key = session.focus
    if query is None:
        return ""
    selection = session.selection
    kind, merged = selection.kind, session.options.merge_words
    tokens = trace.query_tokens(kind)
    queries = word_span(tokens, query) if merged else range(query, query + 1)
    predicted = predicted_token(trace, kind, queries[-1])
    ahead = f", predicts {token_name(predicted)}" if predicted is not None else ""
    cell = f" · {_named(tokens, queries, ahead)}"
    if key is None:
        return cell
    tokens = trace.key_tokens(kind)
    keys = word_span(tokens, key) if merged else range(key, key + 1)
    cell += f" → {_named(tokens, keys)}"
    if not trace.allowed(kind)[queries.start : queries.stop, keys.start : keys.stop].any():
        return f"{cell}: masked"
    return f"{cell}: {quantity} {cell_weight(trace, heads, queries, keys):.4f}"


def _named(tokens: Sequence[Token], span: range, more: str = "") -> str:
    """A token or a word with its place in the text: "it (10)", "didn't (3–5)"."""
    name = token_name(join_pieces(tokens[span.start : span.stop]))
    return f"{name} ({place_of(span)}{more})"
