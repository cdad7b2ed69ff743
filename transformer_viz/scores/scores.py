"""How one weight comes about: the row of one query in one head, step by step."""

import math

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from core.errors import UserError
from core.switches import Scaling
from core.trace.row_steps import row_steps, scaling_effects
from core.trace.trace import Head, Trace
from transformer_viz.drawing.theme import GRID, Theme, grown
from transformer_viz.scores.score_layout import MARGIN, full_height, line_height
from transformer_viz.scores.score_picture import ScorePicture, score_picture
from transformer_viz.scores.scores_canvas import ScoresCanvas
from transformer_viz.state.session import Phase, Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_size import set_font
from transformer_viz.words.wording import head_name, head_title, one_of, token_name

CLEAR_EFFECT = 0.5
"""Bits of entropy: what leaving the scaling out must change for a row to show it."""
MOST_ROWS = 300
"""Of a longer text the rows are not searched for the one that shows it best."""
EXPORTED_LINES = 200
"""A longer text is exported as far as it is in view."""
FEWEST_EXPORTED = 8
"""Lines of the table in a figure, however low."""

_LEAST_WIDTH = 165 * GRID  # of a figure: none of its columns is cut

_KEY_MOVES = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_QUERY_MOVES = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_PageUp: -1,
    Qt.Key.Key_PageDown: 1,
}


