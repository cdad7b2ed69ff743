"""Layers × heads, coloured by one statistic or by the score of one role."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QToolTip

from core.trace.trace import Head
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.numbers import compact, signed
from transformer_viz.drawing.scales import Legend
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.heads.head_grid import LEAST, GridLayout, HeadGrid, draw_head_grid
from transformer_viz.heads.report import Report
from transformer_viz.heads.wording import column, judgement, role_name, roles_in_words, sort_name
from transformer_viz.state.options import ColorMap
from transformer_viz.state.session import Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.picture import Picture
from transformer_viz.words.wording import head_name, plain_tooltip

_STEPS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
_PAGES = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


ROLE = "role:"


class HeadMap(Picture):
    """Draws layers × heads; a click or the arrow keys select a head in the session."""

    evidenceWanted = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__("Heads by layer")
        self._session = session
        self._report: Report | None = None
        self._shown = ""  # a statistic or a role
        self._grid: HeadGrid | None = None
        self._color_map = ColorMap.PAPER
        self._table = np.zeros((256, 4), np.uint8)
        session.selectionChanged.connect(self._on_selection)

    def show_report(self, report: Report, shown: str) -> None:
        """Show a report; `shown` is the id of a statistic, or `ROLE` and a sort of role in it."""
        self._report, self._shown = report, shown
        self._grid = head_grid(report, shown)
        self.updateGeometry()
        self._on_selection()

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._table = lookup_table(self._color_map, theme)
        self.update()

    def set_color_map(self, color_map: ColorMap) -> None:
        self._color_map = color_map
        self.apply_theme(self.theme)

    def layout_now(self) -> GridLayout:
        kinds = () if self._grid is None else self._grid.kinds
        return GridLayout(kinds, self.width(), self.height(), self.font())

    def minimumSizeHint(self) -> QSize:
        kinds = () if self._grid is None else self._grid.kinds
        layout = GridLayout(kinds, 0, 0, self.font())
        return QSize(60 * GRID, round(layout.bottom) + LEAST // 2)

    def frame(self) -> QRectF | None:
        if self._grid is None:
            return None
        return QRectF(self.rect()).adjusted(0.5, 0.5, -1.5, -1.5)

    def paint(self, painter: QPainter) -> None:
        if self._grid is not None:
            draw_head_grid(
                painter,
                QRectF(self.rect()),
                self._grid,
                self.layout_now(),
                self._table,
                self.theme,
                self.font(),
                self._session.selection.heads,
            )

    def _on_selection(self) -> None:
        self.update()
        announce(self, self._describe(self._session.selection.primary))

    def _describe(self, head: Head) -> str:
        """A head with the number shown and the roles that it has."""
        measured = None if self._report is None else self._report.heads.get(head)
        if measured is None:
            return head_name(head)
        role = measured.role(sort_shown(self._shown))
        if role is not None:
            said = f"{role_name(role).short}. {judgement(role)}"
        elif self._shown in measured.statistics:
            about = column(self._shown)
            said = f"{about.name} {signed(measured.statistics[self._shown], about.digits)}"
        else:
            said = "has no such number"
        roles = roles_in_words(measured)
        return "\n".join([f"{head_name(head)}: {said}", *([f"Roles: {roles}"] if roles else [])])

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        head = self.layout_now().head_at(event.position())
        if head is not None and event.button() == Qt.MouseButton.LeftButton:
            self._session.select(kind=head.kind, layer=head.layer, head=head.head)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            head = self.layout_now().head_at(event.pos().toPointF())
            text = "" if head is None else plain_tooltip(self._describe(head))
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.evidenceWanted.emit()
            return
        head = self._neighbour(self._session.selection.primary, event)
        if head is None:
            event.ignore()
        else:
            self._session.select(kind=head.kind, layer=head.layer, head=head.head)

    def _neighbour(self, head: Head, event: QKeyEvent) -> Head | None:
        """Arrows lead through a kind and from one to the next, page keys to another kind."""
        if self._grid is None or Qt.Key(event.key()) not in (*_STEPS, *_PAGES):
            return None
        kinds = [heads[0].kind for heads in self._grid.kinds]
        known = self._grid.levels
        if head not in known:
            return next(iter(known), None)
        kind = kinds.index(head.kind)
        if event.key() in _PAGES:
            kind = max(0, min(kind + _PAGES[Qt.Key(event.key())], len(kinds) - 1))
            return _nearest(self._grid.kinds[kind], head.layer, head.head)
        down, right = _STEPS[Qt.Key(event.key())]
        there = Head(head.kind, head.layer + down, head.head + right)
        if there in known:
            return there
        beyond = kind + right
        if right and 0 <= beyond < len(kinds):
            return _nearest(self._grid.kinds[beyond], head.layer, 0 if right > 0 else 10**6)
        return head


def _nearest(heads: tuple[Head, ...], layer: int, head: int) -> Head:
    return min(heads, key=lambda one: (abs(one.layer - layer), abs(one.head - head)))


def sort_shown(shown: str) -> str:
    """Return the sort of role that is shown, or an empty string where a statistic is: the two may
    have the same name."""
    return shown.removeprefix(ROLE) if shown.startswith(ROLE) else ""


def head_grid(report: Report, shown: str) -> HeadGrid:
    """Return the grid of one statistic, or of one sort of role: its score, and a corner where it is
    passed."""
    values: dict[Head, float | None] = {}
    marked = set()
    sort = sort_shown(shown)
    is_role = bool(sort)
    for each in report:
        role = each.role(sort)
        values[each.head] = role.score if role is not None else each.statistics.get(shown)
        if role is not None and role.passed:
            marked.add(each.head)
    share, digits = is_role or column(shown).is_share, 2 if is_role else column(shown).digits
    largest = 1.0 if share else _largest(values)
    return HeadGrid(
        levels={head: None if v is None else v / largest for head, v in values.items()},
        texts={head: "" if v is None else signed(v, digits) for head, v in values.items()},
        marked=frozenset(marked),
        legend=_legend(shown, sort, largest),
    )


def _legend(shown: str, sort: str, largest: float) -> Legend:
    name = sort_name(sort).short if sort else column(shown).name
    share = bool(sort) or column(shown).is_share
    ticks = ((1.0, compact(largest)), (0.5, compact(largest / 2)), (0.0, "0"))
    scale = "absolute 0–1" if share else "0 – largest"
    return Legend((*name.split(", "), scale, *(("◥ passes the role",) if sort else ())), ticks)


def _largest(values: Mapping[Head, float | None]) -> float:
    return max((abs(value) for value in values.values() if value is not None), default=1.0) or 1.0
