"""The pinned cells as tags with their weights, below the map."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from core.trace.trace import Head
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.theme import GRID
from transformer_viz.engine.quantities import Found
from transformer_viz.state.selection import Cell
from transformer_viz.widgets.flow_layout import FlowLayout
from transformer_viz.widgets.head_pictures import MapAxes
from transformer_viz.widgets.readout import read_cell
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_size import set_font, set_height
from transformer_viz.words.wording import plain_tooltip, predicted_token, token_name

_WIDEST = 50 * GRID
_MOST = 12  # tags, so that many pins leave room for the map
_LOOK = """
    #tag { background: palette(button); border: 1px solid palette(mid); border-radius: 4px; }
    QToolButton { border: 1px solid transparent; background: transparent; padding: 2px 4px; }
    QToolButton:checked { color: palette(highlight); }
    QToolButton:hover { background: palette(midlight); }
    QToolButton:focus { border-color: palette(highlight); }
"""
_HINT = "Click a cell to pin it, Ctrl+click to pin several; Esc releases all."
_KEYS = "Arrows move the current pin, Ctrl+arrows add a pin, Delete releases it."


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned cell, in tokens: what it is, in words, and its value."""

    cell: Cell
    name: str
    value: str


def read_pin(found: Found, heads: Sequence[Head], axes: MapAxes, cell: Cell) -> Pin:
    """A cell with the weight that one head, or the mean of several, has there; a row with what it
    predicts, or a column."""
    row, column = axes.cell(*cell)
    trace = found.trace
    if row is not None and column is not None:
        reading = read_cell(found, heads, axes, row, column)
        return Pin(cell, reading.title, reading.value)
    kind, (query, key) = heads[0].kind, cell
    if row is not None:
        predicted = predicted_token(trace, kind, axes.rows.spans[row][-1])
        ahead = "" if predicted is None else f", predicts {token_name(predicted)}"
        span, source = axes.rows.spans[row], found.source_shares(heads[0])
        value = ""
        if source is not None:
            value = f"{percent(float(source[span.start : span.stop].mean()))} source"
        return Pin(cell, f"row {token_name(axes.rows.tokens[row])}{ahead}", value)
    if column is not None:
        return Pin(cell, f"column {token_name(axes.columns.tokens[column])}", "")
    ends = ((trace.query_tokens(kind), query), (trace.key_tokens(kind), key))
    names = [token_name(tokens[index]) for tokens, index in ends if index is not None]
    return Pin(cell, " → ".join(names), "hidden")


class PinTray(QWidget):
    """The tags of the pins: hover finds the cell, a click makes it current, × releases it."""

    pointed = Signal(object, object)  # query, key: int | None
    chosen = Signal(object, object)
    released = Signal(object, object)

    def __init__(self, before: QWidget, parent: QWidget | None = None) -> None:
        """Make the tray; `before` is what Tab comes from, since a new tag would come after all of
        the window."""
        super().__init__(parent)
        self._before = before
        self.setAccessibleName("Pinned cells")
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumHeight(7 * GRID)
        self._pins: tuple[Pin, ...] = ()
        self.tags: list[_Tag] = []
        self._hint = QLabel(_HINT)
        self._hint.setTextFormat(Qt.TextFormat.PlainText)
        set_height(self._hint, 7 * GRID)
        self._hint.setToolTip(_KEYS)
        set_role(self._hint, "faint")
        self._row = FlowLayout(self, GRID)
        self._row.addWidget(self._hint)

    def show_pins(self, pins: Sequence[Pin]) -> None:
        """Show pins; the last of `pins` is the current one."""
        pins = tuple(pins)
        if pins == self._pins:
            return
        self._pins = pins
        focused = any(tag.isAncestorOf(self.focusWidget()) for tag in self.tags)
        for tag in self.tags:
            self._row.removeWidget(tag)
            tag.hide()
            tag.deleteLater()  # it may be what was just clicked
        self.tags = [_Tag(pin, self, current=pin is pins[-1]) for pin in pins[-_MOST:]]
        before = self._before
        for tag in self.tags:
            self._row.addWidget(tag)
            tag.show()
            for button in (tag.choose, tag.release):
                self.setTabOrder(before, button)
                before = button
        more = len(pins) - len(self.tags)
        self._hint.setText(f"{more} earlier pins and" if more else _HINT)
        self._hint.setVisible(more > 0 or not pins)
        if focused and self.tags:
            self.tags[-1].choose.setFocus()
        self.updateGeometry()


class _Tag(QFrame):
    def __init__(self, pin: Pin, tray: PinTray, *, current: bool) -> None:
        super().__init__(tray)
        self._pin, self._tray = pin, tray
        self.setObjectName("tag")
        self.setStyleSheet(_LOOK)
        set_height(self, 7 * GRID)
        self.choose = QToolButton()
        set_font(self.choose, 1.0, bold=current)
        metrics = self.choose.fontMetrics()
        elided = metrics.elidedText(pin.name, Qt.TextElideMode.ElideMiddle, _WIDEST)
        self.choose.setText(f"{elided}  {pin.value}".replace("&", "&&"))
        self.choose.setCheckable(True)
        self.choose.setChecked(current)
        self.choose.setAccessibleName(f"Pin {pin.name}, {pin.value}")
        self.choose.setToolTip(plain_tooltip(f"{pin.name}: {pin.value}"))
        self.choose.clicked.connect(lambda: tray.chosen.emit(*pin.cell))
        self.release = QToolButton()
        self.release.setText("×")
        self.release.setAccessibleName(f"Release the pin {pin.name}")
        self.release.setToolTip("Release this pin")
        self.release.clicked.connect(lambda: tray.released.emit(*pin.cell))
        row = QHBoxLayout(self)
        row.setContentsMargins(1, 1, 1, 1)
        row.setSpacing(0)
        row.addWidget(self.choose)
        row.addWidget(self.release)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._tray.pointed.emit(*self._pin.cell)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._tray.pointed.emit(None, None)
