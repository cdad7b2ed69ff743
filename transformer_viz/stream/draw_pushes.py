"""The words that heads push up and down, and the logit of the next word as a sum of parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from core.analysis.direct import Part, Source
from core.heads import Head
from core.trace.states import Sublayer
from transformer_viz.drawing.labels import draw_label
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, Theme, grown, scaled_font, taller
from transformer_viz.engine.readings import PushedWord, Pushes
from transformer_viz.words.wording import heads_title, token_name

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_MARGIN = 4 * GRID
_LINE = 6 * GRID
_BETWEEN = 8 * GRID  # the two halves
_WORD, _NAME = 34 * GRID, 55 * GRID  # of the names in the left and in the right half
_NUMBER = 13 * GRID
_LEAST_BAR = 20 * GRID
_BAR = 3 * GRID

_SUBLAYERS = {
    Sublayer.SELF_ATTENTION: "self-attention",
    Sublayer.CROSS_ATTENTION: "cross-attention",
    Sublayer.FEED_FORWARD: "feed-forward",
}


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the logit with its name; `chosen`: it is of the heads that are shown."""

    name: str
    change: float
    chosen: bool = False


def logit_shares(pushes: Pushes) -> tuple[Share, ...]:
    """The parts of the logit against the mean over all words, in the order of the data: the chosen
    heads by themselves, the other heads of each attention together, and all biases together."""
    sums: dict[str, float] = {}
    of_chosen: set[str] = set()
    contributions = pushes.above_mean.tolist()
    chosen_heads = set(pushes.heads)
    for part, change in zip(pushes.parts.parts, contributions[:-1], strict=True):
        name = _share_name(part, chosen_heads, others=_has_others(pushes, part))
        if part.head in chosen_heads:
            of_chosen.add(name)
        sums[name] = sums.get(name, 0.0) + change
    biases = sums.pop(_BIASES, 0.0) + contributions[-1]
    return (
        *(Share(name, change, name in of_chosen) for name, change in sums.items()),
        Share(_BIASES, biases),
    )


_BIASES = "all biases and norms’ β"


def _has_others(pushes: Pushes, part: Part) -> bool:
    """Whether one of the chosen heads is of the same sub-layer."""
    return any(
        one.head in pushes.heads and (one.layer, one.sublayer) == (part.layer, part.sublayer)
        for one in pushes.parts.parts
    )


def _share_name(part: Part, chosen: set[Head], *, others: bool) -> str:
    if part.source in (Source.BIAS, Source.NORM):
        return _BIASES
    if part.sublayer is None or part.layer is None:
        return part.source.value
    name = f"layer {part.layer + 1} {_SUBLAYERS[part.sublayer]}"
    if part.head is not None and part.head in chosen:
        return f"{name}, head {part.head.head + 1}"
    return f"{name}, others" if others and part.head is not None else name


def pushes_size(pushes: Pushes, width: int, font: QFont) -> QSize:
    line = taller(_LINE, font)
    lines = max(len(pushes.up) + len(pushes.down) + 4, len(logit_shares(pushes)) + 3)
    halves = _WORD + _NAME + 2 * (_NUMBER + _LEAST_BAR)
    least = grown(halves, font) + _BETWEEN + 2 * _MARGIN
    return QSize(max(width, math.ceil(least)), lines * line + 2 * _MARGIN)


def draw_pushes(painter: QPainter, pushes: Pushes, size: QSize, theme: Theme, font: QFont) -> None:
    _Drawing(painter, pushes, size, theme, font).draw()


