"""Compare: the maps of A and B and their difference on common axes."""

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from transformer_viz.compare.compare_bar import CompareBar
from transformer_viz.compare.compare_controls import CompareControls
from transformer_viz.compare.compare_figure import Figure
from transformer_viz.compare.compare_maps import CompareMaps
from transformer_viz.compare.compare_pictures import (
    ComparePictures,
    Request,
    Shown,
    compare_pictures,
)
from transformer_viz.compare.compare_reading import ROWS_TIP, read_place, read_rows
from transformer_viz.compare.compare_start import CompareStart
from transformer_viz.compare.comparison import Comparison, Sides
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.diverging import diverging_table
from transformer_viz.drawing.marks import Marks
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.stream import Stream
from transformer_viz.state.options import ViewOptions
from transformer_viz.state.selection import Cell
from transformer_viz.state.session import Phase, Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.translations import Translations
from transformer_viz.words.wording import head_name, head_title, one_of, plain_tooltip

_BY_WORDS = "Compared by words"
_WORDS_TIP = (
    "Models with different vocabularies split words into different pieces;\nhere the pieces are "
    "merged into words."
)
_NOTHING = "There are only special tokens here, and they are hidden."
INLINE_CELLS = 192 * 192
"""Maps of so many cells are computed at once; larger ones beside the event loop."""

_ZOOM_STEP = 1.25
_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_PageUp: (-10, 0),
    Qt.Key.Key_PageDown: (10, 0),
}


