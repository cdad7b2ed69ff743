"""Two translations below each other, word under word, with what differs marked."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.text.tokens import Token
from transformer_viz.drawing.labels import draw_label, label_widths
from transformer_viz.drawing.theme import GRID, LIGHT, Theme, taller
from transformer_viz.state.facing_words import Facing
from transformer_viz.words.wording import plain_tooltip

_LINE = 5 * GRID
_INDENT = 5 * GRID  # the least
_PADDING = GRID
_BEFORE = 3  # words before the first difference that stay in sight


class Translations(QWidget):
    """Two translations; a line that does not fit begins shortly before the first difference."""

    def __init__(self, names: tuple[str, str] = ("A", "B"), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._names = names
        self._words: tuple[Facing, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"Translations of {names[0]} and {names[1]}")

    @property
    def _line(self) -> int:
        """The height of a line."""
        return taller(_LINE, self.font())

    def sizeHint(self) -> QSize:
        return QSize(100 * GRID, 2 * self._line)

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def show_words(self, words: tuple[Facing, ...], a: str, b: str) -> None:
        """Show `words`, those of the translations `a` and `b`."""
        self._words = words
        text = f"{self._names[0]}: {a}\n{self._names[1]}: {b}"
        self.setToolTip(plain_tooltip(text))
        self.setAccessibleDescription(text)
        self.update()

    def differing(self) -> list[tuple[str, str]]:
        """The words of A and of B that differ, in order; "" for none."""
        return [
            (facing.a.label if facing.a else "", facing.b.label if facing.b else "")
            for facing in self._words
            if facing.differ
        ]

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setFont(self.font())
            for side, name in enumerate(self._names):
                painter.setPen(self._theme.color("soft"))
                box = QRectF(0, side * self._line, self._indent(), self._line)
                painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, name)
            self._paint_words(painter)

    def _paint_words(self, painter: QPainter) -> None:
        widths = self._widths()
        first = self._first(widths)
        x = self._indent()
        if first > 0:
            x = self._paint_ellipsis(painter, x)
        for facing, width in zip(self._words[first:], widths[first:], strict=True):
            if x + width > self.width() - 3 * GRID:
                self._paint_ellipsis(painter, x)
                break
            for side, word in enumerate((facing.a, facing.b)):
                if word is not None:
                    box = QRectF(x, side * self._line, width, self._line)
                    self._paint_word(painter, box, word, marked=facing.differ)
            x += width

    def _paint_word(self, painter: QPainter, box: QRectF, word: Token, *, marked: bool) -> None:
        if marked:
            (width,) = label_widths(self.font(), [word])
            ground = QRectF(box.left(), box.top() + 2, width + 2 * _PADDING, self._line - 4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("accent_soft"))
            painter.drawRoundedRect(ground, 3, 3)
        text = box.adjusted(_PADDING, 0, -_PADDING, 0)
        left = Qt.AlignmentFlag.AlignLeft
        draw_label(painter, text, word, self._theme, align=left, strong=marked)

    def _paint_ellipsis(self, painter: QPainter, x: float) -> float:
        painter.setPen(self._theme.color("soft"))
        width = QFontMetricsF(self.font()).horizontalAdvance("…") + 2 * _PADDING
        for side in range(2):
            box = QRectF(x, side * self._line, width, self._line)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "…")
        return x + width

    def _indent(self) -> float:
        """Of the words, beside the names of the sides."""
        metrics = QFontMetricsF(self.font())
        return max(_INDENT, *(metrics.horizontalAdvance(name) + 3 * GRID for name in self._names))

    def _widths(self) -> list[float]:
        """Of each place, that of its longer word."""
        sides = [
            label_widths(self.font(), [word for word in (facing.a, facing.b) if word is not None])
            for facing in self._words
        ]
        return [min(max(widths), self.width() / 2) + 2 * _PADDING for widths in sides]

    def _first(self, widths: Sequence[float]) -> int:
        """The place to begin with."""
        if sum(widths) <= self.width() - self._indent() - 3 * GRID:
            return 0
        differing = [index for index, facing in enumerate(self._words) if facing.differ]
        return max(0, differing[0] - _BEFORE) if differing else 0
