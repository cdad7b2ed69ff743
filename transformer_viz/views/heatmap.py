"""The stage: the selected head's map, large, with what it means and the value in focus."""

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.colormap import ColorMap, encode, lookup_table
from transformer_viz.drawing.pooling import Pyramid
from transformer_viz.session import Phase, Session
from transformer_viz.theme import GRID, LIGHT, Theme, scaled_font, set_role
from transformer_viz.views.accessibility import announce
from transformer_viz.views.matrix_canvas import MatrixCanvas, MatrixPicture
from transformer_viz.views.readout import ReadoutCard, read_cell
from transformer_viz.views.stream import Stream
from transformer_viz.views.wording import AXES, describe_selection, head_title

INLINE_CELLS = 512 * 512
"""A map of so many cells is computed at once; a larger one beside the event loop."""

_ZOOM_STEP = 1.25
_PAGE = 10  # cells that Page Up and Page Down move
_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_PageUp: (-_PAGE, 0),
    Qt.Key.Key_PageDown: (_PAGE, 0),
}
_PLACEHOLDERS = {
    Phase.LOADING: "The picture appears as soon as the model can answer.",
    Phase.EMPTY: "Type an English sentence above to see where every head looks.",
    Phase.BUSY: "The picture appears with the translation.",
    Phase.READY: "",
    Phase.FAILED: "Nothing is lost: change the text or open another model.",
}


