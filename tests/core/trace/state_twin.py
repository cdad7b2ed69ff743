"""A forward pass in NumPy float64 that keeps every state."""

from __future__ import annotations

import numpy as np

from core.model.transformer import Transformer
from core.trace.trace import Trace
from tests.core.model.reference import Array, Reference, Sublayer, activation


class StateTwin(Reference):
    """After ``run``, ``states[name][what]`` holds [n, D] of the sub-layer called ``name``, as in
    ``decoder.0.cross_attention``, and ``heads[name]`` what each head adds, [H, n, D]."""

    def __init__(self, model: Transformer, trace: Trace) -> None:
        weights = {
            name: each.detach().double().numpy() for name, each in model.state_dict().items()
        }
        super().__init__(model.config, weights)
        self.states: dict[str, dict[str, Array]] = {}
        self.heads: dict[str, Array] = {}
        self.hidden: dict[str, Array] = {}
        self.embedded: list[Array] = []
        self.result = self.logits(
            [token.id for token in trace.source_tokens],
            [token.id for token in trace.target_tokens],
        )

    def embed(self, table: Array, ids, start: str = "bos") -> Array:
        self.embedded.append(super().embed(table, ids, start))
        return self.embedded[-1]

    def residual(self, name: str, x: Array, sublayer: Sublayer) -> Array:
        post = self.config.norm == "post"
        read = x if post else self.layer_norm(f"{name}.norm", x)
        added = sublayer(read)
        normed = self.layer_norm(f"{name}.norm", x + added) if post else read
        state = {"before": x, "added": added, "sum": x + added, "normed": normed}
        state["after"] = normed if post else x + added
        self.states[name.removesuffix("_residual")] = state
        if name.endswith("feed_forward_residual"):
            inner = name.replace("_residual", ".inner")
            self.hidden[name.removesuffix("_residual")] = activation(
                self.config.activation, self.linear(inner, read)
            )
        return state["after"]

    def multi_head(self, name: str, kind: str, query, key, value, *, causal: bool) -> Array:
        output = super().multi_head(name, kind, query, key, value, causal=causal)
        heads, _, d_v = self.head_shape(kind)
        joined = self.weights[f"{name}.output.weight"]
        self.heads[name] = np.array(
            [
                weights
                @ value[:, head * d_v : (head + 1) * d_v]
                @ joined[:, head * d_v : (head + 1) * d_v].T
                for head, weights in zip(range(heads), self.maps[kind][-1], strict=True)
            ]
        )
        return output
