"""The far links of a text as a list: weight, words, head, and the steps that each needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from core.counted import counted
from core.text.tokens import Token
from core.trace.path_lengths import PathLengths, path_lengths
from core.trace.reach import FarLink
from core.trace.trace import AttentionKind
from transformer_viz.drawing.labels import draw_label, label_widths
from transformer_viz.drawing.theme import GRID, LIGHT, Theme, grown, scaled_font
from transformer_viz.widgets.row_list import ChoosingList
from transformer_viz.widgets.text_size import set_height
from transformer_viz.words.wording import head_name, head_numbers, token_name

ROW = 6 * GRID
_BAR = 12 * GRID
_NUMBER = 10 * GRID
_HEAD = 12 * GRID
_STEPS = 20 * GRID  # the width of each of the last columns
_NARROW = 16 * GRID
_GAP = 2 * GRID
_SCROLL_BAR = 2 * GRID  # always there, so that the names stand over their columns
_PAGE = 10
_PAGES = {Qt.Key.Key_PageUp: -_PAGE, Qt.Key.Key_PageDown: _PAGE}

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

NETWORKS = ("recurrent", "convolution", "dilated", "attention")
STEPS_TIP = (
    "Steps from key to query in a text of this length, by kind of network:\nrecurrent: one per "
    "token\nconvolution: layers of contiguous kernels of width k\ndilated: layers with dilations "
    "1, k, k², …\nattention: 1, at any distance\nKernels are centred in the encoder and look "
    "back in the decoder. “never”: no number\nof layers connects the two within the text."
)


@dataclass(frozen=True, slots=True)
class Columns:
    """The places of the columns of a row."""

    bar: QRectF
    weight: QRectF
    words: QRectF
    head: QRectF
    steps: tuple[QRectF, ...]  # of `NETWORKS`


def columns(rect: QRectF, font: QFont) -> Columns:
    """The words take what the others leave."""
    number, head_width = grown(_NUMBER, font), grown(_HEAD, font)
    wide = rect.width() >= grown(150 * GRID, font)
    steps_width = grown(_STEPS if wide else _NARROW, font)
    inner = rect.adjusted(_GAP, 0, -_GAP, 0)
    top, height = inner.top(), inner.height()
    bar = QRectF(inner.left(), top, _BAR, height)
    weight = QRectF(bar.right(), top, number, height)
    right = inner.right() - len(NETWORKS) * steps_width
    steps = tuple(
        QRectF(right + column * steps_width, top, steps_width, height)
        for column in range(len(NETWORKS))
    )
    head = QRectF(right - head_width, top, head_width, height)
    left = weight.right() + 2 * _GAP
    return Columns(bar, weight, QRectF(left, top, head.left() - left, height), head, steps)


class FarLinkHeader(QWidget):
    """The names of the columns."""

    def __init__(self) -> None:
        super().__init__()
        self._theme: Theme = LIGHT
        set_height(self, 6 * GRID)
        self.setToolTip(STEPS_TIP)

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            theme = self._theme
            painter.setFont(scaled_font(self.font(), 0.85))
            painter.setPen(theme.color("soft"))
            place = columns(QRectF(self.rect()).adjusted(0, 0, -_SCROLL_BAR, 0), self.font())
            weight = place.bar.united(place.weight)
            painter.drawText(weight, _LEFT, "weight")
            painter.drawText(place.words, _LEFT, "query → key")
            painter.drawText(place.head, _LEFT, "head")
            for name, box in zip(NETWORKS, place.steps, strict=True):
                painter.drawText(box, _RIGHT, name)
            painter.setPen(theme.color("line"))
            painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)


class FarLinkList(ChoosingList):
    """The list of far links. ↑ ↓, Page Up and Page Down, Home and End go from link to link and
    select each."""

    def __init__(self) -> None:
        super().__init__(ROW)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setAccessibleName("Far links, largest weight first")
        self.links: tuple[FarLink, ...] = ()
        self._tokens: tuple[Token, ...] = ()
        self._width = 3
        self._chosen: int | None = None
        self._to_sink: tuple[bool, ...] = ()

    def show_links(
        self,
        tokens: tuple[Token, ...],
        links: Sequence[FarLink],
        width: int,
        chosen: int | None,
        to_sink: Sequence[bool] = (),
    ) -> None:
        """Show links; `width`: of the convolution's kernels, `chosen`: the link that is selected,
        `to_sink`: of each link, whether its key is a sink of its head; without any, none is."""
        self._to_sink = tuple(to_sink) or (False,) * len(links)
        same = tuple(links) == self.links and tokens == self._tokens
        self.links, self._tokens, self._width = tuple(links), tokens, width
        moved = chosen != self._chosen
        self._chosen = chosen
        current = self.current if chosen is None else chosen
        if not same:
            self.set_rows(len(self.links), 0 if chosen is None else chosen)
            self.verticalScrollBar().setValue(0)  # other links: begin with the heaviest
        elif moved and chosen is not None:
            self.set_current(current)
        self.viewport().update()

    def point_at(self, row: int | None) -> None:
        """Show a row as if the pointer were on it."""
        self._point(row)

    def describe(self, row: int) -> str:
        link = self.links[row]
        paths = self._paths(link)
        words = " → ".join(
            f"{token_name(self._tokens[end])} ({end + 1})" for end in (link.query, link.key)
        )
        sink = ", a sink of this head" * self._to_sink[row]
        return (
            f"{words}{sink}: weight {link.weight:.4f}\n{head_name(link.head)}\n"
            f"{counted(link.distance, 'token')} apart: {paths.recurrent} recurrent steps, "
            f"{_layers(paths.convolution)} of "
            f"convolution with k = {self._width}, "
            f"{'never' if paths.dilated is None else paths.dilated} if dilated, {paths.attention} "
            "of attention"
        )

    def _paths(self, link: FarLink) -> PathLengths:
        return path_lengths(
            link.query,
            link.key,
            len(self._tokens),
            self._width,
            causal=link.head.kind is AttentionKind.DECODER_SELF,
        )

    def draw(self, painter: QPainter, row: int, rect: QRect) -> None:
        link, theme = self.links[row], self.theme
        chosen, focused = row == self._chosen, self.hasFocus() and row == self.current
        if chosen or row == self.pointed:
            ground = "accent_soft" if chosen else "hover"
            painter.fillRect(rect, theme.color(ground))
        if focused:
            painter.setPen(theme.color("accent"))
            painter.drawRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5))
        place = columns(QRectF(rect), self.font())
        track = QRectF(place.bar).adjusted(0, 2 * GRID, 0, -2 * GRID)
        painter.fillRect(track, theme.color("chip"))
        track.setWidth(track.width() * link.weight)
        painter.fillRect(track, theme.color("accent"))
        font = scaled_font(self.font(), 1.0)
        painter.setFont(font)
        painter.setPen(theme.color("ink"))
        painter.drawText(place.weight, _RIGHT, f"{link.weight:.2f}")
        self._draw_words(painter, place.words, link, self._to_sink[row])
        painter.setPen(theme.color("soft"))
        painter.drawText(place.head, _LEFT, head_numbers(link.head))
        paths = self._paths(link)
        steps = (paths.recurrent, paths.convolution, paths.dilated, paths.attention)
        for name, value, box in zip(NETWORKS, steps, place.steps, strict=True):
            painter.setPen(theme.color("ink" if name == "attention" else "soft"))
            painter.drawText(box, _RIGHT, "never" if value is None else f"{value:,}")

    def _draw_words(self, painter: QPainter, room: QRectF, link: FarLink, to_sink: bool) -> None:
        """Both tokens with their places; a long one is cut."""
        theme, x = self.theme, room.left()
        font, small = painter.font(), scaled_font(self.font(), 0.85)
        arrow = "→"
        metrics, figures = QFontMetricsF(font), QFontMetricsF(small)
        numbers = [f"{end + 1}" for end in (link.query, link.key)]
        used = sum(figures.horizontalAdvance(text) + 2 * GRID for text in numbers)
        used += metrics.horizontalAdvance(arrow) + 4 * GRID
        most = max(0.0, (room.width() - used) / 2)
        tokens = [self._tokens[end] for end in (link.query, link.key)]
        for number, (token, width) in enumerate(
            zip(tokens, label_widths(font, tokens), strict=True)
        ):
            if number:
                painter.setPen(theme.color("faint"))
                painter.drawText(QRectF(x, room.top(), 8 * GRID, room.height()), _LEFT, arrow)
                x += metrics.horizontalAdvance(arrow) + 2 * GRID
            box = QRectF(x, room.top(), min(width, most), room.height())
            x += draw_label(painter, box, token, theme, align=Qt.AlignmentFlag.AlignLeft) + GRID
            painter.setFont(small)
            painter.setPen(theme.color("faint"))
            advance = figures.horizontalAdvance(numbers[number])
            painter.drawText(QRectF(x, room.top(), advance, room.height()), _LEFT, numbers[number])
            x += advance + 2 * GRID
            painter.setFont(font)
        if to_sink:
            painter.setFont(small)
            painter.setPen(theme.color("warning"))
            painter.drawText(QRectF(x, room.top(), room.right() - x, room.height()), _LEFT, "sink")
            painter.setFont(font)

    def move_by(self, event: QKeyEvent) -> None:
        pages = _PAGES.get(Qt.Key(event.key()))
        if pages is None:
            super().move_by(event)
        else:
            self.set_current(self.current + pages)

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()  # it takes the room that is left, not that of all rows

    def minimumSizeHint(self) -> QSize:
        return QSize(120 * GRID, 3 * self.row_height)


def _layers(count: int | None) -> str:
    if count is None:
        return "no number of layers"
    return counted(count, "layer")
