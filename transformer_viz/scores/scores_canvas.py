"""The picture of one query's row, with a line per key that can be pointed at, and scrolling."""

from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip

from transformer_viz.drawing.diverging import diverging_table
from transformer_viz.drawing.labels import ARROW, describe_at, label_widths
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import LIGHT, Theme
from transformer_viz.scores.score_layout import (
    Column,
    ScoreLayout,
    lay_out_scores,
    line_height,
)
from transformer_viz.scores.score_page import draw_scores, pair_name, pair_reading
from transformer_viz.scores.score_picture import ScoreMarks, ScorePicture
from transformer_viz.scores.score_table import INDEX_WIDTH, ScoreStyle
from transformer_viz.words.wording import plain_tooltip

_FADED = 0.55  # how much of the paper covers a stale picture
EXPLANATIONS = {
    Column.KEY: "The tokens that the query can attend to, one per line.\n"
    "Click pins one, Ctrl+click adds "
    "a pin; ↑ ↓ move it, ← → choose another query.",
    Column.PRODUCTS: "q ∘ k: query times key, dimension by dimension.\n"
    "Blue raises the score, orange lowers "
    "it.",
    Column.SUM: "q · k: the products of the line added up.",
    Column.SCORE: "s = q · k / √d_k: keeps the spread of the scores near 1 at any width.\n"
    "Press S to leave "
    "it out: the row saturates.",
    Column.EXPONENTIAL: "e^(s − max): above 0, and 1 for the largest score.\n"
    "A masked key has s = −∞ and is left "
    "out.",
    Column.WEIGHT: "softmax: each exponential divided by their sum,\n"
    "so the weights of a row add up to 1.",
    Column.VALUES: "w · v: each value times its weight.\nTheir sum z is the head's output.",
}


