"""Weight by distance of every head, to point at and to choose heads from."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QToolTip

from core.trace.reach import Reach, binned, distance_bins
from core.trace.trace import Head
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.theme import Theme
from transformer_viz.reach.histograms import (
    Histograms,
    HistogramsLayout,
    bin_name,
    draw_histograms,
    lay_out_histograms,
)
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.picture import Picture
from transformer_viz.words.wording import head_name, plain_tooltip

_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class ReachHistograms(Picture):
    """The weight by distance; a click or the arrows select a head, Ctrl+click adds or removes
    one."""

    headClicked = Signal(object, bool)  # Head, and whether beside the others
    headMoved = Signal(int, int)  # layers, heads

    def __init__(self) -> None:
        super().__init__("Weight by distance, for every head")
        self.shown: Histograms | None = None
        self._reach: Reach | None = None

    def show_reach(self, reach: Reach, selected: tuple[Head, ...]) -> None:
        """Show distances; `selected` are the heads whose mean is shown large."""
        self._reach = reach
        bins = distance_bins(len(reach.even.shares))
        heads = {head: binned(one.shares, bins) for head, one in reach.profiles.items()}
        chosen = [heads[head] for head in selected if head in heads]
        mean = np.stack(chosen).mean(axis=0) if chosen else np.zeros(len(bins))
        self.shown = Histograms(
            bins, mean, binned(reach.even.shares, bins), heads, frozenset(selected)
        )
        bars = "; ".join(
            f"{bin_name(one)}: {percent(weight)}"
            for one, weight in zip(bins, mean.tolist(), strict=True)
        )
        announce(self, f"Weight by distance in tokens: {bars}")
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.update()

    def layout_now(self) -> HistogramsLayout:
        assert self.shown is not None
        return lay_out_histograms(QRectF(self.rect()), list(self.shown.heads), self.font())

    def frame(self) -> QRectF | None:
        return QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5) if self.shown else None

    def paint(self, painter: QPainter) -> None:
        if self.shown is not None:
            draw_histograms(painter, self.shown, self.layout_now(), self.theme, self.font())

    def explanation(self, point: QPointF) -> str:
        head = self.layout_now().head_at(point) if self.shown is not None else None
        if head is None or self._reach is None:
            return ""
        profile = self._reach.profiles[head]
        return (
            f"{head_name(head)}\nmean distance {profile.mean:.1f} tokens\n"
            f"{percent(profile.beyond(5))} of its weight at 5 tokens or more"
        )

    # Events

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.shown is not None:
            head = self.layout_now().head_at(event.position())
            if head is not None:
                beside = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
                self.headClicked.emit(head, beside)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = _MOVES.get(Qt.Key(event.key()))
        if move is not None:
            self.headMoved.emit(*move)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            text = self.explanation(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tooltip(text) if text else "", self)
            return True
        return super().event(event)