class Compare(StageView):
    """Compares two traces. Hover over a cell to read both sides; click or Return pins it.

    Arrows move over the cells, + and − zoom the large map, 0 fits it.
    """

    def __init__(self, session: Session, comparison: Comparison) -> None:
        super().__init__(session)
        self._comparison = comparison
        self._asked: Request | None = None
        self._shown: ComparePictures | None = None
        self._hovered: Cell = (None, None)  # a place, under the pointer or the arrow keys
        self._stream = Stream(self)
        self._stream.arrived.connect(self._on_arrived)
        self._stream.finished.connect(self._show_state)
        self.bar = CompareBar(comparison)
        self.controls = CompareControls(comparison)
        self.translations = Translations()
        self.maps = CompareMaps()
        self._build_layout()

        self.controls.changed.connect(self.refresh)
        self.maps.cellHovered.connect(self._on_hover)
        self.maps.cellClicked.connect(self._on_click)
        self.maps.enlargeWanted.connect(self.controls.show_large)
        for changed in (comparison.changed, session.selectionChanged, session.optionsChanged):
            changed.connect(self.invalidate)
        session.hoverChanged.connect(self._on_pointer)

    def _build_layout(self) -> None:
        self._rows = self._label("soft")
        self._rows.setToolTip(plain_tooltip(ROWS_TIP))
        self._state = self._label("soft")
        self._state.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._error = self._label("error")
        header = QVBoxLayout()
        header.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        header.setSpacing(GRID)
        for widget in (self.bar, self.controls, self.translations, self._error):
            header.addWidget(widget)
        self.start = CompareStart(self._comparison)
        self._pages = QStackedLayout()
        self._pages.addWidget(self.start)
        self._pages.addWidget(self.maps)
        footer = QHBoxLayout()
        footer.setContentsMargins(4 * GRID, 0, 4 * GRID, 2 * GRID)
        footer.addWidget(self._rows, 1)
        footer.addWidget(self._state)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 3 * GRID, 0, 0)
        column.setSpacing(GRID)
        column.addLayout(header)
        column.addLayout(self._pages, 1)
        column.addLayout(footer)

    def _label(self, role: str) -> QLabel:
        label = QLabel()
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_role(label, role)
        return label

    # What is shown

    def refresh(self) -> None:
        sides, first = self._comparison.sides, self.session.selection.primary
        if sides is None:
            self._asked = self._shown = None
            self._stream.stop()
        elif first.kind in sides.a.kinds and first.kind in sides.b.kinds:
            first = sides.a.nearest(first)
            second = self._comparison.second_head(first)
            request = Request(sides, first, second, self._options(), self.controls.full)
            if request != self._asked:
                self._asked = request
                self._make(request)
            self.controls.show_heads(sides, first, second, len(self.session.selection.heads))
        self._show_maps()

    def focus_part(self) -> QWidget:
        return self.maps.canvas

    def apply_theme(self, theme: Theme) -> None:
        self.controls.apply_theme(theme)
        self.translations.apply_theme(theme)
        super().apply_theme(theme)

    def _options(self) -> ViewOptions:
        """Those that matter here."""
        options = self.session.options
        return ViewOptions(
            scale=options.scale,
            threshold=options.threshold,
            hide_specials=options.hide_specials,
            merge_words=options.merge_words,
        )

    def _make(self, request: Request) -> None:
        if request.cells <= INLINE_CELLS:
            self._stream.stop()
            self._shown = compare_pictures(request)
        else:
            self._stream.start(_later(request))

    def _on_arrived(self, pictures: ComparePictures | None) -> None:
        self._shown = pictures
        self._show_maps()

    def _show_maps(self) -> None:
        if self._shown is not None:
            shown, sides = self._shown, self._shown.request.sides
            self.maps.show_pictures(shown, self.controls.large, self._tables(), self.theme)
            texts = sides.a.translation, sides.b.translation
            self.translations.show_words(shown.words, *texts)
        self._show_state()
        self._show_marks()

    def _tables(self) -> dict[Shown, np.ndarray]:
        """RGBA uint8 [256, 4] by code."""
        blank = self.session.options.threshold > 0
        weights = lookup_table(self.color_map, self.theme, blank=blank)
        return {Shown.A: weights, Shown.B: weights, Shown.MINUS: diverging_table(self.theme)}

    def _show_state(self) -> None:
        status, compared = self._comparison.status, self._comparison.sides is not None
        failed = status.phase is Phase.FAILED
        busy = status.phase is Phase.BUSY
        self.controls.setVisible(compared)
        for widget in (self.translations, self._rows):
            widget.setVisible(self._shown is not None)
        self._error.setVisible(compared and failed)
        self._error.setText(f"⚠ {status.message}")
        self._pages.setCurrentIndex(int(self._shown is not None))
        self.start.show_message(status.message or _NOTHING * (not self._stream.running))
        self.maps.set_stale(busy or self._stream.running)
        text = self._state_text(busy)
        self._state.setText(text)
        self._state.setToolTip(plain_tooltip(_WORDS_TIP) if _BY_WORDS in text else "")

    def _state_text(self, busy: bool) -> str:
        sides = self._comparison.sides
        if busy:
            return self._comparison.status.message
        if self._stream.running:
            return "Drawing…"
        if sides is None:
            return ""
        by_words = "" if sides.same_vocabulary else _BY_WORDS
        return " · ".join(filter(None, (_changed_side(sides), by_words)))

    def _show_marks(self) -> None:
        """The same cross hair and pins on all three maps, and what there is to read."""
        pictures, session = self._shown, self.session
        if pictures is None:
            announce(self.maps.canvas, self._comparison.status.message)
            return
        axes = pictures.axes
        row, column = self._focus(pictures)
        pins = tuple(axes.place(*pin) for pin in session.selection.pinned)
        self.maps.set_marks(Marks((row, column), pins))
        rows = read_rows(pictures, row)
        self._rows.setText(rows)
        if row is None or column is None:
            self.maps.hide_reading()
            announce(self.maps.canvas, rows)
        else:
            reading = read_place(pictures, row, column)
            self.maps.show_reading(reading, row, column)
            numbers = ", ".join(f"{name} {value}" for name, value in reading.lines)
            announce(self.maps.canvas, f"{reading.title}: {numbers}")

    def _focus(self, pictures: ComparePictures) -> Cell:
        """The place to explain: what is pointed at here, else what the session has in focus."""
        row, column = self._hovered
        rows, columns = pictures.minus.shape
        inside = (row is None or row < rows) and (column is None or column < columns)
        if inside and self._hovered != (None, None):
            return self._hovered
        return pictures.axes.place(*self.session.focus)

    def _tokens(self, pictures: ComparePictures, row: int | None, column: int | None) -> Cell:
        """The tokens of a place in the session's trace; none while older ones are shown."""
        if pictures.request.sides.a is not self.session.trace:
            return None, None
        return pictures.axes.tokens(row, column)

    # From the user

    def _on_pointer(self, cell: Cell) -> None:
        """Another view points elsewhere, or this one does."""
        if self._shown is not None and cell != self._tokens(self._shown, *self._hovered):
            self._hovered = (None, None)
        if self.isVisible():
            self._show_marks()

    def _on_hover(self, row: int | None, column: int | None) -> None:
        if self._shown is not None:
            self._hovered = row, column
            self.session.set_hover(*self._tokens(self._shown, row, column))
            self._show_marks()

    def _on_click(self, row: int | None, column: int | None, beside: bool) -> None:
        """Pin a cell, row or column that A has; clicking the one that is pinned releases it."""
        if self._shown is None:
            return
        session = self.session
        query, key = cell = self._tokens(self._shown, row, column)
        there = (query is None) == (row is None) and (key is None) == (column is None)
        if not there or cell == (None, None):
            return
        pinned = session.selection.pinned
        if cell in pinned and (beside or len(pinned) == 1):
            session.unpin(*cell)
        else:
            session.pin(*cell, add=beside)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, canvas = event.key(), self.maps.canvas
        if key in _MOVES and self._shown is not None:
            self._move(self._shown, *_MOVES[Qt.Key(key)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._shown:
            beside = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self._on_click(*self._focus(self._shown), beside)
        elif key == Qt.Key.Key_Escape:
            self._on_hover(None, None)
            self.session.release()
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home):
            canvas.fit()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            canvas.zoom(_ZOOM_STEP)
        elif key == Qt.Key.Key_Minus:
            canvas.zoom(1 / _ZOOM_STEP)
        else:
            super().keyPressEvent(event)

    def _move(self, pictures: ComparePictures, down: int, right: int) -> None:
        """From the place in focus, else to the first one."""
        row, column = self._focus(pictures)
        if row is None or column is None:
            row, column = row or 0, column or 0
        else:
            rows, columns = pictures.minus.shape
            row = min(max(0, row + down), rows - 1)
            column = min(max(0, column + right), columns - 1)
        self.maps.canvas.reveal(row, column)
        self._on_hover(row, column)

    # For a file

    @property
    def has_picture(self) -> bool:
        return self._shown is not None

    def export_name(self) -> str:
        """Name the head that is compared, also of several selected ones."""
        assert self._shown is not None
        return head_name(self._shown.request.a)

    def export_size(self) -> QSize:
        return self._figure.size

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        self._figure.paint(painter, rect)

    @property
    def _figure(self) -> Figure:
        assert self._shown is not None
        return Figure(
            pictures=self._shown,
            title=head_title(self._shown.request.a) + one_of(len(self.session.selection.heads)),
            tables=self._tables(),
            theme=self.theme,
            font=self.font(),
            room=self._export_room,
        )

    def showEvent(self, event: QShowEvent) -> None:
        self._comparison.watch(True)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._comparison.watch(False)


def _later(request: Request) -> Iterator[ComparePictures | None]:
    yield compare_pictures(request)


def _changed_side(sides: Sides) -> str:
    """Where the model is changed, unless both sides are changed alike."""
    return ", ".join(
        f"{what} in {_where(bool(a), bool(b))}"
        for what, a, b in (
            ("Heads off, scaled or even", sides.a.gates, sides.b.gates),
            (
                "Scaling or mask switched",
                sides.a.switches.changes(),
                sides.b.switches.changes(),
            ),
        )
        if a != b
    )


def _where(first: bool, second: bool) -> str:
    return "A and B, differently" if first and second else "A only" if first else "B only"
