"""Which decoder heads a step is shown with: those selected, of each kind the last."""

from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.state.linking import last_layer
from transformer_viz.state.session import Session
from transformer_viz.words.titles import LONG_TITLES
from transformer_viz.words.wording import head_title


class ShownHeads:
    """The heads shown of each kind: those selected, or all heads of the last layer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last: dict[AttentionKind, tuple[Head, ...]] = {}
        session.selectionChanged.connect(self._remember)
        self._remember()

    def of(self, kind: AttentionKind, trace: Trace) -> tuple[Head, ...]:
        """Return heads of the trace; none where it lacks the kind."""
        if kind not in trace.kinds:
            return ()
        heads = tuple(head for head in self._last.get(kind, ()) if trace.has(head))
        return heads or last_layer(trace, kind)

    def _remember(self) -> None:
        selection = self._session.selection
        self._last[selection.kind] = selection.heads


def heads_title(heads: tuple[Head, ...]) -> str:
    """Return a title, for example "Cross-attention · layer 4 · mean of 6 heads"."""
    first = heads[0]
    if len(heads) == 1:
        return head_title(first)
    layers = {head.layer for head in heads}
    layer = f" · layer {first.layer + 1}" if len(layers) == 1 else ""
    return f"{LONG_TITLES[first.kind]}{layer} · mean of {len(heads)} heads"
