"""The hypotheses beside each other: where each comes from, its text and its figures."""

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPen

from transformer_viz.drawing.labels import isolated
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, scaled_font
from transformer_viz.state.hypotheses import Hypothesis
from transformer_viz.widgets.row_list import RowList
from transformer_viz.words.wording import score_formula

ROW = 15 * GRID
_CLOSE = 6 * GRID


class HypothesisList(RowList):
    """Lists hypotheses: Enter or a click shows one, Delete or its × closes it; the first stays."""

    closed = Signal(int)

    def __init__(self) -> None:
        super().__init__(ROW, row_lines=3)
        self._hypotheses: tuple[Hypothesis, ...] = ()
        self._active: Hypothesis | None = None
        self._alpha, self._penalty = 0.0, "gnmt"
        self.setAccessibleName("Hypotheses")

    def show_hypotheses(
        self,
        hypotheses: tuple[Hypothesis, ...],
        active: Hypothesis | None,
        alpha: float,
        penalty: str,
    ) -> None:
        """Show hypotheses; `alpha` and `penalty` are exponent and form of the length penalty."""
        self._hypotheses, self._active = hypotheses, active
        self._alpha, self._penalty = alpha, penalty
        current = hypotheses.index(active) if active is not None else 0
        self.set_rows(len(hypotheses), current)

    def close_rect(self, row: int) -> QRect:
        """Return where the cross of a row is, in the viewport."""
        rect = self.row_rect(row)
        return QRect(rect.right() - _CLOSE, rect.top() + GRID, _CLOSE, _CLOSE)

    def draw(self, painter: QPainter, row: int, rect: QRect) -> None:
        one, theme = self._hypotheses[row], self.theme
        active = one is self._active
        box = QRectF(rect).adjusted(0.5, 0.5, -0.5, -GRID + 0.5)
        ground = "accent_soft" if active else "hover" if row == self.pointed else "raised"
        painter.setBrush(theme.color(ground))
        focused = self.hasFocus() and row == self.current
        painter.setPen(QPen(theme.color("accent" if active or focused else "line"), 1 + focused))
        painter.drawRoundedRect(box, 3, 3)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inner = box.adjusted(2 * GRID, GRID, -2 * GRID, -GRID)
        line = inner.height() / 3
        small = scaled_font(self.font(), 0.8)
        first = QRectF(inner.topLeft(), QSizeF(inner.width(), line))
        places = [first.translated(0, number * line) for number in range(3)]
        painter.setFont(scaled_font(self.font(), 0.8, bold=True))
        painter.setPen(theme.color("accent" if active else "soft"))
        head = places[0].adjusted(0, 0, -_CLOSE if row else 0, 0)
        _line(painter, head, f"{one.number}   {one.origin}")
        painter.setFont(self.font())
        painter.setPen(theme.color("ink"))
        _line(painter, places[1], _text(one))
        painter.setFont(small)
        painter.setPen(theme.color("soft"))
        _line(painter, places[2], figures(one, self._alpha, self._penalty))
        if row:
            painter.setPen(theme.color("ink" if row == self.pointed else "faint"))
            painter.setFont(self.font())
            painter.drawText(self.close_rect(row), Qt.AlignmentFlag.AlignCenter, "×")

    def describe(self, row: int) -> str:
        one = self._hypotheses[row]
        return (
            f"hypothesis {one.number}, {one.origin}: "
            f"{_text(one)}\n{figures(one, self._alpha, self._penalty)}\nlog P: natural logarithm "
            "of its probability; ppl: exp(−log P / tokens);\nscore of a finished one: "
            f"{score_formula(self._alpha, self._penalty, 'tokens')}"
        )

    def press(self, row: int, point: QPoint) -> None:
        if row and self.close_rect(row).contains(point):
            self.closed.emit(self._hypotheses[row].number)
        else:
            super().press(row, point)

    def number(self, row: int) -> int:
        return self._hypotheses[row].number

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.current:
            self.closed.emit(self._hypotheses[self.current].number)
        else:
            super().keyPressEvent(event)

    def minimumSizeHint(self) -> QSize:
        return QSize(56 * GRID, self.row_height)


def figures(one: Hypothesis, alpha: float, penalty: str) -> str:
    """Format "log P −2.31 · ppl 1.19 · score −1.20"."""
    if one.log_probability is None or one.perplexity is None:
        return "no probabilities"
    score = one.score(alpha, penalty)
    end = "not finished" if score is None else f"score {signed(score)}"
    return f"log P {signed(one.log_probability)} · ppl {one.perplexity:.3g} · {end}"


def _text(one: Hypothesis) -> str:
    translation = " ".join(one.trace.translation.split())
    return isolated(translation or "(empty)") + ("" if one.is_finished else " …")


def _line(painter: QPainter, rect: QRectF, text: str) -> None:
    metrics = QFontMetricsF(painter.font())
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
    painter.drawText(rect, flags, shown)
