"""The picture of one token's way, to be read step by step."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter

from core.heads import Head
from core.trace.states import Sublayer
from transformer_viz.drawing.diverging import diverging_table
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import LIGHT, Theme
from transformer_viz.stream.draw_token_stream import (
    Band,
    StreamStyle,
    draw_column_heads,
    draw_token_stream,
    heads_height,
    lay_out_stream,
    least_width,
    source_rects,
    stream_height,
)
from transformer_viz.stream.token_stream import Step, TokenStream
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.scrolled_picture import ScrolledPicture
from transformer_viz.words.wording import head_name


class TokenCanvas(ScrolledPicture):
    """↑ ↓ go through the steps, ← → to the tokens beside; a click on a head's bar selects it."""

    tokenMoved = Signal(int)
    headChosen = Signal(object)  # Head

    def __init__(self) -> None:
        super().__init__("What happens to the token, from the bottom to the top")
        self.stream: TokenStream | None = None
        self.current = 0
        self._colors = diverging_table(LIGHT)

    def apply_theme(self, theme: Theme) -> None:
        self._colors = diverging_table(theme)
        super().apply_theme(theme)

    def show_stream(self, stream: TokenStream | None) -> None:
        """Show another stream; how far it is scrolled from the bottom stays."""
        bar = self.verticalScrollBar()
        below = 0 if self.stream is None else bar.maximum() - bar.value()
        self.stream = stream
        if stream is not None:
            self.current = min(self.current, len(stream.steps) - 1)
            self.picture_changed()
            bar.setValue(bar.maximum() - below)
            announce(self, describe_step(stream.steps[self.current]))

    @property
    def has_picture(self) -> bool:
        return self.stream is not None

    def picture_size(self, width: int) -> QSize:
        assert self.stream is not None
        font = self.font()
        return QSize(max(width, least_width(font)), stream_height(self.stream, font))

    def draw(self, painter: QPainter, size: QSize) -> None:
        if self.stream is not None:
            style = StreamStyle(self.theme, self._colors, self.font())
            draw_token_stream(painter, self.stream, size.width(), style)

    def draw_fixed(self, painter: QPainter, size: QSize, top: float) -> float:
        if self.stream is None or top == 0:
            return 0.0
        style = StreamStyle(self.theme, self._colors, self.font())
        draw_column_heads(painter, self.stream, size.width(), style, top)
        return float(heads_height(self.font()))

    def current_rect(self) -> QRectF | None:
        if self.stream is None:
            return None
        return self._bands()[self.current].whole

    def _bands(self) -> tuple[Band, ...]:
        assert self.stream is not None
        return lay_out_stream(self.stream, self.size_now.width(), self.font())

    # Events

    def press(self, point: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        step = self._step_at(QPointF(point))
        if self.stream is None or step is None:
            return
        self._go_to(step)
        head = self.head_at(QPointF(point))
        if head is not None:
            self.headChosen.emit(head)

    def hover(self, point: QPoint | None) -> None:
        inside = point is not None and self.head_at(QPointF(point)) is not None
        cursor = Qt.CursorShape.PointingHandCursor if inside else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(cursor)

    def explanation(self, point: QPoint) -> str:
        step = self._step_at(QPointF(point))
        if self.stream is None or step is None:
            return ""
        return "\n".join(step_lines(self.stream.steps[step]))

    def head_at(self, point: QPointF) -> Head | None:
        number = self._step_at(point)
        if self.stream is None or number is None:
            return None
        step = self.stream.steps[number]
        rects = source_rects(self._bands()[number], step, self.font())
        for source, rect in zip(step.sources, rects, strict=True):
            if rect.contains(point):
                return source.head
        return None

    def _step_at(self, point: QPointF) -> int | None:
        if self.stream is None:
            return None
        bands = enumerate(self._bands())
        return next((number for number, band in bands if band.whole.contains(point)), None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self.stream.steps) - 1 if self.stream is not None else 0
        match event.key():
            case Qt.Key.Key_Up:
                self._go_to(self.current + 1)
            case Qt.Key.Key_Down:
                self._go_to(self.current - 1)
            case Qt.Key.Key_Home:
                self._go_to(0)
            case Qt.Key.Key_End:
                self._go_to(last)
            case Qt.Key.Key_Left:
                self.tokenMoved.emit(-1)
            case Qt.Key.Key_Right:
                self.tokenMoved.emit(1)
            case _:
                event.ignore()

    def _go_to(self, step: int) -> None:
        if self.stream is not None:
            self.current = max(0, min(step, len(self.stream.steps) - 1))
            self.reveal()
            self.viewport().update()
            announce(self, describe_step(self.stream.steps[self.current]))


def describe_step(step: Step) -> str:
    """One step in a sentence, for screen readers."""
    return ". ".join(step_lines(step)) + "."


def step_lines(step: Step) -> list[str]:
    """All the numbers of a step, a line for each."""
    where = "" if step.layer is None else f", layer {step.layer + 1}"
    lines = [f"{step.title}{where}"]
    lines += [f"{vector.name}: length {vector.length:.4g}" for vector in step.vectors]
    if step.layer is not None:
        lines.append(f"stream before: length {step.before:.4g}")
    if step.angle == step.angle:
        lines.append(f"turned by {step.angle:.1f}°")
    if step.active is not None:
        on, units = step.active
        lines.append(f"{on:,} of {units:,} units above 0")
    for source in step.sources:
        if source.head is not None:
            lines.append(f"{head_name(source.head)}: output of length {source.value:.4g}")
        elif step.sublayer is Sublayer.FEED_FORWARD:
            lines.append(f"unit {source.name}: activation {signed(source.value, 4)}")
    return lines
