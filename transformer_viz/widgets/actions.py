"""Every command of the window, once: menus, shortcuts and the cheat sheet all read this."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

Shortcut = str | QKeySequence.StandardKey


class Actions(QObject):
    """Named actions in named menus, in the order in which they were added."""

    def __init__(self, window: QWidget) -> None:
        """Make actions whose shortcuts work anywhere in `window`."""
        super().__init__(window)
        self._window = window
        self._actions: dict[str, QAction] = {}
        self._menus: dict[str, QMenu] = {}
        self._submenus: dict[tuple[str, str], QMenu] = {}

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def __iter__(self) -> Iterator[QAction]:
        return iter(self._actions.values())

    def menu(self, title: str, submenu: str | None = None) -> QMenu:
        """The menu of this title (with its mnemonic), or one in it; made when first asked for."""
        if title not in self._menus:
            self._menus[title] = QMenu(title, self._window)
        if submenu is None:
            return self._menus[title]
        if (title, submenu) not in self._submenus:
            self._submenus[title, submenu] = self._menus[title].addMenu(submenu)
        return self._submenus[title, submenu]

    def add(
        self,
        name: str,
        menu: QMenu,
        text: str,
        run: Callable[[], object],
        *shortcuts: Shortcut,
        group: QActionGroup | None = None,
    ) -> QAction:
        """Add a command; `text` holds the mnemonic, `group` makes it one of several choices."""
        action = QAction(text, self._window)
        action.setObjectName(name)
        action.setShortcuts([QKeySequence(shortcut) for shortcut in shortcuts])
        if group is not None:
            action.setCheckable(True)
            group.addAction(action)
        action.triggered.connect(lambda _checked: run())
        self._actions[name] = action
        menu.addAction(action)
        self._window.addAction(action)
        return action

    def fill(self, bar: QMenuBar) -> None:
        for menu in self._menus.values():
            bar.addMenu(menu)

    def listed(self) -> Iterator[tuple[QAction, str, str]]:
        """Return (command, "menu · command", keys) of every command, in the order of the menus."""
        for title, menu in self._menus.items():
            yield from self._listed(plain(title), menu)

    def _listed(self, path: str, menu: QMenu) -> Iterator[tuple[QAction, str, str]]:
        for action in menu.actions():
            name = f"{path} · {plain(action.text())}"
            submenu = action.menu()
            if action.objectName() in self._actions:
                keys = QKeySequence.listToString(
                    action.shortcuts(), QKeySequence.SequenceFormat.NativeText
                )
                yield action, name, keys
            elif isinstance(submenu, QMenu):
                yield from self._listed(name, submenu)


def plain(text: str) -> str:
    """The text of an action without its mnemonic mark."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def literal(text: str) -> str:
    """Return text for a menu in which no character is a mnemonic mark."""
    return text.replace("&", "&&")