class Scores(StageView):
    """The view of one row's computation. Hover over a key to see its pair, click to pin it, Esc to
    release; ↑ ↓ move the key, ← → the query, S leaves out the scaling."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._trace: Trace | None = None  # what the picture was made of,
        self._shown: tuple[object, ...] = ()  # and which part of it
        self._picture: ScorePicture | None = None
        self._effects: tuple[Trace, Head, int] | None = None  # the row of a head that tells most
        self.canvas = ScoresCanvas()
        self.canvas.setAccessibleName("How the row of one query is computed")
        self._build_layout()
        self.canvas.keyHovered.connect(self._on_hover)
        self.canvas.keyClicked.connect(self._on_click)
        self.scaling.clicked.connect(lambda on: session.change_options(scores_scaled=on))
        self.by_weight.toggled.connect(lambda on: session.change_options(scores_by_weight=on))
        for changed in (
            session.traceChanged,
            session.selectionChanged,
            session.hoverChanged,
            session.optionsChanged,
            session.statusChanged,
        ):
            changed.connect(self.invalidate)

    def _build_layout(self) -> None:
        self._title, self._subtitle = ElidedLabel("title"), ElidedLabel("soft")
        set_font(self._title, 1.15, bold=True)
        self.scaling = self._button("÷ √d_k", "Divide the scores by √d_k, as the model does (S)")
        self.scaling.setAccessibleName("Divide the scores by the square root of d k")
        self.by_weight = self._button(
            "Largest first", "Sort the keys by weight instead of position"
        )
        self._placeholder = Placeholder()
        head = QHBoxLayout()
        head.setSpacing(2 * GRID)
        head.addWidget(self._title, 1)
        head.addWidget(self.scaling)
        head.addWidget(self.by_weight)
        header = QVBoxLayout()
        header.setContentsMargins(MARGIN, 0, MARGIN, 0)
        header.setSpacing(GRID)
        header.addLayout(head)
        header.addWidget(self._subtitle)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 3 * GRID, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(header)
        column.addWidget(self.canvas, 1)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self._placeholder)
        self._pages.addWidget(page)

    def _button(self, text: str, tooltip: str) -> QPushButton:
        button = QPushButton(text)
        button.setCheckable(True)
        button.setToolTip(tooltip)
        return button

    def apply_theme(self, theme: Theme) -> None:
        self.canvas.apply_theme(theme)
        super().apply_theme(theme)

    def focus_part(self) -> QWidget:
        return self.canvas

    # From the session

    @property
    def query(self) -> int:
        """The query whose row is shown: pointed at, else pinned, else the one that shows best what
        the scaling does."""
        for query in (self.session.focus[0], self.session.selection.query):
            if query is not None:
                return query
        return self._telling_query

    def show_scaling(self) -> None:
        """Leave the scaling out, or put it back, on a row where that makes a difference."""
        session = self.session
        if not self.scaling.isEnabled():
            return
        if session.options.scores_scaled and self._picture is not None:
            with_root, without = self._picture.entropies
            if with_root - without < CLEAR_EFFECT:
                session.set_hover(None, None)
                session.select(query=self._telling_query, key=None, pins=())
        session.change_options(scores_scaled=not session.options.scores_scaled)

    @property
    def key(self) -> int:
        """The key shown in detail: pointed at, else pinned, else the heaviest."""
        for key in (self.session.focus[1], self.session.selection.key):
            if key is not None:
                return key
        return self._picture.heaviest if self._picture is not None else 0

    def refresh(self) -> None:
        options, trace = self.session.options, self.session.trace
        off = trace is not None and trace.switches.scaling is Scaling.OFF
        self.scaling.setEnabled(not off)
        self.scaling.setChecked(options.scores_scaled and not off)
        self.by_weight.setChecked(options.scores_by_weight)
        if trace is None:
            self._show_nothing()
            self._placeholder.show_status(self.session.status)
            return
        try:
            self._make_picture(trace)
        except UserError as error:
            self._show_nothing()
            self._placeholder.say("No scores here", str(error))
            return
        self._pages.setCurrentIndex(1)
        self._show_titles(trace)
        self.canvas.set_stale(self.session.status.phase is Phase.BUSY)
        pins = self.session.selection.pinned
        pinned = {key for query, key in pins if key is not None and query in (None, self.query)}
        self.canvas.set_marks(self.key, frozenset(pinned))
        announce(self.canvas, self._description())

    @property
    def _telling_query(self) -> int:
        """The row that sharpens most without the scaling; the first where that is unknown."""
        trace, head = self.session.trace, self.session.selection.primary
        if trace is None or len(trace.query_tokens(head.kind)) > MOST_ROWS:
            return 0
        known = self._effects
        if known is None or known[0] is not trace or known[1] != head:
            try:
                query = int(scaling_effects(trace, head).argmax())
            except UserError:  # finished weights, which the view says itself
                query = 0
            self._effects = known = trace, head, query
        return known[2]

    def _make_picture(self, trace: Trace) -> None:
        options, head, query = self.session.options, self.session.selection.primary, self.query
        off = trace.switches.scaling is Scaling.OFF
        scaled, by_weight = options.scores_scaled and not off, options.scores_by_weight
        shown = head, query, scaled, by_weight
        if trace is self._trace and shown == self._shown:
            return
        steps = row_steps(trace, head, query)
        divided, undivided = (
            (steps.with_scaling(Scaling.ON), steps) if off else (steps, steps.unscaled())
        )
        self._picture = score_picture(
            trace,
            head,
            query,
            steps=divided if scaled else undivided,
            entropies=(divided.entropy, undivided.entropy),
            scaled=scaled,
            by_weight=by_weight,
        )
        self._trace, self._shown = trace, shown
        self.canvas.set_picture(self._picture)

    def _show_nothing(self) -> None:
        self._trace = self._picture = None
        self.canvas.set_picture(None)
        self._pages.setCurrentIndex(0)

    def _show_titles(self, trace: Trace) -> None:
        selection, status = self.session.selection, self.session.status
        self._title.setText(head_title(selection.primary) + one_of(len(selection.heads)))
        failed = status.phase is Phase.FAILED
        text = f"⚠ {status.message}" if failed else self._query_line(trace)
        self._subtitle.setText(text)
        set_role(self._subtitle, "error" if failed else "soft")

    def _query_line(self, trace: Trace) -> str:
        if self.session.focus[0] is None and self.session.selection.query is None:
            token = token_name(trace.query_tokens(self.session.selection.kind)[self.query])
            place = f"“{token}” ({self.query + 1})"
            return f"{place}, the row that changes most without ÷ √d_k; press ← → for another row"
        token = token_name(trace.query_tokens(self.session.selection.kind)[self.query])
        return f"How much “{token}” ({self.query + 1}) looks at each key, step by step"

    def _description(self) -> str:
        """For screen readers: the pair, its numbers, and how even the row is."""
        picture = self._picture
        assert picture is not None
        with_root, without = picture.entropies
        return (
            f"{self.canvas.pair_in_words()}. Entropy of the row {with_root:.2f} bits with "
            f"the scaling, {without:.2f} bits without."
        )

    # From the user

    def _on_hover(self, key: int | None) -> None:
        self.session.set_hover(None if key is None else self.query, key)

    def _on_click(self, key: int, beside: bool) -> None:
        """Pin the pair, in place of what is pinned or beside it; clicking what is pinned releases
        it."""
        pair, pinned = (self.query, key), self.session.selection.pinned
        if pair in pinned and (beside or len(pinned) == 1):
            self.session.unpin(*pair)
        else:
            self.session.pin(*pair, add=beside)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, picture = event.key(), self._picture
        if key == Qt.Key.Key_Escape:
            self.session.release()
        elif picture is None:
            super().keyPressEvent(event)
        elif key in _KEY_MOVES:
            self._move_key(picture, _KEY_MOVES[Qt.Key(key)])
        elif key in _QUERY_MOVES:
            self._move_pin(max(0, self.query + _QUERY_MOVES[Qt.Key(key)]), self.key)
        elif key == Qt.Key.Key_S:
            self.scaling.click()
        else:
            super().keyPressEvent(event)

    def _move_key(self, picture: ScorePicture, step: int) -> None:
        """To the line above or below, in the order shown."""
        position = picture.position_of(self.key) + step
        self._move_pin(
            self.query, int(picture.order[max(0, min(position, len(picture.order) - 1))])
        )

    def _move_pin(self, query: int, key: int) -> None:
        """Move the current pin; others stay."""
        session = self.session
        session.set_hover(None, None)
        rest = tuple(pin for pin in session.selection.pins if pin != (query, key))
        session.select(query=query, key=key, pins=rest)
        self.canvas.reveal(self.key)

    # For a file

    def export_name(self) -> str:
        return f"{head_name(self.session.selection.primary)} scores"

    @property
    def has_picture(self) -> bool:
        return self._picture is not None

    @property
    def _title_height(self) -> int:
        """Above an exported picture."""
        return 2 * line_height(self.font())

    def _exported(self) -> tuple[int, bool]:
        """How many lines an exported picture has, and whether a pair is shown in detail.

        A room that is too low for all loses the pair first, and then the lines farthest from the
        current one, so that text keeps its size.
        """
        assert self._picture is not None
        lines, font = len(self._picture.order), self.font()
        room = self._export_room.height() - self._title_height
        if room <= 0 or full_height(lines, font) <= room:
            return lines, True
        fitting = (room - full_height(0, font, detail=False)) // line_height(font)
        return min(lines, max(FEWEST_EXPORTED, fitting)), False

    def export_size(self) -> QSize:
        """Return the size with all keys of a text that is not too long; else with as much as is in
        view."""
        lines, detail = self._exported()
        height = (
            full_height(lines, self.font(), detail=detail)
            if lines <= EXPORTED_LINES
            else self.canvas.height()
        )
        width = max(self.width(), grown(_LEAST_WIDTH, self.font()))
        return QSize(math.ceil(width), self._title_height + height)

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        picture = self._picture
        assert picture is not None
        painter.fillRect(rect, self.theme.color("paper"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        title = QRectF(rect).adjusted(MARGIN, 0, -MARGIN, 0)
        title.setHeight(self._title_height)
        painter.setFont(self._title.font())
        painter.setPen(self.theme.color("ink"))
        selection = self.session.selection
        name = head_title(selection.primary) + one_of(len(selection.heads))
        query = f"query {token_name(picture.query)} ({picture.number + 1})"
        lines, detail = self._exported()
        if lines < len(picture.order):
            query += f" · {lines} of {len(picture.order)} keys"
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.drawText(title, flags, f"{name} · {query}")
        area = QRectF(rect).adjusted(0, self._title_height, 0, 0)
        scroll = None
        if lines <= EXPORTED_LINES:  # the current line in the middle
            above = picture.position_of(self.key) - lines // 2
            scroll = float(max(0, above) * line_height(self.font()))
        self.canvas.paint(painter, self.canvas.layout_in(area, scroll, detail=detail))
