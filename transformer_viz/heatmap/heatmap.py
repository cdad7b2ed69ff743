"""The selected head's map, large, or those of several heads, with the value in focus."""

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from core.trace.trace import Head
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.heading import Heading
from transformer_viz.drawing.marks import Marks
from transformer_viz.drawing.theme import GRID, Theme, grown
from transformer_viz.engine.quantities import Quantities
from transformer_viz.heatmap.map_header import MapHeader
from transformer_viz.heatmap.map_notes import is_faint, map_notes
from transformer_viz.heatmap.matrix_grid import MOST, MatrixGrid
from transformer_viz.heatmap.pin_tray import PinTray, read_pin
from transformer_viz.heatmap.shown_maps import Groups, ShownMaps
from transformer_viz.state.options import Combine
from transformer_viz.state.session import Phase, Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.head_pictures import MapAxes
from transformer_viz.widgets.matrix_canvas import MatrixCanvas
from transformer_viz.widgets.placeholder import ONLY_SPECIALS, Placeholder
from transformer_viz.widgets.readout import Reading, ReadoutCard, read_cell
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.words.quantity_wording import (
    NAMES,
    NOT_COMPOSED,
    averaged_heads,
    describe_map,
    map_title,
    mapped_heads,
)
from transformer_viz.words.wording import head_numbers

EXPORT_RESOLUTION = 4.0
"""Pixels of the cells' image per logical pixel: viewers of SVG and PDF smooth between them."""

_COMPACT_BELOW = 100 * GRID  # of the view's height
_NO_TRAY_BELOW = 60 * GRID  # Esc and Delete release pins there
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


