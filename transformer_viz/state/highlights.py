"""What is worth pointing at in a trace: the head to open on."""

from collections.abc import Iterable, Sequence

from core.text.tokens import Token
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import ModelInfo

_GERMAN_PRONOUNS = ("er", "sie", "es", "ihn")


def opening_selection(model: ModelInfo, trace: Trace) -> Selection:
    """The head that the model's own scores name for "it", with the row of the pronoun pinned.

    A model without such a score, or a trace without that head, opens on its first one. In the
    decoder the row is the one that predicts the German pronoun.
    """
    named = it_head(model)
    if named is None or not trace.has(named):
        named = Head(trace.kinds[0], 0, 0)
    kind, layer, head = named
    if kind is AttentionKind.ENCODER_SELF:
        row = _first(trace.source_tokens, ("it",))
    else:
        row = _first(trace.predicted_tokens, _GERMAN_PRONOUNS)
    return Selection(kind=kind, layer=layer, head=head, query=row)


def it_head(model: ModelInfo) -> Head | None:
    """The head that the model's own scores name for "it"."""
    named = model.provenance.get("scores", {}).get("it_head")
    if not named or named["kind"] not in list(AttentionKind):
        return None
    return Head(AttentionKind(named["kind"]), named["layer"], named["head"])


def _first(tokens: Sequence[Token], labels: Iterable[str]) -> int | None:
    wanted = set(labels)
    return next((i for i, token in enumerate(tokens) if token.label.lower() in wanted), None)
