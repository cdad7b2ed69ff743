"""Cells of plain text that goes on in further lines, with words that are marked."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from transformer_viz.drawing.theme import GRID, LIGHT, Theme

CHANGED = Qt.ItemDataRole.UserRole
"""Role of the marked spans: [start, end) characters of the text."""

_ACROSS, _UP = GRID, GRID + 2


class MarkedTexts(QStyledItemDelegate):
    """A mark is a ground and a line below, so that it needs no colour to be seen."""

    def __init__(self, view: QTableView) -> None:
        super().__init__(view)
        self._view = view
        self.theme: Theme = LIGHT

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        width = self._view.columnWidth(index.column())
        layout = self._layout(index, option.font, width - 2 * _ACROSS)
        return QSize(width, round(layout.boundingRect().height()) + 2 * _UP)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        theme, rect = self.theme, QRectF(option.rect)
        state = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("hover"))
        painter.setPen(theme.color("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if state & QStyle.StateFlag.State_Selected and self._view.hasFocus():
            painter.fillRect(
                QRectF(rect.topLeft(), rect.bottomLeft()).adjusted(0, 0, 2, 0),
                theme.color("accent" if index.column() == 0 else "hover"),
            )
        painter.setPen(theme.color("ink"))
        layout = self._layout(index, option.font, option.rect.width() - 2 * _ACROSS)
        painter.setClipRect(rect)
        layout.draw(painter, QPointF(rect.left() + _ACROSS, rect.top() + _UP))
        painter.restore()

    def _layout(
        self, index: QModelIndex | QPersistentModelIndex, font: QFont, width: float
    ) -> QTextLayout:
        text = str(index.data(Qt.ItemDataRole.DisplayRole)).replace("\n", "\u2028")
        layout = QTextLayout(text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats([self._mark(*span) for span in index.data(CHANGED) or ()])
        layout.beginLayout()
        height = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(width, 1))
            line.setPosition(QPointF(0, height))
            height += line.height()
        layout.endLayout()
        return layout

    def _mark(self, start: int, end: int) -> QTextLayout.FormatRange:
        mark = QTextLayout.FormatRange()
        mark.start, mark.length = start, end - start
        form = QTextCharFormat()
        form.setBackground(self.theme.color("accent_soft"))
        form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        form.setUnderlineColor(self.theme.color("accent"))
        mark.format = form
        return mark
