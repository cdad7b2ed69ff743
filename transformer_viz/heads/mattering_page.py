"""Which heads matter here? Every head off by itself for the sentence shown, as a list."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QHideEvent, QKeyEvent, QPainter, QPen, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.trace.trace import Head
from transformer_viz.drawing.labels import isolated
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, Theme, grown, scaled_font
from transformer_viz.engine.sentence_effect import SentenceEffect, new_words
from transformer_viz.heads.mattering import Layer, Mattering, every_head
from transformer_viz.state.gates import ALL_ON, Gates
from transformer_viz.state.session import Session
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.row_list import RowList
from transformer_viz.widgets.style import set_role
from transformer_viz.words.titles import TITLES
from transformer_viz.words.wording import head_numbers

SAME = "same translation"
HINT = (
    "Each head is switched off by itself for this sentence: by how much does the log-probability "
    "of the translation change, and does the translation?"
)
EACH = "Each head"
_STEPS = 1000
_ROW = 6 * GRID
_NAME, _BAR, _NUMBER, _STATE = 44 * GRID, 30 * GRID, 16 * GRID, 8 * GRID
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class MatteringPage(Panel):
    def __init__(
        self, session: Session, mattering: Mattering, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._mattering = mattering
        self.chosen = QComboBox()
        for part in (self.chosen, self.chosen.view()):
            part.setAccessibleName("What is switched off")
        self.chosen.setToolTip(
            "Switch off each head by itself, or every two heads of one layer together"
        )
        self.measure = QPushButton("Measure this sente&nce")
        self.cancel = QPushButton("Cancel")
        self.cancel.setAccessibleName("Cancel measuring the sentence")
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setFixedSize(36 * GRID, 2 * GRID)
        self.bar.setAccessibleName("Progress of measuring the sentence")
        self._said = ElidedLabel("soft")
        self.rows = EffectRows(session, mattering)
        self._empty = Placeholder()
        self._lay_out()
        self.chosen.activated.connect(lambda index: mattering.choose(self.chosen.itemData(index)))
        self.measure.clicked.connect(mattering.measure)
        self.cancel.clicked.connect(mattering.cancel)
        mattering.changed.connect(self._refresh)
        session.modelChanged.connect(self._fill)
        self._fill()
        self._refresh()

    def focus_part(self) -> QWidget:
        return self.rows if self.rows.count else self.chosen

    def apply_theme(self, theme: Theme) -> None:
        self.rows.apply_theme(theme)

    def _lay_out(self) -> None:
        caption = QLabel("Switch off")
        set_role(caption, "soft")
        top = QHBoxLayout()
        top.setContentsMargins(3 * GRID, GRID, 3 * GRID, GRID)
        top.setSpacing(2 * GRID)
        top.addWidget(caption)
        top.addWidget(self.chosen)
        top.addWidget(self._said, 1)
        for part in (self.bar, self.measure, self.cancel):
            top.addWidget(part)
        nothing = QWidget()
        QVBoxLayout(nothing).addWidget(self._empty)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.rows)
        self._stack.addWidget(nothing)
        set_role(self, "paper")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self._stack, 1)

    def _fill(self) -> None:
        """Each layer that has two heads or more."""
        model, layers = self._session.model, dict[Layer, int]()
        for head in [] if model is None else every_head(model):
            layers[head.kind, head.layer] = layers.get((head.kind, head.layer), 0) + 1
        self.chosen.clear()
        self.chosen.addItem(EACH, None)
        for (kind, layer), count in layers.items():
            if count > 1:
                self.chosen.addItem(f"Pairs of {TITLES[kind]} layer {layer + 1}", (kind, layer))
        index = self.chosen.findData(self._mattering.layer)
        if index < 0:
            self._mattering.choose(None)
        self.chosen.setCurrentIndex(max(0, index))

    def _refresh(self) -> None:
        mattering = self._mattering
        shown = mattering.whole is not None and mattering.current
        self._stack.setCurrentIndex(0 if shown else 1)
        self._empty.say(mattering.message or "Which heads matter here?", HINT)
        self.bar.setVisible(mattering.running)
        self.bar.setValue(round(mattering.share * _STEPS))
        self.cancel.setVisible(mattering.running)
        complete = mattering.current and mattering.share == 1
        self.measure.setVisible(not mattering.running and not complete)
        self.measure.setEnabled(not mattering.message)
        self._said.setText(_summary(mattering) if shown else "")
        self.rows.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._mattering.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._mattering.watch(False)


def _summary(mattering: Mattering) -> str:
    whole = mattering.whole
    assert whole is not None
    differ = sum(effect.differs for effect in mattering.effects)
    count = len(mattering.effects)
    return (
        f"With all heads on, log P = {signed(whole.log_probability)}. The translation changes "
        f"in {differ:,} of {count:,} cases. Click a row to switch its heads off."
    )


class EffectRows(RowList):
    """A row for each setting: what is off, the change of log P, and the translation then."""

    def __init__(self, session: Session, mattering: Mattering) -> None:
        super().__init__(_ROW)
        self._session = session
        self._mattering = mattering
        self._effects: list[SentenceEffect] = []
        self._largest = 1.0
        self._stayed_at: Gates | None = None  # what the user went to
        self.setAccessibleName("Heads by what changes without them, largest loss first")
        self.chosen.connect(self._toggle)
        session.gatesChanged.connect(self.viewport().update)

    def refresh(self) -> None:
        """Show what was found; a row that the user went to stays the current one."""
        self._effects = list(self._mattering.effects)
        self._largest = max((abs(one.change) for one in self._effects), default=1.0) or 1.0
        places = [place for place, one in enumerate(self._effects) if one.gates == self._stayed_at]
        self.set_rows(len(self._effects), places[0] if places else 0)
        if not places:
            self._stayed_at = None

    def press(self, row: int, point: QPoint) -> None:
        super().press(row, point)
        self._stay()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        self._stay()

    def _stay(self) -> None:
        self._stayed_at = self._effects[self.current].gates if self._effects else None

    def describe(self, row: int) -> str:
        effect = self._effects[row]
        now = f"Then: {effect.translation}" if effect.differs else "The translation stays the same."
        off = self._is_off(effect)
        return (
            f"{_name(effect)} {'is' if off else 'would be'} off: log P {signed(effect.change, 3)}. "
            f"{now}\nClick or press Enter to switch {'all heads on' if off else 'off'}."
        )

    def draw(self, painter: QPainter, row: int, rect: QRect) -> None:
        effect, theme = self._effects[row], self.theme
        area = QRectF(rect)
        if row in (self.current, self.pointed):
            painter.fillRect(area, theme.color("accent_soft" if row == self.current else "hover"))
        font = scaled_font(self.font(), 1.0)
        painter.setFont(font)
        x = area.left() + 3 * GRID

        def box(width: int) -> QRectF:
            nonlocal x
            room = QRectF(x, area.top(), grown(width, self.font()), area.height())
            x = room.right() + 2 * GRID
            return room

        painter.setPen(theme.color("ink"))
        painter.drawText(box(_NAME), _LEFT, _name(effect))
        painter.setPen(theme.color("warning"))
        painter.drawText(box(_STATE), _LEFT, "off" if self._is_off(effect) else "")
        self._draw_bar(painter, box(_BAR), effect.change)
        painter.setPen(theme.color("ink"))
        painter.drawText(box(_NUMBER), _RIGHT, signed(effect.change, 3))
        x += 2 * GRID
        self._draw_translation(painter, QRectF(x, area.top(), area.right() - x, rect.height()), row)
        if row == self.current and self.hasFocus():
            painter.setPen(QPen(theme.color("accent"), 1))
            painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5))

    def _draw_bar(self, painter: QPainter, room: QRectF, change: float) -> None:
        """A loss to the left in the colour of warnings, a gain to the right."""
        middle = room.left() + 0.8 * room.width()
        side = middle - room.left() if change < 0 else room.right() - middle
        length = side * min(1.0, abs(change) / self._largest)
        bar = QRectF(middle - length * (change < 0), room.center().y() - GRID, length, 2 * GRID)
        painter.fillRect(bar, self.theme.color("warning" if change < 0 else "accent"))
        painter.fillRect(
            QRectF(middle, room.top() + GRID, 1, room.height() - 2 * GRID),
            self.theme.color("border"),
        )

    def _draw_translation(self, painter: QPainter, room: QRectF, row: int) -> None:
        effect, whole = self._effects[row], self._mattering.whole
        if not effect.differs or whole is None:
            painter.setPen(self.theme.color("faint"))
            painter.drawText(room, _LEFT, SAME)
            return
        painter.save()
        painter.setClipRect(room)
        x = room.left()
        for word, is_new in new_words(whole.translation, effect.translation):
            font = scaled_font(self.font(), 1.0, bold=is_new)
            painter.setFont(font)
            painter.setPen(self.theme.color("ink" if is_new else "soft"))
            painter.drawText(QRectF(x, room.top(), room.width(), room.height()), _LEFT, word)
            x += QFontMetricsF(font).horizontalAdvance(f"{word} ")
        painter.restore()

    def _is_off(self, effect: SentenceEffect) -> bool:
        return dict(self._session.gates) == dict(effect.gates)

    def _toggle(self, row: int) -> None:
        """Switch off these heads and no others, or all on again."""
        effect = self._effects[row]
        first, *others = effect.gates
        self._session.set_hover(None, None)
        self._session.select(
            kind=first.kind,
            layer=first.layer,
            head=first.head,
            others=tuple((head.layer, head.head) for head in others),
        )
        self._session.set_gates(ALL_ON if self._is_off(effect) else effect.gates)


def _name(effect: SentenceEffect) -> str:
    """As in "Encoder self 2.1 + 2.3"."""
    heads: list[Head] = list(effect.gates)
    return isolated(f"{TITLES[heads[0].kind]} {' + '.join(map(head_numbers, heads))}")
