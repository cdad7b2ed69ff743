"""What bench_views times: our widgets fed by our model, and bertviz fed by our attention."""

from __future__ import annotations

from typing import Any

import bertviz
import numpy as np
import torch
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication, QWidget

from core.trace.record import trace_text
from core.trace.trace import AttentionKind, Trace
from tests.benchmarks.large_model import large_checkpoint, source_text
from tests.transformer_viz.stage import weights_alone
from transformer_viz.engine.stream import Stream
from transformer_viz.heads_map.heads_map import HeadsMap
from transformer_viz.heads_map.measured_heads import MeasuredHeads
from transformer_viz.links.links import Links
from transformer_viz.state.session import Session
from transformer_viz.widgets.spotlight import Spotlight


class Ours:
    """The model, and the two views on sessions of their own."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        self._app = QApplication.instance() or QApplication([])
        self._checkpoint = large_checkpoint()
        self._map_session, self._links_session = Session(), Session()
        session = self._map_session
        self._map = HeadsMap(
            session, weights_alone(session), MeasuredHeads(session), Spotlight(session)
        )
        self._links = Links(self._links_session, weights_alone(self._links_session))
        for view in (self._map, self._links):
            view.resize(1200, 900)
            view.show()

    def texts(self, length: int) -> tuple[str, str]:
        """A source and a target of so many tokens."""
        text = source_text(length, self._checkpoint.tokenizer)
        return text, text

    def trace(self, source: str, target: str) -> Trace:
        model, tokenizer = self._checkpoint.model, self._checkpoint.tokenizer
        return trace_text(model, tokenizer, source, target=target)

    def heads_map(self, source: str, target: str) -> None:
        self._map_session.set_trace(self.trace(source, target))
        _paint(self._map)

    def links(self, source: str, target: str) -> None:
        trace = self.trace(source, target)
        others = tuple((0, head) for head in trace.heads(AttentionKind.ENCODER_SELF, 0))
        self._links_session.select(kind=AttentionKind.ENCODER_SELF, layer=0, others=others)
        self._links_session.set_trace(trace)
        _paint(self._links)

    def close(self) -> None:
        self._map.close()
        self._links.close()


def _paint(view: QWidget) -> None:
    """Until the picture is complete and painted."""
    while any(stream.running for stream in view.findChildren(Stream)):
        QCoreApplication.processEvents()
    view.grab()


def bertviz_input(trace: Trace) -> dict[str, Any]:
    """The attention of a trace as bertviz takes it: for each layer [1, H, Q, K]."""

    def layers(kind: AttentionKind) -> tuple[torch.Tensor, ...]:
        return tuple(
            torch.from_numpy(
                np.stack([trace.weights(kind, layer, h) for h in trace.heads(kind, layer)])
            )[None]
            for layer in range(trace.layers(kind))
        )

    return {
        "encoder_attention": layers(AttentionKind.ENCODER_SELF),
        "decoder_attention": layers(AttentionKind.DECODER_SELF),
        "cross_attention": layers(AttentionKind.CROSS),
        "encoder_tokens": [token.piece for token in trace.source_tokens],
        "decoder_tokens": [token.piece for token in trace.target_tokens],
    }


def bertviz_page(view: str, attention: dict[str, Any]) -> str:
    page: str = getattr(bertviz, view)(**attention, html_action="return").data
    return page
