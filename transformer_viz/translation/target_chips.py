"""The translation as chips, one per decoding step."""

import math
from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from core.text.tokens import Token
from core.trace.doubts import TargetWord, predicted_words
from core.trace.trace import AttentionKind
from transformer_viz.drawing.chips import NORMAL, draw_chip, lay_out_chips
from transformer_viz.drawing.theme import GRID, scaled_font
from transformer_viz.state.linking import Place, target_shades
from transformer_viz.state.session import Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.picture_area import PictureArea
from transformer_viz.widgets.spotlight import Spotlight
from transformer_viz.words.wording import token_name

MOST_LINES = 3
_DECODER_KINDS = (AttentionKind.CROSS, AttentionKind.DECODER_SELF)


class TargetChips(PictureArea):
    """The translation as chips; a click selects the step that chose the token.

    From an encoder map it leads to cross-attention, where that row is. Pointing at a chip lights
    up what the token looks at, whatever map is shown; chips that are looked at are shaded.
    """

    def __init__(
        self, session: Session, spotlight: Spotlight, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._spotlight = spotlight
        self._tokens: tuple[Token, ...] = ()
        self._layout = lay_out_chips((), 0, self.font())
        self._laid_out: tuple[object, ...] = ()  # what the layout is of
        self._shown_step: int | None = None
        self._hovered: int | None = None
        self._shades: list[float] = []
        self._words: dict[int, TargetWord] = {}  # of each step, where probabilities are known
        self._asked: frozenset[int] = frozenset()  # the last steps of words that are guesses
        self._changed: Mapping[int, Token | None] = {}

        self.setAccessibleName("Translation")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.viewport().setAutoFillBackground(False)
        session.traceChanged.connect(self._on_trace)
        session.selectionChanged.connect(self._on_step)
        session.hoverChanged.connect(self._on_step)
        spotlight.changed.connect(self._on_light)
        self._on_trace()

    def sizeHint(self) -> QSize:
        return QSize(
            100 * GRID, min(self._layout.height, MOST_LINES * NORMAL.fitted(self.font()).pitch)
        )

    def minimumSizeHint(self) -> QSize:
        return QSize(40 * GRID, self.sizeHint().height())

    def mark(self, changed: Mapping[int, Token | None]) -> None:
        """Mark these steps of the trace shown, until the next one: their tokens are others than
        with all heads on, where they were those in `changed`, or were not there."""
        if changed != self._changed:
            self._changed = changed
            self.viewport().update()

    # From the session

    def _on_trace(self) -> None:
        trace = self._session.trace
        self._tokens = () if trace is None else trace.predicted_tokens or trace.target_tokens
        self._shown_step = self._hovered = None
        self._changed = {}
        self._shades = self._lit()
        self._find_guesses()
        self._arrange()
        self._on_step()

    def _find_guesses(self) -> None:
        words = predicted_words(self._session.trace)
        self._words = {step: word for word in words for step in word.span}
        self._asked = frozenset(word.span[-1] for word in words if word.is_guess)

    def _on_step(self) -> None:
        step = self._step()
        if step is not None:
            announce(self, self._describe(step).replace("\n", ", "))
        else:
            translation = self._session.trace.translation if self._session.trace else ""
            announce(self, translation or "No translation yet")
        if step != self._shown_step:
            self._update_chip(self._shown_step)
            self._update_chip(step)
            self._shown_step = step
            if step is not None:
                self._reveal(step)

    def _on_light(self) -> None:
        shades = self._lit()
        if len(shades) != len(self._shades):
            return  # another trace, which follows
        for step, (old, new) in enumerate(zip(self._shades, shades, strict=True)):
            if old != new:
                self._update_chip(step)
        self._shades = shades

    def _lit(self) -> list[float]:
        """How strongly each chip is lit, in steps that the eye can tell."""
        trace, linked = self._session.trace, self._spotlight.linked
        if trace is None or linked is None:
            return [0.0] * len(self._tokens)
        return [round(float(weight), 2) for weight in target_shades(trace, linked)]

    def _step(self) -> int | None:
        """The step in focus, if the selected map has decoder rows."""
        if self._session.selection.kind is AttentionKind.ENCODER_SELF:
            return None
        query = self._session.focus[0]
        return query if query is not None and query < len(self._tokens) else None

    def _log_probability(self, step: int) -> float | None:
        trace = self._session.trace
        if trace is None or trace.log_probabilities is None:
            return None
        return float(trace.log_probabilities[step])

    def _describe(self, step: int) -> str:
        lines = [f"step {step + 1} of {len(self._tokens)}: {token_name(self._tokens[step])}"]
        logarithm = self._log_probability(step)
        if logarithm is not None:
            lines.append(f"probability {math.exp(logarithm):.4f}")
            lines.append(f"log-probability {logarithm:.3f}".replace("-0", "−0"))
            lines.append("given the source and the tokens before it")
        word = self._words.get(step)
        if word is not None and word.is_guess:
            lines.append(f"a guess: the word has probability {word.probability:.2f}")
        if step in self._changed:
            before = self._changed[step]
            name = "nothing" if before is None else token_name(before)
            lines.append(f"with all heads on: {name}")
        return "\n".join(lines)

    # Geometry

    def _arrange(self) -> None:
        width = self.width() - self.verticalScrollBar().sizeHint().width()
        wanted = self._tokens, width, self.font(), self._asked
        if wanted != self._laid_out:
            self._laid_out = wanted
            self._layout = lay_out_chips(self._tokens, width, self.font(), asked=self._asked)
        height = self.sizeHint().height()
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, self._layout.height - height))
        bar.setPageStep(height)
        bar.setSingleStep(NORMAL.fitted(self.font()).pitch)
        if height != self.height():
            self.setFixedHeight(height)
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._arrange()

    def _reveal(self, step: int) -> None:
        rect, bar = self._layout.rects[step], self.verticalScrollBar()
        if rect.top() < bar.value():
            bar.setValue(int(rect.top()))
        elif rect.bottom() > bar.value() + self.height():
            bar.setValue(int(rect.bottom()) - self.height() + GRID)

    def _update_chip(self, step: int | None) -> None:
        if step is not None:
            offset = self.verticalScrollBar().value()
            rect = self._layout.rects[step].translated(0, -offset)
            self.viewport().update(rect.toAlignedRect())

    def _step_at(self, point: QPoint) -> int | None:
        rects, seen = self._layout.rects, self._layout.between(point.y(), point.y())
        return next((step for step in seen if rects[step].contains(QPointF(point))), None)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        offset = self.verticalScrollBar().value()
        top, bottom = event.rect().top() + offset, event.rect().bottom() + offset
        visible = event.region().translated(0, offset)
        current = self._step()
        with QPainter(self.viewport()) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(0, -offset)
            for step in self._layout.between(top, bottom):
                rect = self._layout.rects[step]
                if visible.intersects(rect.toAlignedRect()):
                    draw_chip(
                        painter,
                        rect,
                        self._tokens[step],
                        self.theme,
                        chosen=step == current,
                        hovered=step == self._hovered,
                        log_probability=self._log_probability(step),
                        shade=self._shades[step],
                        changed=step in self._changed,
                        guess=step in self._words and self._words[step].is_guess,
                        asked=step in self._asked,
                    )
            if self.hasFocus() and self._tokens:
                painter.setPen(QPen(self.theme.color("accent"), 2))
                framed = self._layout.rects[current or 0]  # the arrow keys begin at the first
                painter.drawRoundedRect(framed.adjusted(1, 1, -1, -1), 3, 3)
            self._draw_count(painter)

    def _draw_count(self, painter: QPainter) -> None:
        count = len(self._tokens)
        if count:
            text = f"{count} tokens" * (count > 1)
        else:
            absent = self._session.trace is not None
            text = "This trace has no target." if absent else "The translation appears here."
        painter.setFont(scaled_font(self.font(), 0.85))
        painter.setPen(self.theme.color("faint"))
        end = self._layout.end
        room = self.viewport().width() - end.x()
        if count and painter.fontMetrics().horizontalAdvance(text) > room:
            return  # half a number would say another one
        box = QRectF(end.x(), end.y(), room, NORMAL.fitted(self.font()).height)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    def press(self, point: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        step = self._step_at(point)
        if step is not None:
            self._select(step)

    def hover(self, point: QPoint | None) -> None:
        step = None if point is None else self._step_at(point)
        if step != self._hovered:
            self._update_chip(self._hovered)
            self._update_chip(step)
            self._hovered = step
            self._session.point(None if step is None else Place("target", step))

    def explanation(self, point: QPoint) -> str:
        step = self._step_at(point)
        return "" if step is None else self._describe(step)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.addAction("Copy translation", self._copy).setEnabled(bool(self._tokens))
        menu.popup(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self._tokens) - 1
        step = self._step()
        if event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        elif last < 0:
            event.ignore()
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            move = 1 if event.key() == Qt.Key.Key_Right else -1
            self._select(0 if step is None else max(0, min(step + move, last)))
        elif event.key() == Qt.Key.Key_Home:
            self._select(0)
        elif event.key() == Qt.Key.Key_End:
            self._select(last)
        elif event.key() == Qt.Key.Key_Escape:
            self._session.release()
        else:
            event.ignore()

    def _select(self, step: int) -> None:
        session, trace = self._session, self._session.trace
        assert trace is not None, "there are no chips without a trace"
        kinds = (session.selection.kind, *_DECODER_KINDS)
        kind = next((k for k in kinds if k in _DECODER_KINDS and k in trace.kinds), None)
        session.set_hover(None, None)
        if kind is not None:
            session.select(kind=kind, query=step, key=None)

    def _copy(self) -> None:
        if self._session.trace is not None:
            QGuiApplication.clipboard().setText(self._session.trace.translation)
