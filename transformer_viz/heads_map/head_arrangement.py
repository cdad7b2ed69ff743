"""Where the heads of the map lie: by layer, or ranked by a measure, whose numbers stand beside."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QFont, QFontMetrics

from core.statistics.registry import Statistic
from core.trace.trace import Head
from transformer_viz.drawing.theme import caption_font
from transformer_viz.heads_map.atlas_layout import (
    USUAL,
    AtlasLayout,
    fit_by_layer,
    fit_figure,
    fit_ranked,
    rows_by_layer,
)
from transformer_viz.heads_map.measured_heads import MeasuredHeads
from transformer_viz.state.session import Session
from transformer_viz.words.measures import measure, number, ranked


class HeadArrangement:
    """The heads of the session's trace, in the order that its options name.

    Attributes:
        captions: name and number of each head; none where they lie by layer.
        final: whether all is measured that they are ranked by.
    """

    def __init__(self, session: Session, measured: MeasuredHeads) -> None:
        self._session = session
        self._measured = measured
        self.layout = AtlasLayout((), 0)
        self.captions: dict[Head, tuple[str, str]] = {}
        self.final = True

    def fit(self, room: QSize, font: QFont, *, figure: bool = False) -> None:
        """Arrange the heads in a room, for the window or for a figure."""
        trace, by = self._session.trace, measure(self._session.options.order)
        kinds = () if trace is None else rows_by_layer(trace)
        self.captions, self.final = {}, True
        bands = USUAL.fitted(font)
        if by is None:
            fit = fit_figure if figure else fit_by_layer
            self.layout = fit(kinds, room.width(), room.height(), bands)
        else:
            orders = self._ranked([[head for row in rows for head in row] for rows in kinds], by)
            beside = self._caption_width(font)
            self.layout = fit_ranked(orders, room.width(), room.height(), beside, bands)

    def _ranked(self, kinds: list[list[Head]], by: Statistic) -> list[list[Head]]:
        """Each kind best first, with captions; until all is measured, in the order shown."""
        heads = [head for kind in kinds for head in kind]
        known = self._measured.want(heads)
        self.final = known is not None
        numbers = {} if known is None else {head: number(by, known[head]) for head in heads}
        self.captions = {
            head: (f"{head.layer + 1}.{head.head + 1}", numbers.get(head, "…")) for head in heads
        }
        if known is not None:
            return [ranked(kind, by, known) for kind in kinds]
        shown = [head for head in self.layout if head in self.captions]
        if len(shown) != len(heads):
            return kinds
        return [[head for head in shown if head.kind is kind[0].kind] for kind in kinds]

    def _caption_width(self, font: QFont) -> int:
        metrics = QFontMetrics(caption_font(font))
        names = (metrics.horizontalAdvance(name) for name, _number in self.captions.values())
        return max(names, default=0) + metrics.horizontalAdvance(" 00.00")
