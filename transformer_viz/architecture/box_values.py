"""What a box holds for the chosen token: one vector from the recorded states or from the trace.

Legend: D d_model, H heads that a layer has, K keys, F feed-forward width.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.trace.states import StackStates, SublayerState
from core.trace.trace import ComputedAttention, Floats, Head, Trace
from transformer_viz.architecture.diagram import kind_of
from transformer_viz.engine.recorded_states import Recorded
from transformer_viz.state.linking import Place
from transformer_viz.state.selection import Side, axes


@dataclass(frozen=True, slots=True, eq=False)
class BoxValues:
    """The numbers of a box for one token.

    Attributes:
        place: the token.
        vector: [D], [H · d_k], [K] or [F]; not finite where a key is masked.
        noun: what the vector is, to be said before its norm.
        over_keys: whether there is a number for each key instead of each dimension.
    """

    place: Place
    vector: Floats
    noun: str
    over_keys: bool = False

    @property
    def numbers(self) -> Floats:
        """The finite numbers."""
        finite: Floats = self.vector[np.isfinite(self.vector)]
        return finite

    @property
    def norm(self) -> float:
        """The Euclidean norm of the finite numbers."""
        return float(np.linalg.norm(self.numbers.astype(np.float64)))


STEPS = {
    "query": "q of all heads",
    "key": "k of all heads",
    "value": "v of all heads",
    "matmul": "q · k",
    "scale": "q · k / √d_k",
    "mask": "scores after the mask",
    "softmax": "weights",
    "attend": "weights · v",
    "concat": "outputs of all heads, side by side",
    "output": "added to the stream",
}
"""The steps inside an attention block."""

_BY_HEAD = ("matmul", "scale", "mask", "softmax", "attend")


def side_of(name: str) -> Side:
    """Return which text's tokens a box has: keys and values of cross-attention are the source's."""
    block = kind_of(name)
    part = name.rpartition(".")[2]
    if block is not None and part in ("key", "value"):
        return axes(block[0])[1]
    return "source" if name.startswith(("source", "encoder")) else "target"


def is_by_head(name: str) -> bool:
    """Whether a box shows the numbers of one head."""
    return kind_of(name) is not None and name.rpartition(".")[2] in _BY_HEAD


def box_values(
    name: str, trace: Trace, recorded: Recorded | None, place: Place, head: Head | None
) -> BoxValues | None:
    """Return what a box holds for a token, or None where that is not recorded.

    Args:
        recorded: the states of the same trace.
        head: of the block, for a step that each head makes.
    """
    part = name.rpartition(".")[2]
    block = kind_of(name)
    if block is not None and part in STEPS and part not in ("concat", "output"):
        return _of_attention(part, trace, place, block[1], head, name)
    row = None if recorded is None else recorded.row(place)
    if recorded is None or row is None:
        return None
    found = _of_stream(name, recorded.stack(place.side))
    return None if found is None else BoxValues(place, found[1][row], found[0])


def _of_stream(name: str, stack: StackStates) -> tuple[str, Floats] | None:
    """What a vector is, and those of all recorded tokens, [P, …]."""
    if name.endswith("_embedding") and not name.startswith("output"):
        return "embedding, scaled", stack.embedded
    if name.endswith("_positions"):
        return "embedding + position", stack.positioned
    if name in ("encoder_norm", "decoder_norm"):
        return "output of the stack", stack.output
    parts = name.split(".")
    if len(parts) < 2:
        return None
    layer = stack.layers[int(parts[1])]
    if len(parts) == 2:
        return "stream after the layer", layer[-1].after
    sublayer = next(one for one in layer if parts[2].removesuffix("_residual") == one.sublayer)
    return _of_sublayer(parts[3] if len(parts) > 3 else "", sublayer)


def _of_sublayer(part: str, state: SublayerState) -> tuple[str, Floats] | None:
    known: Mapping[str, tuple[str, Floats]] = {
        "": ("added to the stream", state.added),
        "output": ("added to the stream", state.added),
        "outer": ("added to the stream", state.added),
        "concat": (STEPS["concat"], state.hidden),
        "activation": ("active units", state.hidden),
        "add": ("stream after the sum", state.sum),
        "norm": ("normalised", state.normed),
    }
    return known.get(part)


def _of_attention(
    part: str, trace: Trace, place: Place, layer: int, head: Head | None, name: str
) -> BoxValues | None:
    block = kind_of(name)
    attention = None if block is None else trace.attention.get(block[0])
    if not isinstance(attention, ComputedAttention):
        return None
    one = attention.projections[layer]
    heads = list(attention.heads(layer))
    if part in ("query", "key", "value"):
        vectors = getattr(one, part)[heads, place.index]
        return BoxValues(place, vectors.reshape(-1), STEPS[part])
    if head is None:
        return None
    scores, weights = attention.scores(layer, head.head, place.index), trace.row(*head, place.index)
    hidden = slice(place.index + 1 if attention.causal else len(scores), None)
    vector: Floats
    match part:
        case "matmul":
            vector = scores * attention.divisor(layer)
        case "scale":
            vector = scores
        case "mask":
            vector = scores.copy()
            vector[hidden] = -np.inf
        case "softmax":
            vector = weights.copy()
            vector[hidden] = np.nan
        case _:
            vector = weights @ one.value[head.head]
    return BoxValues(place, vector, STEPS[part], over_keys=part != "attend")
