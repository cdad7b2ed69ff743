"""The decoding: step by step, the beam search as a tree, or what is kept from step to step."""

import numpy as np
from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QPainter, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.trace.trace import AttentionKind, Trace
from transformer_viz.decoding.beam_page import BeamPage
from transformer_viz.decoding.cache_page import CachePage
from transformer_viz.decoding.decoding_steps import DecodingSteps
from transformer_viz.decoding.hypotheses_desk import Decoding
from transformer_viz.decoding.prefix_chips import PrefixChips
from transformer_viz.decoding.source_weights import SourceWeights
from transformer_viz.drawing.chips import COMPACT, NORMAL
from transformer_viz.drawing.theme import GRID, Theme, grown
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Phase, Session
from transformer_viz.widgets.shown_heads import ShownHeads, heads_title
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.transport import Transport

LOW = 140 * GRID
"""In a view of less height the rows of tokens are smaller."""

_STEPS, _TREE, _CACHE = 0, 1, 2


class DecodingView(StageView):
    """The Decoding view: Space plays, ← → step, Home and End jump, F2 replaces the token."""

    def __init__(self, session: Session, decoding: Decoding) -> None:
        super().__init__(session)
        self._decoding = decoding
        self._heads = ShownHeads(session)
        self._selected = session.selection.heads
        self.transport = Transport(decoding.walk)
        self.prefix = PrefixChips()
        self.source = SourceWeights()
        self.steps = DecodingSteps(session, decoding, self._heads)
        self.beam = BeamPage(decoding)
        self.cache = CachePage(session, decoding.clock)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Decoding")
        self._lay_out()
        self.prefix.clicked.connect(decoding.walk.go_to)
        self.prefix.replaced.connect(decoding.type_token)
        self.prefix.editingEnded.connect(self.setFocus)
        decoding.walk.moved.connect(self._follow_step)
        session.selectionChanged.connect(self._on_selection)
        for changed in (
            session.optionsChanged,
            session.statusChanged,
            session.modelChanged,
            decoding.hypothesesChanged,
            decoding.candidatesChanged,
            decoding.treeChanged,
            decoding.stateChanged,
        ):
            changed.connect(self.invalidate)

    def _lay_out(self) -> None:
        self.steps_button = self._segment("Steps", "Decode one step at a time")
        self.tree_button = self._segment("Beam tree", "Every hypothesis a beam search considers")
        self.cache_button = self._segment("Cache", "Keys and values kept from step to step")
        self._choice = QButtonGroup(self)
        self._choice.addButton(self.steps_button, _STEPS)
        self._choice.addButton(self.tree_button, _TREE)
        self._choice.addButton(self.cache_button, _CACHE)
        self._choice.idClicked.connect(self._show_page)
        self.steps_button.setChecked(True)
        self._bar = QWidget()
        bar = QHBoxLayout(self._bar)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.setSpacing(0)
        bar.addWidget(self.transport)
        bar.addStretch()
        bar.addWidget(self.steps_button)
        bar.addWidget(self.tree_button)
        bar.addWidget(self.cache_button)
        self._message = QLabel()
        self._message.setTextFormat(Qt.TextFormat.PlainText)
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._message.setWordWrap(True)
        set_role(self._message, "soft")
        self._pages = QStackedWidget()
        for page in (self.steps, self.beam, self.cache, self._message):
            self._pages.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * GRID, 3 * GRID, 4 * GRID, 3 * GRID)
        column.setSpacing(2 * GRID)
        column.addWidget(self._bar)
        column.addWidget(self.prefix)
        column.addWidget(self.source)
        column.addWidget(self._pages, 1)

    def _segment(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setCheckable(True)
        button.setToolTip(tip)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def apply_theme(self, theme: Theme) -> None:
        for part in (
            *(self.transport, self.prefix, self.source),
            *(self.steps, self.beam, self.cache),
        ):
            part.apply_theme(theme)
        self._fit_chips()  # the text may have another size
        super().apply_theme(theme)

    # What the commands do

    def show_tree(self) -> None:
        self._show_page(_TREE)

    def edit_target(self) -> None:
        """Wait for a translation of the user's own."""
        self._show_page(_STEPS)
        self.steps.side.target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # Following

    def refresh(self) -> None:
        trace, count = self.session.trace, self._decoding.walk.count
        for part in (self._bar, self.prefix, self.source):
            part.setVisible(count > 0)
        self.transport.show_state()
        if trace is None or not count:
            self._message.setText(self._emptiness())
            self._pages.setCurrentWidget(self._message)
            return
        self._show_step(trace)
        if self.tree_button.isChecked():
            self._pages.setCurrentWidget(self.beam)
            self._grow_tree(trace)
            self.beam.show_tree()
        elif self.cache_button.isChecked():
            self._pages.setCurrentWidget(self.cache)
            self.cache.show_step(self._decoding.walk.step, count)
        else:
            self._pages.setCurrentWidget(self.steps)
            self.steps.show_trace(trace, self.theme, self.color_map)

    def _grow_tree(self, trace: Trace) -> None:
        """With beam search in use, as soon as the translation belongs to the text."""
        decoding = self._decoding
        settled = self.session.status.phase is Phase.READY and self.session.is_answered
        if settled and not (decoding.is_greedy or decoding.problem or decoding.obstacle):
            decoding.grow_tree()

    def _on_selection(self, selection: Selection) -> None:
        """Another row is another step; only other heads make another map."""
        if selection.heads != self._selected:
            self._selected = selection.heads
            self.invalidate()

    def _follow_step(self) -> None:
        trace = self.session.trace
        if trace is not None and self._decoding.walk.count and self.isVisible():
            self._show_step(trace)
            page = self._pages.currentWidget()
            if page is self.steps:
                self.steps.show_step(trace)
            elif page is self.cache:
                self.cache.show_step(self._decoding.walk.step, self._decoding.walk.count)

    def _show_step(self, trace: Trace) -> None:
        """What both pages show of the current step."""
        step = self._decoding.walk.step
        self.prefix.show_hypothesis(self._decoding.active, step)
        heads = self._heads.of(AttentionKind.CROSS, trace)
        if heads:
            weights = np.mean([trace.row(*head, step) for head in heads], axis=0)
            self.source.show_row(heads_title(heads), trace.source_tokens, weights)
        else:
            self.source.show_nothing("This trace has no cross-attention.")

    def _show_page(self, page: int) -> None:
        self._choice.button(page).setChecked(True)
        self.invalidate()
        if page == _TREE:
            self.beam.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _emptiness(self) -> str:
        if self.session.trace is not None:
            return "This trace has no decoder, so there are no decoding steps."
        status = self.session.status
        if status.phase is Phase.EMPTY:
            return "Type an English sentence above to see how it is translated step by step."
        return status.message or "The steps appear with the translation."

    # For a file

    @property
    def has_picture(self) -> bool:
        return self._drawn_page is not None

    def export_name(self) -> str:
        page = self._drawn_page
        if page is self.cache:
            return "time of a step"
        return "beam tree" if page is self.beam else self.steps.export_name()

    def export_size(self) -> QSize:
        assert self._drawn_page is not None
        return self._drawn_page.export_size()

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        """The map as it stands, or the whole tree, without the controls around them."""
        assert self._drawn_page is not None
        painter.fillRect(rect, self.theme.color("paper"))
        self._drawn_page.paint_export(painter, QRectF(rect))

    @property
    def _drawn_page(self) -> DecodingSteps | BeamPage | CachePage | None:
        """The page in view, if it shows a picture and not a message."""
        page = self._pages.currentWidget()
        if page is self.beam:
            return self.beam if self._decoding.tree is not None else None
        if page is self.cache:
            return self.cache if self.cache.has_picture else None
        return self.steps if page is self.steps and self.steps.has_picture else None

    # Events

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._decoding.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._decoding.walk.pause()
        self._decoding.watch(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_chips()

    def _fit_chips(self) -> None:
        size = COMPACT if self.height() < grown(LOW, self.font()) else NORMAL
        self.prefix.set_chip_size(size)
        self.source.chips.set_chip_size(size)

    def focus_part(self) -> QWidget:
        return self

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.prefix.set_framed(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.prefix.set_framed(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        walk = self._decoding.walk
        match event.key():
            case Qt.Key.Key_Space:
                walk.toggle()
            case Qt.Key.Key_Left:
                walk.move(-1)
            case Qt.Key.Key_Right:
                walk.move(1)
            case Qt.Key.Key_Home:
                walk.go_to(0)
            case Qt.Key.Key_End:
                walk.go_to(walk.count - 1)
            case Qt.Key.Key_F2:
                self.prefix.edit(walk.step)
            case Qt.Key.Key_Escape:
                walk.pause()
                self.session.release()
            case _:
                super().keyPressEvent(event)
