"""What attention moved, beside what it looked at: a value that views and programs can read.

Legend: H heads, Q queries, K keys, T target. NumPy only; ``core.analysis.decomposition`` makes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.analysis.composition import Composition
from core.heads import AttentionKind
from core.trace.trace import Floats, Trace


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """What each token contributes in one trace, computed by the model that made it.

    Attributes:
        lengths: ‖f_h(x_j)‖ of the heads that each layer has, [H, K]: the length of what a head
            would add to a position that looked at key j alone, its gate included.
        layer_norms: ‖Σ_h A_h[i, j] f_h(x_j)‖ of each layer, [Q, K].
        alti: the composition of ALTI+.
        error: the largest difference between a block's real output and the sum of the parts that
            it was taken into, over max(1, the largest output).
    """

    trace: Trace
    lengths: Mapping[AttentionKind, tuple[Floats, ...]]
    layer_norms: Mapping[AttentionKind, tuple[Floats, ...]]
    alti: Composition
    error: float

    def norm(self, kind: AttentionKind, layer: int, head: int) -> Floats:
        """Return ‖A[i, j] f(x_j)‖ = A[i, j] ‖f(x_j)‖ of one head, [Q, K] (Kobayashi et al. 2020,
        arXiv 2004.10102)."""
        return self.norm_trace().weights(kind, layer, head)

    def norm_trace(self) -> Trace:
        """The trace with each head's norms in place of its weights."""
        norms = {kind: _Norms(self, kind) for kind in self.trace.kinds}
        return replace(self.trace, attention=norms)

    def layer_norm_trace(self) -> Trace:
        """Return the trace with the norms of what all heads of a layer contribute together."""
        return layer_trace(self.trace, self.layer_norms)


@dataclass(frozen=True, slots=True, eq=False)
class _Norms:
    of: Contributions
    kind: AttentionKind

    @property
    def layers(self) -> int:
        return self.of.trace.layers(self.kind)

    def heads(self, layer: int) -> Sequence[int]:
        return self.of.trace.heads(self.kind, layer)

    def weights(self, layer: int, head: int, query: int | None = None) -> Floats:
        weights = self.of.trace.attention[self.kind].weights(layer, head, query)
        place = self.heads(layer).index(head)
        norms: Floats = weights * self.of.lengths[self.kind][layer][place]
        return norms


@dataclass(frozen=True, slots=True, eq=False)
class _LayerMaps:
    """One map for all heads of a layer."""

    maps: tuple[Floats, ...]  # [Q, K] of each layer
    numbers: tuple[Sequence[int], ...]  # of the heads of each layer

    @property
    def layers(self) -> int:
        return len(self.maps)

    def heads(self, layer: int) -> Sequence[int]:
        return self.numbers[layer]

    def weights(self, layer: int, head: int, query: int | None = None) -> Floats:
        one = self.maps[layer]
        return one if query is None else one[query]


def layer_trace(trace: Trace, maps: Mapping[AttentionKind, tuple[Floats, ...]]) -> Trace:
    """The trace with these maps, one a layer, in place of its heads' weights; kinds without maps
    are left out."""
    attention = {
        kind: _LayerMaps(each, tuple(trace.heads(kind, layer) for layer in range(len(each))))
        for kind, each in maps.items()
        if kind in trace.kinds and len(each) == trace.layers(kind)
    }
    return replace(trace, attention=attention)


def composition_trace(trace: Trace, composition: Composition) -> Trace:
    """The trace with the shares after each layer in place of its heads' weights."""
    return layer_trace(trace, {kind: composition.maps(kind) for kind in trace.kinds})


def largest(trace: Trace, kind: AttentionKind) -> float:
    """The largest value of all maps of a kind."""
    heads = (trace.weights(*head) for head in trace.every_head(kind))
    return max((float(np.max(one)) for one in heads), default=0.0)
