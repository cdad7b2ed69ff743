"""How the window says what is selected, the same in every view, tooltip and screen reader."""

import html

from core.text.tokens import Token
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.atlas import TITLES
from transformer_viz.drawing.labels import display_text, isolated
from transformer_viz.session import Session

LONG_TITLES = {
    AttentionKind.ENCODER_SELF: "Encoder self-attention",
    AttentionKind.DECODER_SELF: "Decoder self-attention",
    AttentionKind.CROSS: "Cross-attention",
}

AXES = {
    AttentionKind.ENCODER_SELF: "Row: the source token that looks. "
    "Column: the source token looked at.",
    AttentionKind.DECODER_SELF: "Row: the last token so far → the token predicted. "
    "Column: the target token looked at.",
    AttentionKind.CROSS: "Row: the last target token so far → the token predicted. "
    "Column: the source token looked at.",
}


def plain_tooltip(text: str) -> str:
    """Text for a tooltip, shown as it stands even where it looks like markup."""
    return f'<p style="white-space:pre">{html.escape(text)}</p>'


def head_name(head: Head) -> str:
    return f"{TITLES[head.kind]} · layer {head.layer + 1} · head {head.head + 1}"


def head_title(head: Head) -> str:
    return f"{LONG_TITLES[head.kind]} · layer {head.layer + 1} · head {head.head + 1}"


def token_name(token: Token) -> str:
    return isolated(display_text(token))


def predicted_token(trace: Trace, kind: AttentionKind, query: int) -> Token | None:
    """What a decoder row predicts; None for encoder rows and for traces that do not say."""
    if kind is AttentionKind.ENCODER_SELF or query >= len(trace.predicted_tokens):
        return None
    return trace.predicted_tokens[query]


def cell_name(trace: Trace, kind: AttentionKind, query: int, key: int) -> str:
    """The cell in words, without its value: "it → animal"."""
    row, column = trace.query_tokens(kind)[query], trace.key_tokens(kind)[key]
    return f"{token_name(row)} → {token_name(column)}"


def describe_selection(session: Session) -> str:
    """Head, and the cell in focus with its weight: for the status bar and screen readers."""
    selection, trace = session.selection, session.trace
    name = head_name(Head(selection.kind, selection.layer, selection.head))
    query, key = session.focus
    if trace is None or query is None:
        return name
    kind = selection.kind
    row = f"{token_name(trace.query_tokens(kind)[query])} ({query + 1})"
    if key is None:
        return f"{name} · {row}"
    column = f"{token_name(trace.key_tokens(kind)[key])} ({key + 1})"
    if not trace.allowed(kind)[query, key]:
        return f"{name} · {row} → {column}: masked"
    weight = trace.row(kind, selection.layer, selection.head, query)[key]
    return f"{name} · {row} → {column}: weight {weight:.4f}"