class ScoresCanvas(QAbstractScrollArea):
    keyHovered = Signal(object)  # key: int | None
    keyClicked = Signal(int, bool)  # key, whether beside what is pinned

    def __init__(self) -> None:
        super().__init__()
        self._theme = LIGHT
        self._picture: ScorePicture | None = None
        self._labels = 0.0
        self._marks = ScoreMarks(key=0)
        self._stale = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.verticalScrollBar().setSingleStep(line_height(self.font()))
        self.verticalScrollBar().valueChanged.connect(self.viewport().update)
        self.apply_theme(LIGHT)

    # What is shown

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._colors = diverging_table(theme)
        self.viewport().update()

    def set_picture(self, picture: ScorePicture | None) -> None:
        self._picture = picture
        if picture is not None:
            self._labels = INDEX_WIDTH + self._widest_label(picture)
            self._marks = replace(self._marks, key_dimension=None, value_dimension=None)
            self._fit_scroll_bar()
        self.viewport().update()

    def set_marks(self, key: int, pinned: frozenset[int]) -> None:
        self._marks = replace(self._marks, key=key, pinned=pinned)
        self.viewport().update()

    def _widest_label(self, picture: ScorePicture) -> float:
        query = [picture.query] if picture.predicted is None else [picture.query, picture.predicted]
        arrow = QFontMetricsF(self.font()).horizontalAdvance(ARROW)
        asking = sum(label_widths(self.font(), query, word_marks=True)) + arrow * (len(query) - 1)
        return max(asking, *label_widths(self.font(), picture.keys, word_marks=True))

    def set_stale(self, stale: bool) -> None:
        self._stale = stale
        self.viewport().update()

    def pair_in_words(self) -> str:
        """The pair in detail and its numbers."""
        assert self._picture is not None
        return f"{pair_name(self._picture, self._marks.key)}: " + pair_reading(
            self._picture, self._marks
        )

    def reveal(self, key: int) -> None:
        """Scroll until the line of the key is in view."""
        if self._picture is None:
            return
        layout = self._layout()
        line = layout.line(self._picture.position_of(key))
        body, bar = layout.body, self.verticalScrollBar()
        above, below = body.top() - line.top(), line.bottom() - body.bottom()
        bar.setValue(bar.value() + round(max(below, 0) - max(above, 0)))

    # Geometry and painting

    def _layout(self) -> ScoreLayout:
        return self.layout_in(QRectF(self.viewport().rect()))

    def layout_in(
        self, rect: QRectF, scroll: float | None = None, *, detail: bool = True
    ) -> ScoreLayout:
        """Lay the picture out in a rectangle of any device; if need be scrolled, as here unless
        `scroll` says how far."""
        picture = self._picture
        assert picture is not None
        return lay_out_scores(
            rect,
            lines=len(picture.order),
            widths=(len(picture.steps.query), len(picture.steps.output)),
            labels=self._labels,
            titles=picture.titles(),
            font=self.font(),
            scroll=self.verticalScrollBar().value() if scroll is None else scroll,
            detail=detail,
        )

    def paint(self, painter: QPainter, layout: ScoreLayout) -> None:
        """Draw the picture on any device."""
        if self._picture is not None:
            style = ScoreStyle(self._theme, self._colors, self.font())
            draw_scores(painter, layout, self._picture, self._marks, style)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), self._theme.color("paper"))
            if self._picture is None:
                return
            layout = self._layout()
            self.paint(painter, layout)
            if self._stale:
                veil = self._theme.color("paper")
                veil.setAlphaF(_FADED)
                painter.fillRect(event.rect(), veil)
            if self.hasFocus():
                painter.setPen(QPen(self._theme.color("accent"), 1))
                painter.drawRect(layout.body.adjusted(0.5, 0.5, -0.5, -0.5))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_scroll_bar()

    def _fit_scroll_bar(self) -> None:
        if self._picture is not None:
            layout = self._layout()
            hidden = layout.lines * layout.pitch - layout.body.height()
            self.verticalScrollBar().setRange(0, max(0, round(hidden)))
            self.verticalScrollBar().setPageStep(round(layout.body.height()))

    # Events

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point_at(event.position())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._mark_dimensions(None, None)
        self.keyHovered.emit(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        key = self._key_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and key is not None:
            beside = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self.keyClicked.emit(key, beside)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # the view around the canvas knows what keys mean

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and self._picture is not None:
            assert isinstance(event, QHelpEvent)
            text = self.tooltip_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tooltip(text) if text else "", self)
            return True
        return super().viewportEvent(event)

    def tooltip_at(self, point: QPointF) -> str:
        """Explain a place: over a column's head, its step; over a token, the whole token; over a
        number, all its digits that count."""
        picture = self._picture
        assert picture is not None
        layout = self._layout()
        column = layout.column_at(point.x())
        if column is not None and layout.header.contains(point):
            return EXPLANATIONS[column]
        key = self._key_at(point)
        if key is None or column is None:
            return ""
        if column is Column.KEY:
            return describe_at(picture.keys, key)
        steps = picture.steps
        lines = [f"q · k = {signed(float(steps.sums[key]), 6)}"]
        if picture.scaled:
            lines.append(f"÷ {picture.root} = {signed(float(steps.scores[key]), 6)}")
        if steps.allowed[key]:
            lines.append(f"e^(s − max) = {steps.exponentials[key]:.6g}")
            lines.append(f"weight = {steps.weights[key]:.6g}")
        else:
            lines.append("masked: this key does not exist yet for this query")
        return "\n".join(lines)

    def _point_at(self, point: QPointF) -> None:
        if self._picture is None:
            return
        self.keyHovered.emit(self._key_at(point))
        self._mark_dimensions(*self._layout().dimensions_at(point))

    def _key_at(self, point: QPointF) -> int | None:
        if self._picture is None:
            return None
        position = self._layout().position_at(point)
        return None if position is None else int(self._picture.order[position])

    def _mark_dimensions(self, key_dimension: int | None, value_dimension: int | None) -> None:
        marks = replace(self._marks, key_dimension=key_dimension, value_dimension=value_dimension)
        if marks != self._marks:
            self._marks = marks
            self.viewport().update()