class Heatmap(QWidget):
    """Point at a cell to read it, click to pin it, Esc to release; arrows move, 0 fits."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = LIGHT
        self._color_map = ColorMap.PAPER
        self._shown: tuple[Trace, Head] | None = None  # what the canvas shows
        self._stream = Stream(self)
        self._stream.arrived.connect(self._show_picture)
        self._stream.finished.connect(self._show_state)
        self._stream.finished.connect(self._show_marks)

        set_role(self, "paper")
        self.canvas = MatrixCanvas()
        self.canvas.setAccessibleName("Attention map")
        self.setFocusProxy(self.canvas)
        self.readout = ReadoutCard(self.canvas)
        self._build_layout()
        self.setTabOrder(self.canvas, self._fit)

        self.canvas.cellHovered.connect(session.set_hover)
        self.canvas.cellClicked.connect(self._on_click)
        session.traceChanged.connect(self._refresh)
        session.selectionChanged.connect(self._refresh)
        session.hoverChanged.connect(self._show_marks)
        session.statusChanged.connect(self._show_state)
        self.apply_theme(LIGHT)
        self._refresh()

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.canvas.set_theme(theme, lookup_table(self._color_map, theme))

    def set_color_map(self, color_map: ColorMap | str) -> None:
        if color_map != self._color_map:
            self._color_map = ColorMap(color_map)
            self.apply_theme(self._theme)

    def _build_layout(self) -> None:
        self._title = self._label("title")
        self._title.setFont(scaled_font(self.font(), 1.15, bold=True))
        self._axes = self._label("soft")
        self._state = self._label("soft")
        self._state.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._error = self._label("error")
        self._fit = QPushButton("Fit")
        self._fit.setToolTip("Show the whole map (0 or Home); the wheel zooms, dragging pans")
        self._fit.setAccessibleName("Fit the whole map")
        self._fit.clicked.connect(self.canvas.fit)

        head = QHBoxLayout()
        head.setSpacing(3 * GRID)
        head.addWidget(self._title, 1)
        head.addWidget(self._state)
        head.addWidget(self._fit)

        self._headline, self._hint = self._label("title"), self._label("soft")
        placeholder = QWidget()
        lines = QVBoxLayout(placeholder)
        lines.setContentsMargins(8 * GRID, 8 * GRID, 8 * GRID, 8 * GRID)
        lines.addStretch(2)
        for label in (self._headline, self._hint):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
            lines.addWidget(label)
        lines.addStretch(3)
        self._pages = QStackedLayout()
        self._pages.addWidget(placeholder)
        self._pages.addWidget(self.canvas)

        column = QVBoxLayout(self)
        column.setContentsMargins(0, 3 * GRID, 0, 0)
        column.setSpacing(GRID)
        header = QVBoxLayout()
        header.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        header.setSpacing(GRID)
        header.addLayout(head)
        header.addWidget(self._axes)
        header.addWidget(self._error)
        column.addLayout(header)
        column.addLayout(self._pages, 1)

    def _label(self, role: str) -> QLabel:
        label = QLabel()
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_role(label, role)
        return label

    # From the session

    def _refresh(self) -> None:
        """Follow the trace and the selection."""
        trace, selection = self._session.trace, self._session.selection
        if trace is None:
            self._shown = None
            self._stream.stop()
            self.canvas.set_picture(None)
        else:
            head = Head(selection.kind, selection.layer, selection.head)
            if self._shown is None or self._shown[0] is not trace or self._shown[1] != head:
                self._shown = (trace, head)
                self._compute(trace, head)
        self._show_state()
        self._show_marks()

    def _compute(self, trace: Trace, head: Head) -> None:
        self._title.setText(head_title(head))
        self._axes.setText(AXES[head.kind])
        cells = len(trace.query_tokens(head.kind)) * len(trace.key_tokens(head.kind))
        if cells <= INLINE_CELLS:
            self._stream.stop()
            self._show_picture(matrix_picture(trace, head))
        else:
            self._stream.start(_pictures(trace, head))

    def _show_picture(self, picture: MatrixPicture) -> None:
        self.canvas.set_picture(picture)
        self._show_state()
        self._show_marks()

    def _show_state(self) -> None:
        status = self._session.status
        has_trace = self._session.trace is not None
        self._pages.setCurrentIndex(1 if has_trace else 0)
        failed = status.phase is Phase.FAILED
        message = f"⚠ {status.message}" if failed else status.message
        self._title.setVisible(has_trace)
        self._fit.setVisible(has_trace)
        self._axes.setVisible(has_trace and not failed)
        self._error.setVisible(has_trace and failed)
        self._error.setText(message)
        self._headline.setText(message or "No sentence yet")
        self._hint.setText(_PLACEHOLDERS[status.phase])
        busy = status.phase is Phase.BUSY
        self.canvas.set_stale(busy or self._stream.running)
        self._state.setText(status.message if busy else "Drawing …" * self._stream.running)

    def _show_marks(self) -> None:
        session, trace = self._session, self._session.trace
        selection = session.selection
        query, key = session.focus
        self.canvas.set_marks((query, key), (selection.query, selection.key))
        if trace is None or query is None or key is None or self._stream.running:
            self.readout.hide()
        else:
            self._show_reading(trace, query, key)
        announce(self.canvas, describe_selection(session))

    def _show_reading(self, trace: Trace, query: int, key: int) -> None:
        selection = self._session.selection
        head = Head(selection.kind, selection.layer, selection.head)
        cell = self.canvas.cell_rect(query, key)
        if self.canvas.matrix_rect().contains(cell.center()):
            self.readout.show_reading(read_cell(trace, head, query, key), cell.toRect())
        else:
            self.readout.hide()

    # From the user

    def _on_click(self, query: int | None, key: int | None) -> None:
        """Pin the cell, row or column; clicking what is pinned releases it."""
        selection = self._session.selection
        if (query, key) == (selection.query, selection.key):
            self._session.release()
        elif query is not None or key is not None:
            self._session.pin(query, key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in _MOVES and self._session.trace is not None:
            self._move(*_MOVES[Qt.Key(key)])
        elif key == Qt.Key.Key_Escape:
            self._session.release()
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home):
            self.canvas.fit()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.canvas.zoom(_ZOOM_STEP)
        elif key == Qt.Key.Key_Minus:
            self.canvas.zoom(1 / _ZOOM_STEP)
        else:
            super().keyPressEvent(event)

    def _move(self, rows: int, columns: int) -> None:
        """Move the pinned cell, starting where the pointer is, else at the first cell."""
        session = self._session
        query, key = session.focus
        if query is None or key is None:
            query, key = query or 0, key or 0
        else:
            query, key = max(0, query + rows), max(0, key + columns)
        session.set_hover(None, None)
        session.pin(query, key)
        pinned = session.selection
        if pinned.query is not None and pinned.key is not None:
            self.canvas.reveal(pinned.query, pinned.key)
            self._show_marks()


def matrix_picture(trace: Trace, head: Head) -> MatrixPicture:
    """Everything the canvas needs of one head. Safe to run in any thread."""
    kind = head.kind
    allowed = trace.allowed(kind)
    return MatrixPicture(
        pyramid=Pyramid(encode(trace.weights(*head), allowed)),
        rows=trace.query_tokens(kind),
        columns=trace.key_tokens(kind),
        predicted=() if kind is AttentionKind.ENCODER_SELF else trace.predicted_tokens,
        masked=not allowed.all(),
    )


def _pictures(trace: Trace, head: Head) -> Iterator[MatrixPicture]:
    yield matrix_picture(trace, head)
