"""The thumbnails of the heads map, made at once or, for long texts, beside the event loop."""

import numpy as np
from PySide6.QtCore import QObject, Signal

from core.trace.trace import Head
from transformer_viz.engine.quantities import Found, Quantities
from transformer_viz.engine.stream import Stream
from transformer_viz.heads_map.atlas import thumbnails

INLINE_CELLS = 500_000
"""A trace of so many cells, over all heads, is drawn at once; a larger one fills in."""


class HeadTiles(QObject):
    """The tiles of the chosen quantity if each head has its own, otherwise of the weights.

    Attributes:
        found: what they are of; while norms are on their way, what they were of before.
        codes: of each head, uint8 [h, w].
    """

    changed = Signal()  # all of them
    arrived = Signal(object)  # the head of one that fills in

    def __init__(self, quantities: Quantities, parent: QObject) -> None:
        super().__init__(parent)
        self._quantities = quantities
        self.found: Found | None = None
        self.codes: dict[Head, np.ndarray] = {}
        self._stream = Stream(self)
        self._stream.arrived.connect(self._add)
        quantities.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        found = self._quantities.of_heads
        if found is None or found is self.found:
            return
        self._stream.stop()
        self.found, self.codes = found, {}
        trace = found.trace
        cells = sum(trace.allowed(kind).size * len(trace.every_head(kind)) for kind in trace.kinds)
        if cells <= INLINE_CELLS:
            self.codes = dict(thumbnails(trace, found.tops))
        else:
            self._stream.start(thumbnails(trace, found.tops))
        self.changed.emit()

    def _add(self, tile: tuple[Head, np.ndarray]) -> None:
        head, codes = tile
        self.codes[head] = codes
        self.arrived.emit(head)
