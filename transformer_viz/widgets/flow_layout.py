"""A row of widgets that goes on in the next line where it does not fit."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """A layout in lines: widgets keep their preferred size; hidden ones take no room."""

    def __init__(self, parent: QWidget, spacing: int, between_lines: int | None = None) -> None:
        """Make the layout; `between_lines` is the same spacing unless it is given."""
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._between_lines = spacing if between_lines is None else between_lines
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        """Return the size of all in one line."""
        sizes = [item.sizeHint() for item in self._items if not item.isEmpty()]
        gaps = self.spacing() * max(0, len(sizes) - 1)
        height = max((size.height() for size in sizes), default=0)
        return QSize(sum(size.width() for size in sizes) + gaps, height)

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        """The height that the lines take; places the widgets if `move`."""
        y = rect.top()
        for line in self._lines(rect.width()):
            height = max(item.sizeHint().height() for item in line)
            x = rect.left()
            for item in line:
                size = item.sizeHint().boundedTo(QSize(rect.width(), height))
                if move:
                    item.setGeometry(QRect(QPoint(x, y + (height - size.height()) // 2), size))
                x += size.width() + self.spacing()
            y += height + self._between_lines
        return max(0, y - rect.top() - self._between_lines)

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        end = 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint().width()
            if not lines or end + self.spacing() + size > width:
                lines.append([item])
                end = size
            else:
                lines[-1].append(item)
                end += self.spacing() + size
        return lines
