"""The far links of a text twice: as arcs over it, and as a list."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from core.text.tokens import Token
from core.trace.reach import FarLink
from core.trace.trace import Head
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.reach.far_link_list import FarLinkHeader, FarLinkList
from transformer_viz.reach.reach_arcs import ReachArcs


class FarLinks(QWidget):
    """The arcs and the list of far links; what is hovered in one is highlighted in both."""

    hovered = Signal(object)  # FarLink | None
    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.arcs, self.header, self.list = ReachArcs(), FarLinkHeader(), FarLinkList()
        self._tokens: tuple[Token, ...] = ()
        self._links: tuple[FarLink, ...] = ()
        self._heads: tuple[Head, ...] = ()
        self._selected: int | None = None
        self._pointed: int | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.arcs, 1)
        rows = QVBoxLayout()
        rows.setContentsMargins(2 * GRID, 0, 2 * GRID, 0)
        rows.setSpacing(0)
        rows.addWidget(self.header)
        rows.addWidget(self.list, 1)
        column.addLayout(rows, 1)
        self.arcs.hovered.connect(self._point)
        self.arcs.clicked.connect(self._choose)
        self.list.chosen.connect(self._choose)
        self.list.rowPointed.connect(self._point)

    def apply_theme(self, theme: Theme) -> None:
        for part in (self.arcs, self.header, self.list):
            part.apply_theme(theme)

    def show_links(
        self,
        tokens: tuple[Token, ...],
        links: tuple[FarLink, ...],
        heads: Sequence[Head],
        selected: int | None,
        width: int,
        to_sink: Sequence[bool],
    ) -> None:
        """Show links. `links`: the largest first, but for a last one that may be smaller than
        others that are left out; `heads`: the selected ones; `selected`: which of the links;
        `width`: of a convolution's kernels; `to_sink`: of each link, whether its key is a sink of
        its head."""
        if links != self._links or tokens != self._tokens:
            self._pointed = None
        self._tokens, self._links, self._heads = tokens, links, tuple(heads)
        self._selected = selected
        self.list.show_links(tokens, links, width, selected, to_sink)
        self._show_arcs()

    def set_stale(self, stale: bool) -> None:
        self.arcs.set_stale(stale)

    def _show_arcs(self) -> None:
        focus = self._selected if self._pointed is None else self._pointed
        self.arcs.show_links(self._tokens, self._links, self._heads, focus)

    def _point(self, index: int | None) -> None:
        if index != self._pointed:
            self._pointed = index
            self.list.point_at(index)
            self._show_arcs()
            self.hovered.emit(None if index is None else self._links[index])

    def _choose(self, index: int | None) -> None:
        self.chosen.emit(None if index is None else self._links[index])
