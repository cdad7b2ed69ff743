"""Every command by its name: type a few letters of its words, Enter runs it."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from transformer_viz.drawing.theme import GRID
from transformer_viz.widgets.actions import Actions
from transformer_viz.widgets.style import set_role

WIDTH = 130 * GRID
HEIGHT = 100 * GRID
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_ACTION = Qt.ItemDataRole.UserRole


class Palette(QDialog):
    """Lists the commands, under the top edge of its window."""

    def __init__(
        self, actions: Actions, window: QWidget, more: Iterable[tuple[QAction, str, str]] = ()
    ) -> None:
        """List the commands of the menus, then `more` of them, each with its name and its keys."""
        super().__init__(window, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName("Commands")
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find a command…")
        self.field.setAccessibleName("Find a command")
        self.field.setMinimumHeight(8 * GRID)
        self.field.setTextMargins(GRID, 0, GRID, 0)
        self.field.installEventFilter(self)
        self.list = QTreeWidget()
        self.list.setAccessibleName("Commands found")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setFrameShape(QTreeWidget.Shape.NoFrame)
        self.list.setRootIsDecorated(False)
        self.list.setHeaderHidden(True)
        self.list.setColumnCount(2)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._items = []
        for action, name, keys in (*actions.listed(), *more):
            item = QTreeWidgetItem([name, keys])
            item.setData(0, _ACTION, action)
            self._items.append(item)
        self.list.addTopLevelItems(self._items)
        self.list.resizeColumnToContents(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        column.addWidget(self.field)
        column.addWidget(self.list)
        self.field.textChanged.connect(self._filter)
        self.field.returnPressed.connect(self._run)
        self.list.itemClicked.connect(self._run)
        self._filter("")
        set_role(self, "popup")
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)
        self.setFixedSize(WIDTH, HEIGHT)
        corner = window.mapToGlobal(window.rect().topLeft())
        self.move(corner.x() + (window.width() - WIDTH) // 2, corner.y() + 12 * GRID)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The field keeps the focus; the keys that move in a list go to the list."""
        moves = isinstance(event, QKeyEvent) and event.key() in _LIST_KEYS
        if moves and event.type() is QEvent.Type.KeyPress:
            self.list.event(event)
            return True
        return super().eventFilter(watched, event)

    def _filter(self, typed: str) -> None:
        """Show the commands that hold every word typed; choose the first."""
        words = typed.casefold().split()
        for item in self._items:
            name = item.text(0).casefold()
            item.setHidden(not all(word in name for word in words))
        first = next((item for item in self._items if not item.isHidden()), None)
        if first is not None:
            self.list.setCurrentItem(first)
        else:
            self.list.setCurrentIndex(QModelIndex())

    def _run(self) -> None:
        item = self.list.currentItem()
        self.close()
        if item is not None:
            item.data(0, _ACTION).trigger()