class Heatmap(StageView):
    """Shows large maps. Hover over a cell to read it, click to pin it, Ctrl+click to add a pin.

    Arrows move the current pin, with Ctrl a new one; Delete releases it; + and − zoom, 0 fits.
    """

    def __init__(
        self, session: Session, quantities: Quantities, parent: QWidget | None = None
    ) -> None:
        super().__init__(session, parent)
        self._quantities = quantities
        self.canvas = MatrixCanvas(self)
        self.canvas.setAccessibleName("Attention map")
        self.grid = MatrixGrid(self)
        self.grid.setAccessibleName("Attention maps side by side")
        self.header = MapHeader(session, self)
        self.controls = self.header.controls
        self.tray = PinTray(self.controls.fit, self)
        self.readout = ReadoutCard(self.canvas)
        self._moving = False  # by the keyboard, through the cells
        self._maps = ShownMaps(self)
        self._maps.changed.connect(self._show_maps)
        self._build_layout()
        self.canvas.installEventFilter(self)
        for view in (self.canvas, self.grid):
            view.cellHovered.connect(self._on_hover)
            view.cellClicked.connect(self._on_click)
        self.grid.mapClicked.connect(self._on_map_click)
        self.controls.fitWanted.connect(self.canvas.fit)
        self.tray.pointed.connect(session.set_hover)
        self.tray.chosen.connect(lambda query, key: session.pin(query, key, add=True))
        self.tray.released.connect(self._on_released)
        for changed in (
            *(quantities.changed, session.selectionChanged),
            *(session.optionsChanged, session.statusChanged),
        ):
            changed.connect(self.invalidate)
        session.hoverChanged.connect(self._on_pointer)
        self.refresh()

    def _build_layout(self) -> None:
        self._placeholder = Placeholder()
        self._pages = QStackedLayout()
        for page in (self._placeholder, self.canvas, self.grid):
            self._pages.addWidget(page)
        footer = QVBoxLayout()
        footer.setContentsMargins(4 * GRID, 0, 4 * GRID, GRID)
        footer.addWidget(self.tray)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2 * GRID, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.header)
        column.addLayout(self._pages, 1)
        column.addLayout(footer)

    def apply_theme(self, theme: Theme) -> None:
        self.header.apply_theme(theme)
        super().apply_theme(theme)

    # From the session

    @property
    def _mapped(self) -> tuple[Head, ...]:
        """Of the selected heads, those that have a map each."""
        return mapped_heads(self.session.options.quantity, self.session.selection)

    @property
    def _side_by_side(self) -> bool:
        return self.session.options.combine is Combine.SIDE_BY_SIDE and len(self._mapped) > 1

    @property
    def _read(self) -> tuple[Head, ...]:
        """The heads whose values the card and the tags give."""
        selection, quantity = self.session.selection, self.session.options.quantity
        return (selection.primary,) if self._side_by_side else averaged_heads(quantity, selection)

    @property
    def _axes(self) -> MapAxes | None:
        """Of the map, if it belongs to the trace that can be pointed at."""
        return None if self._quantities.asking else self._maps.axes

    def refresh(self) -> None:
        session = self.session
        groups: Groups = (self._read,)
        if self._side_by_side:
            groups = tuple((head,) for head in self._mapped[:MOST])
        table = lookup_table(self.color_map, self.theme, blank=session.options.threshold > 0)
        for view in (self.canvas, self.grid):
            view.set_theme(self.theme, table)
        if not self._quantities.asking:
            found = self._quantities.found
            has_map = found is not None and session.selection.kind in found.trace.kinds
            self._maps.show(found if has_map else None, groups, session.options)
        self._show_state()
        self._show_marks()

    def _show_maps(self) -> None:
        pictures = [picture.matrix for picture in self._maps.pictures]
        focused = self.canvas.hasFocus() or self.grid.hasFocus()
        self.canvas.set_picture(pictures[0] if len(self._maps.groups) == 1 else None)
        names = [self._map_name(heads[0]) for heads in self._maps.groups]
        self.grid.set_pictures(pictures if len(self._maps.groups) > 1 else (), names)
        self._show_state()
        self._show_marks()
        if focused:
            self._map_view.setFocus()

    def _map_name(self, head: Head) -> str:
        of_layer = self.session.options.quantity.of_layer
        return f"layer {head.layer + 1}" if of_layer else head_numbers(head)

    def _show_state(self) -> None:
        session, status = self.session, self.session.status
        pictures, found = self._maps.pictures, self._maps.found
        quantity, asking = session.options.quantity, self._quantities.asking
        has_trace = session.trace is not None
        failed = status.phase is Phase.FAILED
        busy = status.phase is Phase.BUSY
        header = self.header
        if not asking:
            heads = self._mapped if self._side_by_side else self._read
            header.title.setText(map_title(quantity, heads, averaged=not self._side_by_side))
            if pictures and found is not None:
                shown = len(self._maps.groups)
                header.show_notes(map_notes(found, pictures, session.options, len(heads), shown))
                header.stretch.setVisible(is_faint(found, pictures, session.options))
        header.set_compact(self._compact)
        header.set_trace_there(has_trace)
        self.tray.setVisible(has_trace and self._has_tray)
        header.notes.setVisible(bool(pictures) and not failed and bool(header.notes.text()))
        header.show_error(f"⚠ {status.message}" if has_trace and failed else "")
        self._pages.setCurrentIndex(min(len(self._maps.groups), 2))  # placeholder, one map, several
        if not has_trace:
            self._placeholder.show_status(status)
        elif self._maps.running or asking:
            self._placeholder.say("", "")
        elif self._quantities.problem:
            headline = f"“{NAMES[quantity]}” cannot be shown"
            self._placeholder.say(headline, self._quantities.problem)
        elif found is None:
            self._placeholder.say(*NOT_COMPOSED)
        else:
            self._placeholder.say(*ONLY_SPECIALS)
        self.controls.fit.setEnabled(len(self._maps.groups) == 1)
        drawing = "Drawing…" * self._maps.running
        self.canvas.set_stale(busy or asking or self._maps.running)
        computing = f"Computing {NAMES[quantity]}…" if asking else drawing
        header.state.setText(status.message if busy else computing)

    @property
    def _compact(self) -> bool:
        return self.height() < grown(_COMPACT_BELOW, self.font())

    @property
    def _has_tray(self) -> bool:
        tags = bool(self.session.selection.pinned) and self.height() >= grown(
            _NO_TRAY_BELOW, self.font()
        )
        return tags or not self._compact

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        before, now = event.oldSize().height(), event.size().height()
        bounds = [grown(bound, self.font()) for bound in (_COMPACT_BELOW, _NO_TRAY_BELOW)]
        if any((before < bound) != (now < bound) for bound in bounds):
            self._show_state()

    def _on_pointer(self) -> None:
        if self.isVisible():
            self._show_marks()

    def _show_marks(self) -> None:
        """Cross hair, pins, the card beside the cell in focus and the tags below the map."""
        session, found, axes = self.session, self._maps.found, self._axes
        if found is None or axes is None or self._maps.running:
            self.readout.hide()  # no number on a picture that is not there yet
            return
        selection = session.selection
        self._moving &= bool(selection.pinned)  # till all are released
        row, column = axes.cell(*session.focus)
        pins = tuple(axes.cell(*pin) for pin in selection.pinned)
        marks = Marks((row, column), pins)
        self.canvas.set_marks(marks)
        groups, values, reading = self._maps.groups, [], None
        if row is not None and column is not None:
            reading = read_cell(found, self._read, axes, row, column)
            if len(groups) > 1:
                values = [read_cell(found, heads, axes, row, column).value for heads in groups]
        primary = (selection.primary,)
        self.grid.set_marks(marks, values, groups.index(primary) if primary in groups else None)
        self._show_card(reading, row, column)
        self.tray.show_pins([read_pin(found, self._read, axes, pin) for pin in selection.pinned])
        for view in (self.canvas, self.grid):
            announce(view, describe_map(session, found))

    def _show_card(self, reading: Reading | None, row: int | None, column: int | None) -> None:
        """Only of a cell that is looked for now: a pinned one has its tag, and the card would cover
        what is beside it."""
        looking = self.session.is_pointing or self._moving
        several = len(self._maps.groups) > 1
        if reading is None or row is None or column is None or several or not looking:
            self.readout.hide()
            return
        cell = self.canvas.cell_rect(row, column)
        if self.canvas.matrix_rect().contains(cell.center()):
            self.readout.show_reading(reading, cell.toRect())
        else:
            self.readout.hide()

    # From the user

    def _on_hover(self, row: int | None, column: int | None) -> None:
        self._moving = False
        if self._axes is not None:
            self.session.set_hover(*self._axes.tokens(row, column))

    def _on_click(self, row: int | None, column: int | None, beside: bool) -> None:
        """Pin the cell, row or column, in place of the others or beside them; clicking the one
        that is pinned releases it."""
        axes, session = self._axes, self.session
        if axes is None or (row is None and column is None):
            return
        pinned = session.selection.pinned
        there = [pin for pin in pinned if axes.cell(*pin) == (row, column)]
        if there and (beside or len(pinned) == 1):
            session.unpin(*there[0])
        else:
            session.pin(*axes.tokens(row, column), add=beside)

    def _on_map_click(self, index: int) -> None:
        """Make the head of a small map the current one, and keep the others selected."""
        selection = self.session.selection
        head = self._maps.groups[index][0]
        others = {(one.layer, one.head) for one in selection.heads if one != head}
        self.session.select(layer=head.layer, head=head.head, others=tuple(sorted(others)))

    def _on_released(self, query: int | None, key: int | None) -> None:
        self.session.set_hover(None, None)
        self.session.unpin(query, key)

    def focus_part(self) -> QWidget:
        return self._map_view

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self._moving = False
            self._show_marks()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, session = event.key(), self.session
        if key in _MOVES and self._axes is not None:
            beside = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self._move(self._axes, *_MOVES[Qt.Key(key)], beside=beside)
        elif key == Qt.Key.Key_Escape:
            session.release()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            session.unpin(session.selection.query, session.selection.key)
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home):
            self.canvas.fit()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.canvas.zoom(_ZOOM_STEP)
        elif key == Qt.Key.Key_Minus:
            self.canvas.zoom(1 / _ZOOM_STEP)
        else:
            super().keyPressEvent(event)

    def _move(self, axes: MapAxes, rows: int, columns: int, *, beside: bool) -> None:
        """Move the current pin, or leave it and pin another cell; from where the pointer is, else
        from the first cell."""
        session = self.session
        row, column = axes.cell(*session.focus)
        if row is None or column is None:
            row, column = row or 0, column or 0
        else:
            row = min(max(0, row + rows), len(axes.rows) - 1)
            column = min(max(0, column + columns), len(axes.columns) - 1)
        session.set_hover(None, None)
        cell = axes.tokens(row, column)
        if beside:
            session.pin(*cell, add=True)
        else:
            rest = tuple(pin for pin in session.selection.pins if pin != cell)
            session.select(query=cell[0], key=cell[1], pins=rest)
        self.canvas.reveal(row, column)
        self._moving = True
        self._show_marks()

    # For a file

    @property
    def has_picture(self) -> bool:
        return bool(self._maps.pictures)

    def export_name(self) -> str:
        return self.header.title.text()

    def export_size(self) -> QSize:
        size = self._map_view.size()
        return size + QSize(0, self._heading.height(size.width()))

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        """Paint title, notes and maps as they are shown, with pins, without what is for the
        mouse."""
        painter.save()
        painter.fillRect(rect, self.theme.color("paper"))
        painter.translate(rect.topLeft())
        self._heading.draw(painter, rect.width(), self.theme)
        painter.translate(0, self._heading.height(rect.width()))
        self._map_view.paint_onto(painter, EXPORT_RESOLUTION)
        painter.restore()

    @property
    def _map_view(self) -> MatrixCanvas | MatrixGrid:
        return self.grid if len(self._maps.groups) > 1 else self.canvas

    @property
    def _heading(self) -> Heading:
        return Heading(self.header.title.text(), self.header.said, self.font())
