"""Menus whose entries come from outside: models, recent files, samples and history."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from core.bundled import bundled_models
from core.files import is_there
from transformer_viz.shell.controller import Controller
from transformer_viz.state.bundled import MinimalPair, samples
from transformer_viz.widgets.actions import Actions, literal

LONGEST_ENTRY = 90  # characters


class DocumentMenus:
    """Fills the menus of the controller's files and texts each time they are opened."""

    def __init__(
        self, actions: Actions, controller: Controller, open_file: Callable[[Path], object]
    ) -> None:
        self._actions = actions
        self._controller = controller
        self._open = open_file

    def fill_models(self, menu: QMenu) -> None:
        """List everything that can be shown: bundled models, recent files, Open."""

        def fill() -> None:
            menu.clear()
            self._add_bundled(menu)
            menu.addSeparator()
            self._add_recent(menu)
            menu.addSeparator()
            menu.addAction(self._actions["open"])
            menu.addAction(self._actions["get_model"])
            menu.addAction(self._actions["open_folder"])

        _fill_when_opened(menu, fill)

    def fill_bundled(self, menu: QMenu) -> None:
        self._add_bundled(menu)

    def fill_recent(self, menu: QMenu) -> None:
        def fill() -> None:
            menu.clear()
            self._add_recent(menu)

        _fill_when_opened(menu, fill)

    def fill_samples(
        self,
        menu: QMenu,
        choose: Callable[[str], object],
        compare: Callable[[MinimalPair], object],
    ) -> None:
        for group in samples():
            _heading(menu, group.group)
            for sentence in group.sentences:
                self._entry(menu, sentence, partial(choose, sentence))
            for pair in group.pairs:
                self._entry(menu, f"Compare: {pair.label}", partial(compare, pair))

    def fill_history(self, menu: QMenu, choose: Callable[[str], object]) -> None:
        def fill() -> None:
            menu.clear()
            texts = self._controller.settings.history
            _entries_or_nothing(menu, texts, "No sentences yet")
            for text in texts:
                self._entry(menu, text, partial(choose, text))

        _fill_when_opened(menu, fill)

    def _add_bundled(self, menu: QMenu) -> None:
        models = bundled_models()
        _entries_or_nothing(menu, models, "No bundled models")
        for path in models:
            self._entry(menu, path.stem, partial(self._open, path))

    def _add_recent(self, menu: QMenu) -> None:
        files = self._controller.settings.recent_files
        _entries_or_nothing(menu, files, "No recent files")
        for name in files:
            path = Path(name)
            entry = self._entry(menu, name, partial(self._open, path))
            entry.setEnabled(is_there(path))

    def _entry(self, menu: QMenu, text: str, run: Callable[[], object]) -> QAction:
        line = " ".join(text.split())
        if len(line) > LONGEST_ENTRY:
            line = line[: LONGEST_ENTRY - 1] + "…"
        entry = menu.addAction(literal(line))
        entry.triggered.connect(lambda _checked: run())
        return entry


def _fill_when_opened(menu: QMenu, fill: Callable[[], None]) -> None:
    menu.aboutToShow.connect(fill)
    fill()


def _entries_or_nothing(menu: QMenu, entries: Sequence[object], nothing: str) -> None:
    if not entries:
        menu.addAction(nothing).setEnabled(False)


def _heading(menu: QMenu, text: str) -> None:
    if not menu.isEmpty():
        menu.addSeparator()
    menu.addAction(literal(text)).setEnabled(False)
