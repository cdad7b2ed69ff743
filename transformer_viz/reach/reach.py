"""How far the heads look: on the text that is shown, and measured over a corpus."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.trace.trace import AttentionKind
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.reach.distance_probe import DistanceProbe
from transformer_viz.reach.probe_page import ProbePage
from transformer_viz.reach.stretching import Stretching
from transformer_viz.reach.text_reach import TextReach
from transformer_viz.state.session import Session
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.text_size import set_height

LINKS, DISTANCES, PROBE = range(3)
_PAGES = {
    LINKS: ("Far links", "The largest links in the text that span a chosen distance"),
    DISTANCES: ("Distances", "How much of its weight each head puts at each distance"),
    PROBE: ("Accuracy", "How accurate the model and its heads are as two words move apart"),
}
_TEXTS = {
    AttentionKind.ENCODER_SELF: ("Source", "The encoder's self-attention"),
    AttentionKind.DECODER_SELF: ("Translation", "The decoder's self-attention"),
}


class ReachView(StageView):
    """The Reach view; Esc removes inserted words, or else releases pins."""

    def __init__(self, session: Session, stretching: Stretching, probe: DistanceProbe) -> None:
        super().__init__(session)
        self._stretching = stretching
        self.text = TextReach(session, stretching)
        self.probe = ProbePage(session, probe)
        self._build()
        for changed in (
            session.traceChanged,
            session.selectionChanged,
            session.optionsChanged,
            session.statusChanged,
        ):
            changed.connect(self.invalidate)

    def _build(self) -> None:
        self.pages, self.texts = QButtonGroup(self), QButtonGroup(self)
        bar = QHBoxLayout()
        bar.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        bar.setSpacing(GRID)
        for page, words in _PAGES.items():
            bar.addWidget(_segment(self.pages, page, *words))
        bar.addStretch(1)
        for number, words in enumerate(_TEXTS.values()):
            bar.addWidget(_segment(self.texts, number, *words))
        self.pages.button(LINKS).setChecked(True)
        self.pages.idClicked.connect(self.show_page)
        self.texts.idClicked.connect(lambda number: self.session.select(kind=list(_TEXTS)[number]))
        self._stack = QStackedWidget()
        self._stack.addWidget(self.text)
        self._stack.addWidget(self.probe)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 3 * GRID, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(bar)
        column.addWidget(self._stack, 1)

    def apply_theme(self, theme: Theme) -> None:
        self.text.apply_theme(theme)
        self.probe.apply_theme(theme)
        super().apply_theme(theme)

    def focus_part(self) -> QWidget:
        return (self.probe if self.page == PROBE else self.text).focus_part()

    @property
    def page(self) -> int:
        return self.pages.checkedId()

    def show_page(self, page: int) -> None:
        self.pages.button(page).setChecked(True)
        self._stack.setCurrentIndex(int(page == PROBE))
        self.text.show_page(distances=page == DISTANCES)
        self.invalidate()

    def refresh(self) -> None:
        trace = self.session.trace
        for number, kind in enumerate(_TEXTS):
            button = self.texts.button(number)
            button.setVisible(self.page != PROBE)
            button.setChecked(kind is self.text.kind)
            button.setEnabled(trace is not None and kind in trace.kinds)
        if self.page != PROBE:
            self.text.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self._stretching.active:
            self._stretching.restore()
        else:
            self.session.release()

    # For a file

    @property
    def has_picture(self) -> bool:
        return (self.probe if self.page == PROBE else self.text).has_picture

    def export_name(self) -> str:
        return _PAGES[self.page][0].lower()

    def export_size(self) -> QSize:
        return (self.probe if self.page == PROBE else self.text).export_size()

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        painter.save()
        painter.fillRect(rect, self.theme.color("paper"))
        painter.translate(rect.topLeft())
        shown = self.probe if self.page == PROBE else self.text
        shown.paint_export(painter, rect.width(), self.theme)
        painter.restore()


def _segment(group: QButtonGroup, number: int, text: str, tip: str) -> QPushButton:
    """One of buttons of which one is down."""
    button = QPushButton(text)
    button.setCheckable(True)
    button.setToolTip(tip)
    set_height(button, 7 * GRID)
    group.addButton(button, number)
    return button
