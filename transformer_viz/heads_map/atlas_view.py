"""The picture of the heads map: hover, selection and the rows that are linked, over the atlas."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from core.counted import counted
from core.statistics.registry import OF_MAPS, Statistic
from core.trace.trace import Head
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.gate_marks import draw_gate
from transformer_viz.drawing.matrix import Style
from transformer_viz.drawing.scale_strip import draw_scale_strip, scale_strip_width
from transformer_viz.drawing.scales import Legend, legend
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.quantities import Quantities
from transformer_viz.heads_map.atlas import Atlas, row_outlines
from transformer_viz.heads_map.atlas_layout import AtlasLayout
from transformer_viz.heads_map.head_arrangement import HeadArrangement
from transformer_viz.heads_map.head_keys import neighbour
from transformer_viz.heads_map.head_tiles import HeadTiles
from transformer_viz.heads_map.measured_heads import MeasuredHeads
from transformer_viz.state import head_choice
from transformer_viz.state.options import ColorMap, Quantity, Scale
from transformer_viz.state.session import Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.picture_area import PictureArea
from transformer_viz.widgets.spotlight import Spotlight
from transformer_viz.widgets.style import set_role
from transformer_viz.words.gate_wording import gate_state
from transformer_viz.words.measures import measure, number_in_words, ranking
from transformer_viz.words.wording import head_name

EXPORT_RATIO = 4.0
"""Pixels of the exported tiles per logical pixel, whatever the device."""

_HOW = "Ctrl+click adds or removes the head, Shift+click selects a range"
_NOTES = ("rows: layers · columns: heads", "layers × heads")
_LEGENDS = {  # thumbnails are always drawn on these scales
    Quantity.WEIGHT: legend(Scale.ABSOLUTE, None),
    Quantity.NORM: Legend(("norm", "0 – largest of its kind"), ((1, "largest"), (0, "0"))),
}
_SCALE_HEIGHT, _SCALE_MARGIN = 8 * GRID, 3 * GRID
_UNLIMITED = 1 << 16
_CONTROL, _SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
_RESTING = 0.3  # opacity of the rows linked with a pinned token while nothing is pointed at


class AtlasView(PictureArea):
    """The heads map. Click selects a head, a layer's number all of the layer, a title all of the
    kind; Ctrl adds and removes, Shift extends. Arrows move from head to head, also into the next
    kind; with Ctrl they move the frame alone, and Space adds or removes the head inside it. A right
    click, or the menu key, asks for a menu on the selected heads."""

    menuWanted = Signal(QPoint)  # where, on the screen

    def __init__(
        self,
        session: Session,
        quantities: Quantities,
        measured: MeasuredHeads,
        spotlight: Spotlight,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._tiles = HeadTiles(quantities, self)
        self._measured = measured
        self._spotlight = spotlight
        self._color_map = ColorMap.PAPER
        self._arrangement = HeadArrangement(session, measured)
        self._atlas: Atlas | None = None  # drawn when next painted
        self._hovered: tuple[Head, ...] = ()  # what a click would select
        self._cursor: Head | None = None  # where the keys are
        self._export_room = QSize(0, 0)

        self.setAccessibleName("Heads map")
        set_role(self, "paper")
        self._tiles.changed.connect(self._redraw)
        self._tiles.arrived.connect(self._draw_tile)
        session.traceChanged.connect(self._on_trace)
        session.selectionChanged.connect(self._on_selection)
        session.optionsChanged.connect(self._arrange)
        session.gatesChanged.connect(self._on_gates)
        measured.changed.connect(self._on_measured)
        spotlight.changed.connect(self.viewport().update)
        session.pointedChanged.connect(lambda _place: self.viewport().update())
        self._on_trace()

    def sizeHint(self) -> QSize:
        return QSize(73 * GRID, 150 * GRID)

    def apply_theme(self, theme: Theme) -> None:
        super().apply_theme(theme)
        self._redraw()

    def set_color_map(self, color_map: ColorMap | str) -> None:
        if color_map != self._color_map:
            self._color_map = ColorMap(color_map)
            self._redraw()

    # From the session

    def _on_trace(self) -> None:
        self._hovered = ()
        self._arrange()
        self._on_selection()

    def _draw_tile(self, head: Head) -> None:
        if self._atlas is not None:
            self._atlas.draw({head: self._tiles.codes[head]})
            self.viewport().update(self._layout.rect(head).translated(-self.offset()))

    def _on_selection(self) -> None:
        self._move_cursor(None if self._session.trace is None else self._session.selection.primary)

    def _on_gates(self) -> None:
        announce(self, self._description(self._cursor))
        self.viewport().update()

    def _on_measured(self) -> None:
        if not self._arrangement.final and self._measured.known(self._layout) is not None:
            self._arrange()

    def _move_cursor(self, head: Head | None) -> None:
        self._cursor = head
        if head is not None:
            self._reveal(head)
        announce(self, self._description(head))
        self.viewport().update()

    def _description(self, head: Head | None) -> str:
        if head is None:
            return "Nothing to show yet"
        selected = self._session.selection.heads
        gate = gate_state(self._session.shown_gates, head)
        name = f"{head_name(head)}, {gate}" if gate else head_name(head)
        if selected == (head,):
            return name
        state = "selected" if head in selected else "not selected"
        return f"{name}, {state}; {counted(len(selected), 'head')} selected"

    # Geometry

    @property
    def _layout(self) -> AtlasLayout:
        return self._arrangement.layout

    def _arrange(self) -> None:
        """Fit the layout to the trace, the order and the size of the widget."""
        if self._export_room.width():
            width, height = self._export_room.width(), self._export_room.height() or _UNLIMITED
            room = QSize(width, height - _SCALE_HEIGHT)
            self._arrangement.fit(room, self.font(), figure=True)
        else:
            width = self.width() - self.verticalScrollBar().sizeHint().width()
            self._arrangement.fit(QSize(width, self.height()), self.font())
        visible, layout = self.viewport().size(), self._layout
        for bar, content, page, step in (
            (self.horizontalScrollBar(), layout.width, visible.width(), layout.pitch),
            (self.verticalScrollBar(), layout.height, visible.height(), layout.row_pitch),
        ):
            bar.setRange(0, max(0, content - page) if self._session.trace is not None else 0)
            bar.setPageStep(page)
            bar.setSingleStep(step)
        self._redraw()

    def _reveal(self, head: Head) -> None:
        """Scroll until the tile is inside, with the number or title beside it."""
        tile, view = self._layout.rect(head), QRect(self.offset(), self.viewport().size())
        before, after = 12 * GRID, 3 * GRID
        for bar, low, high, start, end in (
            (self.horizontalScrollBar(), tile.left(), tile.right(), view.left(), view.right()),
            (self.verticalScrollBar(), tile.top(), tile.bottom(), view.top(), view.bottom()),
        ):
            if low - before < start:
                bar.setValue(low - before)
            elif high + after > end:
                bar.setValue(start + high + after - end)

    # Painting

    def _redraw(self) -> None:
        self._atlas = None
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), self.theme.color("paper"))
            if self._session.trace is None:
                self._paint_empty(painter)
                return
            if self._atlas is None:
                self._atlas = self._draw_atlas(self.devicePixelRatioF())
            painter.translate(-self.offset())
            painter.drawImage(0, 0, self._atlas.image)
            self._paint_linked_rows(painter)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_gates(painter)
            self._paint_frames(painter)

    def _paint_empty(self, painter: QPainter) -> None:
        painter.setPen(self.theme.color("faint"))
        area = self.viewport().rect().adjusted(4 * GRID, 4 * GRID, -4 * GRID, -4 * GRID)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(area, flags, "Every head of every layer appears here.")

    def _paint_linked_rows(self, painter: QPainter) -> None:
        """An outline around each row that the spotlight links, in every tile; faint at rest."""
        trace, linked = self._session.trace, self._spotlight.linked
        if trace is None or linked is None:
            return
        painter.setOpacity(1.0 if self._session.is_pointing else _RESTING)
        ratio = self.devicePixelRatioF()
        for section in self._layout.sections:
            rows, queries = linked.rows(section.kind), len(trace.query_tokens(section.kind))
            outlines = row_outlines(rows, queries, self._layout.tile, ratio, self.theme)
            for head in section.heads:
                painter.drawImage(self._layout.rect(head).topLeft() - QPoint(1, 1), outlines)
        painter.setOpacity(1.0)

    def _paint_gates(self, painter: QPainter) -> None:
        for head, factor in self._session.shown_gates.items():
            if head in self._layout:
                draw_gate(painter, QRectF(self._layout.rect(head)), factor, self.theme, self.font())

    def _paint_frames(self, painter: QPainter) -> None:
        selection, accent = self._session.selection, self.theme.color("accent")
        for head in self._hovered:
            self._frame(painter, head, QPen(self.theme.color("soft"), 1))
        for head in selection.heads:
            if head in self._layout:  # of the tiles, which may be those of the trace before
                self._frame(painter, head, QPen(accent, 3 if head == selection.primary else 1.5))
        if self.hasFocus() and self._cursor is not None:
            self._frame(painter, self._cursor, QPen(accent, 1), distance=3)

    def _frame(self, painter: QPainter, head: Head, pen: QPen, *, distance: int = 0) -> None:
        """Around the tile, never over its cells."""
        margin = pen.widthF() / 2 + distance
        painter.setPen(pen)
        rect = QRectF(self._layout.rect(head)).adjusted(-margin, -margin, margin, margin)
        painter.drawRoundedRect(rect, 2, 2)

    def _draw_atlas(self, ratio: float) -> Atlas:
        by = measure(self._session.options.order)
        atlas = Atlas(
            self._layout,
            self.theme,
            lookup_table(self._color_map, self.theme),
            ratio,
            self.font(),
            notes=self._notes(by),
            captions=self._arrangement.captions,
        )
        atlas.draw({head: each for head, each in self._tiles.codes.items() if head in self._layout})
        return atlas

    def _notes(self, by: Statistic | None) -> tuple[str, ...]:
        """What the arrangement is; and, where that could be in doubt, what the tiles are."""
        notes = _NOTES if by is None else (f"layer.head · {ranking(by)}", ranking(by), by.name)
        if self._session.options.quantity is Quantity.WEIGHT:
            return notes
        shown = f"{self._shown.noun}s"
        return (*(f"{shown} · {note}" for note in notes), shown)

    @property
    def _shown(self) -> Quantity:
        """What the tiles are of."""
        found = self._tiles.found
        return Quantity.WEIGHT if found is None else found.quantity

    # For a file

    def set_export_room(self, room: QSize) -> None:
        """Arrange the exported map for a room, as `StageView.set_export_room` does."""
        self._export_room = room
        self._arrange()

    def export_size(self) -> QSize:
        """The whole map, in logical pixels, however far it is scrolled, and its colour bar."""
        strip = scale_strip_width(_LEGENDS[self._shown], self.font())
        width = math.ceil(strip) + 2 * _SCALE_MARGIN
        return QSize(max(self._layout.width, width), self._layout.height + _SCALE_HEIGHT)

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        """Paint the whole map, without the selection, on any device."""
        painter.fillRect(rect, self.theme.color("paper"))
        painter.save()
        painter.translate(rect.topLeft())
        self._draw_atlas(EXPORT_RATIO).paint(painter)
        self._paint_gates(painter)
        foot = QRectF(_SCALE_MARGIN, self._layout.height, rect.width(), _SCALE_HEIGHT)
        style = Style(self.theme, lookup_table(self._color_map, self.theme), self.font())
        draw_scale_strip(painter, foot, style, _LEGENDS[self._shown])
        painter.restore()

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def hover(self, point: QPoint | None) -> None:
        heads = () if point is None else self._layout.heads_at(point.x(), point.y())
        if heads != self._hovered:
            self._hovered = heads
            self.viewport().update()

    def press(self, point: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        heads = self._layout.heads_at(point.x(), point.y())
        if heads:
            self._choose(heads, modifiers)

    def explanation(self, point: QPoint) -> str:
        heads = self._layout.heads_at(point.x(), point.y())
        if len(heads) > 1:
            return f"Click selects these {len(heads)} heads, Ctrl+click adds or removes them"
        if heads:
            return self._statistics(heads[0])
        gap = next((head for head, rect in self._layout.gaps.items() if rect.contains(point)), None)
        return f"{head_name(gap)} was pruned from this model" if gap else ""

    def _statistics(self, head: Head) -> str:
        trace = self._session.trace
        known = self._measured.want([head])
        if trace is None or known is None:
            return f"{head_name(head)}\nmeasuring…"
        lines = [f"{one.name}: {number_in_words(one, known[head], trace, head)}" for one in OF_MAPS]
        gate = gate_state(self._session.shown_gates, head)
        if gate:
            lines.insert(0, f"output {gate}")
        return "\n".join([head_name(head), *lines, _HOW])

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for a menu on the selected heads; the one that was clicked becomes them, unless it is
        among them."""
        place = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Mouse:
            point = event.pos() + self.offset()
            heads = self._layout.heads_at(point.x(), point.y())
            if not set(heads) <= set(self._session.selection.heads):
                self._choose(heads, Qt.KeyboardModifier.NoModifier)
        elif self._cursor is not None:
            corner = self._layout.rect(self._cursor).bottomLeft() - self.offset()
            place = self.viewport().mapToGlobal(corner)
        if self._session.trace is not None:
            self.menuWanted.emit(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        cursor, key, modifiers = self._cursor, event.key(), event.modifiers()
        if cursor is None:
            event.ignore()
        elif key == Qt.Key.Key_Space:
            self._choose([cursor], _CONTROL)
        elif key == Qt.Key.Key_A and modifiers == _CONTROL:
            section = next(s for s in self._layout.sections if s.kind is cursor.kind)
            self._choose(section.heads, Qt.KeyboardModifier.NoModifier)
        elif (target := neighbour(self._layout, cursor, event)) is None:
            event.ignore()  # not ours: the window's shortcuts
        elif modifiers & _CONTROL and key not in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._move_cursor(target)
        else:
            self._choose([target], modifiers & _SHIFT)

    def _choose(self, heads: Sequence[Head], modifiers: Qt.KeyboardModifier) -> None:
        """Select heads as a click with these modifiers does; the keys go on from the last."""
        selection = self._session.selection
        if modifiers & _CONTROL:
            changes = head_choice.toggled(heads, selection)
        elif modifiers & _SHIFT:
            changes = head_choice.extended(list(self._layout), heads[-1], selection)
        else:
            changes = head_choice.only(heads, selection)
        self._session.select(**changes)
        if len(heads) == 1:
            self._move_cursor(heads[0])
