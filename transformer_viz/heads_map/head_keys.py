"""Which way the keys lead through the heads map."""

from collections.abc import Sequence
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from core.trace.trace import Head
from transformer_viz.heads_map.atlas_layout import AtlasLayout

T = TypeVar("T")

_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_ROW_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_KIND_STEPS = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


def neighbour(layout: AtlasLayout, head: Head, event: QKeyEvent) -> Head | None:
    """The head that a key leads to; None for keys that do not move.

    Arrows go on into the next row and kind, page keys to the same place in another kind, Home and
    End to the ends of the row, with Ctrl to those of the map.
    """
    key = Qt.Key(event.key())
    everything = list(layout)
    rows = [row for section in layout.sections for row in section.rows if row]
    row = next(row for row in rows if head in row)
    if key in _STEPS:
        return _next(everything, head, _STEPS[key])
    if key in _ROW_STEPS:
        return _in_column(layout, _next(rows, row, _ROW_STEPS[key]), head)
    if key in _KIND_STEPS:
        sections = layout.sections
        section = next(section for section in sections if section.kind is head.kind)
        there = [row for row in _next(sections, section, _KIND_STEPS[key]).rows if row]
        return _in_column(layout, _nearest(there, section.rows.index(row)), head)
    line = everything if event.modifiers() & Qt.KeyboardModifier.ControlModifier else row
    return {Qt.Key.Key_Home: line[0], Qt.Key.Key_End: line[-1]}.get(key)


def _in_column(layout: AtlasLayout, row: Sequence[Head], head: Head) -> Head:
    """The head of a row whose tile is the nearest to straight above or below this one's."""
    left = layout.rect(head).left()
    return min(row, key=lambda other: abs(layout.rect(other).left() - left))


def _next(items: Sequence[T], item: T, step: int) -> T:
    """The item `step` places on, or the first or last one."""
    return _nearest(items, max(0, items.index(item) + step))


def _nearest(items: Sequence[T], place: int) -> T:
    return items[min(place, len(items) - 1)]
