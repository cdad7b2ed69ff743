"""Two translations below each other, word under word, with what differs marked."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.text.tokens import Token
from core.trace.alignment import GAP
from core.trace.difference import align_entries
from core.trace.head_map import entries
from core.trace.trace import Trace
from transformer_viz.drawing.labels import draw_label, label_widths
from transformer_viz.theme import GRID, LIGHT, Theme
from transformer_viz.views.wording import plain_tooltip

LINE = 5 * GRID
_INDENT = 5 * GRID  # of the words, beside the letter of the side
_PADDING = GRID
_BEFORE = 3  # words before the first difference that stay in sight


@dataclass(frozen=True, slots=True)
class _Place:
    words: tuple[Token | None, Token | None]

    @property
    def differs(self) -> bool:
        a, b = self.words
        return a is None or b is None or a.label != b.label


class Translations(QWidget):
    """Where a line has no room for all, it begins shortly before the first difference."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._places: list[_Place] = []
        self.setFixedHeight(2 * LINE)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Translations of A and B")

    def sizeHint(self) -> QSize:
        return QSize(100 * GRID, 2 * LINE)

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def show_traces(self, a: Trace, b: Trace) -> None:
        self._places = _places(a, b)
        text = f"A: {a.translation}\nB: {b.translation}"
        self.setToolTip(plain_tooltip(text))
        self.setAccessibleDescription(text)
        self.update()

    def differing(self) -> list[tuple[str, str]]:
        """The words of A and of B that differ, in order; "" for none."""
        return [
            (a.label if a else "", b.label if b else "")
            for a, b in (place.words for place in self._places if place.differs)
        ]

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setFont(self.font())
            for side, name in enumerate("AB"):
                painter.setPen(self._theme.color("soft"))
                box = QRectF(0, side * LINE, _INDENT, LINE)
                painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, name)
            self._paint_words(painter)

    def _paint_words(self, painter: QPainter) -> None:
        widths = self._widths()
        first = self._first(widths)
        x = float(_INDENT)
        if first > 0:
            x = self._paint_ellipsis(painter, x)
        for place, width in zip(self._places[first:], widths[first:], strict=True):
            if x + width > self.width() - 3 * GRID:
                self._paint_ellipsis(painter, x)
                break
            for side, word in enumerate(place.words):
                if word is not None:
                    self._paint_word(painter, QRectF(x, side * LINE, width, LINE), word, place)
            x += width

    def _paint_word(self, painter: QPainter, box: QRectF, word: Token, place: _Place) -> None:
        if place.differs:
            (width,) = label_widths(self.font(), [word])
            ground = QRectF(box.left(), box.top() + 2, width + 2 * _PADDING, LINE - 4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("accent_soft"))
            painter.drawRoundedRect(ground, 3, 3)
        text = box.adjusted(_PADDING, 0, -_PADDING, 0)
        left = Qt.AlignmentFlag.AlignLeft
        draw_label(painter, text, word, self._theme, align=left, strong=place.differs)

    def _paint_ellipsis(self, painter: QPainter, x: float) -> float:
        painter.setPen(self._theme.color("soft"))
        width = QFontMetricsF(self.font()).horizontalAdvance("…") + 2 * _PADDING
        for side in range(2):
            box = QRectF(x, side * LINE, width, LINE)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "…")
        return x + width

    def _widths(self) -> list[float]:
        """Of each place, that of its longer word."""
        sides = [
            label_widths(self.font(), [word for word in words if word is not None])
            for words in (place.words for place in self._places)
        ]
        return [min(max(widths), self.width() / 2) + 2 * _PADDING for widths in sides]

    def _first(self, widths: Sequence[float]) -> int:
        """The place to begin with."""
        if sum(widths) <= self.width() - _INDENT - 3 * GRID:
            return 0
        differing = [index for index, place in enumerate(self._places) if place.differs]
        return max(0, differing[0] - _BEFORE) if differing else 0


def _places(a: Trace, b: Trace) -> list[_Place]:
    first, second = (
        entries(trace.predicted_tokens, merge_words=True, hide_specials=True) for trace in (a, b)
    )
    alignment = align_entries(first, second)
    return [
        _Place(
            (
                None if i == GAP else first.tokens[i],
                None if j == GAP else second.tokens[j],
            )
        )
        for i, j in zip(alignment.first, alignment.second, strict=True)
    ]
