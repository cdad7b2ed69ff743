"""Which head resolves "it"? The pairs to choose from, and where the best heads look in both."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.trace.trace import Head
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.drawing.word_rows import (
    GAP,
    WordColumns,
    WordLine,
    draw_head_lines,
    draw_words,
)
from transformer_viz.engine.resolution import noun_column, word_columns
from transformer_viz.heads.resolving import Resolving
from transformer_viz.state.options import ColorMap
from transformer_viz.state.session import Session
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.list_style import list_style
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.row_list import RowList
from transformer_viz.widgets.style import set_role
from transformer_viz.words.statistics import head_label
from transformer_viz.words.wording import plain_tooltip

_LIST_WIDTH = 46 * GRID


class ResolvingPage(Panel):
    """Shows the heads that resolve “it”; Space switches the adjective in both lists."""

    showWanted = Signal(object)  # Head, in the sentence looked at

    def __init__(
        self, session: Session, resolving: Resolving, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._resolving = resolving
        self.pairs = _Pairs()
        self.pairs.setAccessibleName("Minimal pairs")
        self.pairs.setFrameShape(QListWidget.Shape.NoFrame)
        self.pairs.setMinimumWidth(_LIST_WIDTH)
        self.pairs.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows = HeadRows(session, resolving)
        self._words = _Words(resolving)
        self._said = ElidedLabel("")
        self.flip = QPushButton("Switch ad&jective")
        self.flip.setToolTip("Show the other sentence (Space)")
        self._empty = Placeholder()
        self._lay_out()
        self.pairs.currentRowChanged.connect(lambda row: resolving.choose(max(0, row)))
        self.flip.clicked.connect(self.flip_adjective)
        for part in (self.pairs, self.rows):
            part.flipWanted.connect(self.flip_adjective)
        self.rows.showWanted.connect(self.showWanted)
        resolving.changed.connect(self._refresh)
        resolving.flippedChanged.connect(self._say_pair)
        session.selectionChanged.connect(self.rows.viewport().update)
        self._refresh()

    def focus_part(self) -> QWidget:
        return self.rows if self._resolving.resolution is not None else self.pairs

    def flip_adjective(self) -> None:
        self._resolving.flip()
        head = self.rows.head
        if head is not None:
            self.showWanted.emit(head)

    def apply_theme(self, theme: Theme) -> None:
        self.pairs.setStyleSheet(list_style(theme))
        self.rows.apply_theme(theme)
        self._words.apply_theme(theme)

    def set_color_map(self, color_map: ColorMap) -> None:
        self.rows.set_color_map(color_map)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(3 * GRID, GRID, 3 * GRID, 0)
        top.addWidget(self._said, 1)
        top.addWidget(self.flip)
        right = QWidget()
        set_role(right, "paper")
        lines = QVBoxLayout(right)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(GRID)
        lines.addLayout(top)
        lines.addWidget(self._words)
        lines.addWidget(self.rows, 1)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setHandleWidth(1)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self.pairs)
        splitter.addWidget(right)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([_LIST_WIDTH, 5 * _LIST_WIDTH])
        nothing = QWidget()
        set_role(nothing, "paper")
        QVBoxLayout(nothing).addWidget(self._empty)
        self._stack = QStackedWidget()
        self._stack.addWidget(splitter)
        self._stack.addWidget(nothing)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._stack)

    def _refresh(self) -> None:
        resolving = self._resolving
        resolution = resolving.resolution
        self._stack.setCurrentIndex(int(resolution is None or bool(resolving.message)))
        self._empty.say(resolving.message or "Which head resolves “it”?", _HINT)
        if resolution is None:
            self.pairs.clear()
        elif self.pairs.count() != len(resolution.pairs):
            self.pairs.clear()
            for pair in resolution.pairs:
                item = " / ".join(pair.adjectives)
                self.pairs.addItem(item)
                self.pairs.item(self.pairs.count() - 1).setToolTip(
                    plain_tooltip(f"{pair.first.text}\n{pair.second.text}")
                )
            self.pairs.setCurrentRow(resolving.index)
        self._say_pair()
        self.rows.refresh()
        self._words.update()

    def _say_pair(self) -> None:
        pair = self._resolving.pair
        if pair is not None:
            parts = [
                f"{word}: “it” is the {one.means}"
                for word, one in zip(pair.adjectives, pair.sides, strict=True)
            ]
            judged = " The shares were measured with all heads on." if self._session.gates else ""
            self._said.setText(f"{' · '.join(parts)}. Framed: the antecedent of “it”.{judged}")
        self.rows.viewport().update()
        self._words.update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._resolving.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._resolving.watch(False)


_HINT = (
    "Each head is tested on 100 pairs of sentences that differ in one adjective: does its "
    "largest weight follow the antecedent of “it”?"
)


class HeadRows(RowList):
    """Shows each head in two lines, one per sentence."""

    flipWanted = Signal()
    showWanted = Signal(object)  # Head

    def __init__(self, session: Session, resolving: Resolving) -> None:
        super().__init__(0)
        self._session = session
        self._resolving = resolving
        self._heads: list[Head] = []
        self._color_map = ColorMap.PAPER
        self._table = lookup_table(self._color_map, LIGHT)
        self.setAccessibleName("Heads that resolve “it”, best first")
        self.chosen.connect(lambda row: self.showWanted.emit(self._heads[row]))

    def _columns(self, count: int) -> WordColumns:
        return WordColumns(self.viewport().width(), count, self.font())

    @property
    def row_height(self) -> int:
        return round(2 * self._columns(0).line) + GAP

    @property
    def head(self) -> Head | None:
        return self._heads[self.current] if self._heads else None

    def refresh(self) -> None:
        self._heads = self._resolving.heads
        self.set_rows(len(self._heads), self.current)

    def apply_theme(self, theme: Theme) -> None:
        self._table = lookup_table(self._color_map, theme)
        super().apply_theme(theme)

    def set_color_map(self, color_map: ColorMap) -> None:
        self._color_map = color_map
        self.apply_theme(self.theme)

    def describe(self, row: int) -> str:
        head, pair = self._heads[row], self._resolving.pair
        said = [f"{head_label(head)}: {self._score(head)} of the pairs right in both sentences"]
        looks = self._resolving.looks(head)
        if pair is not None and looks:
            words = word_columns(self._resolving.traces[0]).tokens
            for adjective, look in zip(pair.adjectives, looks, strict=True):
                if look is not None and len(look.weights) == len(words):
                    most = int(np.argmax(look.weights))
                    verdict = "right" if look.right else "wrong"
                    said.append(
                        f"{adjective}: most on {words[most].label} "
                        f"{look.weights[most]:.2f}, {verdict}"
                    )
        return "\n".join(said)

    def draw(self, painter: QPainter, row: int, rect: QRect) -> None:
        head, theme, pair = self._heads[row], self.theme, self._resolving.pair
        area = QRectF(rect)
        if row in (self.current, self.pointed):
            painter.fillRect(area, theme.color("accent_soft" if row == self.current else "hover"))
        if pair is None:
            return
        looks, traces = self._resolving.looks(head), self._resolving.traces
        lines = (
            [
                WordLine(
                    side=adjective,
                    weights=None if look is None else look.weights,
                    gold=noun_column(word_columns(trace), sentence),
                    right=look is not None and look.right,
                    active=bool(number) == self._resolving.flipped,
                )
                for number, (adjective, look, trace, sentence) in enumerate(
                    zip(pair.adjectives, looks, traces, pair.sides, strict=True)
                )
            ]
            if looks
            else []
        )
        count = len(word_columns(traces[0])) if traces else 0
        columns = self._columns(count)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        draw_head_lines(
            painter,
            area,
            columns,
            head_label(head),
            self._score(head),
            lines,
            self._table,
            theme,
        )
        if row == self.current and self.hasFocus():
            painter.setPen(QPen(theme.color("accent"), 1))
            painter.drawRect(area.adjusted(0.5, 0.5, -1.5, -1.5))

    def _score(self, head: Head) -> str:
        resolution = self._resolving.resolution
        return "" if resolution is None else percent(resolution.both[head])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space:
            self.flipWanted.emit()
        else:
            super().keyPressEvent(event)


class _Pairs(QListWidget):
    """Space flips; a list would deselect by it."""

    flipWanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space:
            self.flipWanted.emit()
        else:
            super().keyPressEvent(event)


class _Words(QWidget):
    """The words above the columns."""

    def __init__(self, resolving: Resolving) -> None:
        super().__init__()
        self._resolving = resolving
        self._theme = LIGHT
        self.setFixedHeight(round(self._columns(0).words) + GRID)

    def sizeHint(self) -> QSize:
        return QSize(100 * GRID, self.height())

    def _columns(self, count: int) -> WordColumns:
        return WordColumns(self.width(), count, self.font())

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        traces = self._resolving.traces
        if not traces:
            return
        first, second = ([t.label for t in word_columns(one).tokens] for one in traces)
        words = [
            (first[at],) if first[at : at + 1] == second[at : at + 1] else (first[at], other)
            for at in range(len(first))
            for other in (second[at] if at < len(second) else "",)
        ]
        columns = self._columns(len(first))
        with QPainter(self) as painter:
            draw_words(painter, columns, words, int(self._resolving.flipped), self._theme)