class _Drawing:
    def __init__(
        self, painter: QPainter, pushes: Pushes, size: QSize, theme: Theme, font: QFont
    ) -> None:
        self._painter = painter
        self._pushes = pushes
        self._theme = theme
        self._line = taller(_LINE, font)
        self._plain = scaled_font(font, 1.0)
        self._bold = scaled_font(font, 1.0, bold=True)
        self._small = scaled_font(font, 0.85)
        room = size.width() - 2 * _MARGIN - _BETWEEN
        more = grown(_NAME - _WORD, font)
        left, right = (room - more) / 2, (room + more) / 2
        self._left = QRectF(_MARGIN, _MARGIN, left, self._line)
        self._right = QRectF(self._left.right() + _BETWEEN, _MARGIN, right, self._line)

    def draw(self) -> None:
        pushes = self._pushes
        largest = max(abs(word.change) for word in (*pushes.up, *pushes.down)) or 1.0
        line = self._left
        for title, words in (("Pushes up", pushes.up), ("Pushes down", pushes.down)):
            self._write(line, title, "ink", self._bold, _LEFT)
            for word in words:
                line = line.translated(0, self._line)
                self._draw_word(line, word, largest)
            line = line.translated(0, 2 * self._line)
        self._draw_shares(logit_shares(pushes))

    def _draw_word(self, line: QRectF, word: PushedWord, largest: float) -> None:
        name, bar = self._columns(line, _WORD)
        self._painter.setFont(self._plain)
        strong = word.token == self._pushes.word
        draw_label(
            self._painter,
            name,
            word.token,
            self._theme,
            align=Qt.AlignmentFlag.AlignLeft,
            strong=strong,
            word_mark=True,
        )
        self._draw_bar(bar, word.change, largest, "accent" if word.change >= 0 else "warning")
        self._write(line, signed(word.change), "ink", self._plain, _RIGHT)

    def _draw_shares(self, shares: Sequence[Share]) -> None:
        line, pushes = self._right, self._pushes
        title = f"Logit of “{token_name(pushes.word)}”, above the mean of all words"
        self._write(line, title, "ink", self._bold, _LEFT)
        largest = max(abs(one.change) for one in shares) or 1.0
        for one in shares:
            line = line.translated(0, self._line)
            name, bar = self._columns(line, _NAME)
            if one.chosen:
                self._painter.fillRect(line, self._theme.color("accent_soft"))
            self._write(name, one.name, "ink", self._bold if one.chosen else self._plain, _LEFT)
            self._draw_bar(bar, one.change, largest, "accent" if one.change >= 0 else "warning")
            self._write(line, signed(one.change), "ink", self._plain, _RIGHT)
        line = line.translated(0, self._line)
        self._painter.setPen(QPen(self._theme.color("line"), 1))
        self._painter.drawLine(QLineF(line.topLeft(), line.topRight()))
        mean, total = float(pushes.means.sum()), sum(one.change for one in shares)
        self._write(line, sum_in_words(pushes.logit, mean), "soft", self._plain, _LEFT)
        self._write(line, signed(total), "ink", self._bold, _RIGHT)

    def _columns(self, line: QRectF, room: float) -> tuple[QRectF, QRectF]:
        """Return where names and bars are; numbers are at the end."""
        name = QRectF(line.left(), line.top(), grown(room, self._plain), line.height())
        right = line.right() - grown(_NUMBER, self._plain)
        return name.adjusted(0, 0, -2 * GRID, 0), QRectF(
            name.right(), line.top(), right - name.right(), line.height()
        )

    def _draw_bar(self, room: QRectF, change: float, largest: float, token: str) -> None:
        """From the middle, to the right where it is above 0."""
        painter, middle = self._painter, room.center()
        length = room.width() / 2 * change / largest
        top = middle.y() - _BAR / 2
        bar = QRectF(middle.x(), top, length, _BAR).normalized()
        painter.fillRect(bar, self._theme.color(token))
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.drawLine(QLineF(middle.x(), room.top(), middle.x(), room.bottom()))

    def _write(
        self, rect: QRectF, text: str, token: str, font: QFont, align: Qt.AlignmentFlag
    ) -> None:
        self._painter.setFont(font)
        self._painter.setPen(self._theme.color(token))
        shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        self._painter.drawText(rect, align | Qt.TextFlag.TextSingleLine, shown)


def sum_in_words(logit: float, mean: float) -> str:
    """How the sum of all parts is the model's logit."""
    return f"sum = logit {signed(logit)} minus the mean {signed(mean)}"


def pushes_in_words(pushes: Pushes) -> str:
    """The words and their changes in a sentence, for screen readers."""
    sides = (("up", pushes.up), ("down", pushes.down))
    said = [
        f"pushes {side} "
        + ", ".join(f"{token_name(one.token)} {signed(one.change)}" for one in words)
        for side, words in sides
    ]
    return f"{heads_title(pushes.heads, averaged=False)} {'; '.join(said)}."
