"""The arcs of far links, to point at and to click."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QToolTip

from core.counted import counted
from core.text.tokens import Token
from core.trace.reach import FarLink
from core.trace.trace import Head
from transformer_viz.drawing.labels import describe_at
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.reach.draw_reach_arcs import ArcsLayout, ArcsPicture, draw_arcs, lay_out_arcs
from transformer_viz.widgets.picture import Picture
from transformer_viz.words.wording import head_name, plain_tooltip, token_name

_STALE = 0.55  # how much of a picture goes over into the paper while a newer one is on its way


class ReachArcs(Picture):
    """The far links as arcs; the keyboard belongs to the list beside it."""

    hovered = Signal(object)  # int | None, which of the links
    clicked = Signal(object)

    def __init__(self) -> None:
        super().__init__("Far links as arcs over the text")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.picture: ArcsPicture | None = None
        self._layout: ArcsLayout | None = None
        self._stale = False

    def show_links(
        self,
        tokens: tuple[Token, ...],
        links: tuple[FarLink, ...],
        heads: Sequence[Head],
        focus: int | None,
    ) -> None:
        if self.picture is None or self.picture.tokens is not tokens:
            self._layout = None
        self.picture = ArcsPicture(tokens, links, frozenset(heads), focus)
        self.update()

    def set_stale(self, stale: bool) -> None:
        if stale != self._stale:
            self._stale = stale
            self.update()

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.update()

    def layout_now(self) -> ArcsLayout:
        assert self.picture is not None
        if self._layout is None:
            self._layout = lay_out_arcs(QRectF(self.rect()), self.picture.tokens, self.font())
        return self._layout

    def minimumSizeHint(self) -> QSize:
        return QSize(60 * GRID, 32 * GRID)

    def frame(self) -> QRectF | None:
        return None

    def paint(self, painter: QPainter) -> None:
        if self.picture is not None:
            draw_arcs(painter, self.picture, self.layout_now(), self.theme, self.font())

    def paint_screen(self, painter: QPainter) -> None:
        self.paint(painter)
        if self._stale:
            veil = self.theme.color("paper")
            veil.setAlphaF(_STALE)
            painter.fillRect(self.rect(), veil)

    def link_at(self, point: QPointF) -> int | None:
        picture = self.picture
        return None if picture is None else self.layout_now().link_at(point, picture.links)

    def explanation(self, point: QPointF) -> str:
        picture = self.picture
        if picture is None:
            return ""
        index = self.link_at(point)
        if index is not None:
            link = picture.links[index]
            ends = (token_name(picture.tokens[end]) for end in (link.query, link.key))
            return (
                f"{' → '.join(ends)}\n{head_name(link.head)}\n"
                f"weight {link.weight:.4f} over {counted(link.distance, 'token')}"
            )
        token = self.layout_now().token_at(point)
        return "" if token is None else describe_at(picture.tokens, token)

    # Events

    def resizeEvent(self, event: QEvent) -> None:
        self._layout = None

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._layout = None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hovered.emit(self.link_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered.emit(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(self.link_at(event.position()))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            text = self.explanation(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tooltip(text) if text else "", self)
            return True
        return super().event(event)
