"""What the token pointed at is linked with, in all three kinds: one line of tokens for each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from core.text.tokens import Token
from core.trace.trace import AttentionKind, Floats, Head, Trace
from transformer_viz.drawing.labels import draw_label, label_widths
from transformer_viz.drawing.shading import shaded
from transformer_viz.drawing.theme import GRID, LIGHT, Theme, grown, scaled_font, taller
from transformer_viz.state.linking import Linked, Place, followed_heads
from transformer_viz.state.selection import Selection
from transformer_viz.widgets.accessibility import announce
from transformer_viz.words.titles import LONG_TITLES
from transformer_viz.words.wording import head_name, plain_tooltip, token_name

_ROW = 6 * GRID
MOST_TOKENS = 6
_NAMES = 18 * GRID  # width of the column of names

_E, _D, _C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS


@dataclass(frozen=True, slots=True)
class LinkLine:
    """A line of tokens with their weights, the largest first, and what they are in words."""

    name: str
    explanation: str
    tokens: tuple[tuple[Token, float], ...]

    @property
    def text(self) -> str:
        return ", ".join(f"{token_name(token)} {weight:.2f}" for token, weight in self.tokens)


def place_token(trace: Trace, place: Place) -> Token:
    if place.side == "source":
        return trace.source_tokens[place.index]
    return (trace.predicted_tokens or trace.target_tokens)[place.index]


def link_lines(trace: Trace, selection: Selection, linked: Linked) -> list[LinkLine]:
    """A line for each kind of attention that the trace has; the third starts where the second
    ends."""
    word = f"“{token_name(place_token(trace, linked.place))}”"
    source, fed = trace.source_tokens, trace.target_tokens
    if linked.place.side == "target":
        own, across, onward = (
            ("decoder", _D, f"What the decoder looks back at when it predicts {word}", fed),
            ("cross", _C, f"What it looks at in the source when it predicts {word}", source),
            ("↳ encoder", _E, "What the source words with most of that weight look at", source),
        )
    else:
        predicted = trace.predicted_tokens or fed
        own, across, onward = (
            ("encoder", _E, f"What {word} looks at in the source", source),
            (
                "cross",
                _C,
                f"The target tokens whose prediction looks at {word}",
                predicted,
            ),
            ("↳ decoder", _D, "What the rows with most of that weight look back at", fed),
        )
    return [
        LinkLine(name, f"{meaning};\n{_heads(trace, selection, kind)}", _heaviest(weights, tokens))
        for (name, kind, meaning, tokens), weights in (
            (across, linked.across),
            (onward, linked.onward),
            (own, linked.own),
        )
        if weights is not None
    ]


def _heads(trace: Trace, selection: Selection, kind: AttentionKind) -> str:
    heads: Sequence[Head] = followed_heads(trace, selection, kind)
    if len(heads) == 1:
        return head_name(heads[0])
    if kind is selection.kind:
        return f"{LONG_TITLES[kind]}, mean of the {len(heads)} selected heads"
    return f"{LONG_TITLES[kind]}, mean of the {len(heads)} heads of the last layer"


def _heaviest(weights: Floats, tokens: Sequence[Token]) -> tuple[tuple[Token, float], ...]:
    order = np.argsort(-weights, kind="stable")[:MOST_TOKENS]
    return tuple((tokens[i], float(weights[i])) for i in order if weights[i] >= 0.005)


class LinkLines(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._lines: Sequence[LinkLine] = ()
        self.setAccessibleName("Linked across the three kinds")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def _row(self) -> int:
        """The height of a line."""
        return taller(_ROW, self.font())

    def sizeHint(self) -> QSize:
        return QSize(50 * GRID, len(self._lines) * self._row)

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def set_lines(self, lines: Sequence[LinkLine]) -> None:
        if len(lines) != len(self._lines):
            self.updateGeometry()
        self._lines = lines
        announce(self, "; ".join(f"{line.name}: {line.text}" for line in lines))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for index, line in enumerate(self._lines):
                self._paint_line(painter, line, index * self._row)

    def _paint_line(self, painter: QPainter, line: LinkLine, top: float) -> None:
        """As many tokens as fit."""
        font, theme = scaled_font(self.font(), 1.0), self._theme
        small = scaled_font(self.font(), 0.85)
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(font)
        names = grown(_NAMES, font)
        painter.setPen(theme.color("soft"))
        painter.drawText(QRectF(0, top, names, self._row), middle, line.name)
        number = QFontMetricsF(small).horizontalAdvance("0.00")
        widths = label_widths(font, [token for token, _ in line.tokens])
        x = names
        for (token, weight), width in zip(line.tokens, widths, strict=True):
            first = x == names
            width = min(width, self.width() - x - number - 3 * GRID) if first else width
            if x + width + number + 3 * GRID > self.width():
                break
            ground = QRectF(x, top + 2, width + 2 * GRID, self._row - 4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(shaded(theme, weight))
            painter.drawRoundedRect(ground, 3, 3)
            painter.setFont(font)
            label = ground.adjusted(GRID, 0, -GRID, 0)
            draw_label(painter, label, token, theme, align=Qt.AlignmentFlag.AlignHCenter)
            x = ground.right() + GRID
            painter.setFont(small)
            painter.setPen(theme.color("soft"))
            painter.drawText(QRectF(x, top, number, self._row), middle, f"{weight:.2f}")
            x += number + 2 * GRID

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            row = event.pos().y() // self._row
            line = self._lines[row] if row < len(self._lines) else None
            text = "" if line is None else plain_tooltip(f"{line.explanation}.\n{line.text}")
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)
