"""What a class needs to see: larger text, side panels that hide, one view on the whole screen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDockWidget, QLabel, QWidget

from transformer_viz.drawing.theme import GRID, grown
from transformer_viz.shell.controller import Controller
from transformer_viz.state.settings import Settings
from transformer_viz.widgets.actions import Actions
from transformer_viz.widgets.focus import hide_panel
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_size import SIZES, next_size, set_text_size, text_size

if TYPE_CHECKING:
    from transformer_viz.shell.window import Window

ALONE = "Esc leaves the full screen. Alt+1 to Alt+0 change the view."
MORE_ROOM = "F9 and F10 hide the side panels; Shift+F11 shows the current view in full screen."
_IN_POINTS = 54  # the height of a screen in points of text that the last row of a class can read
_PROJECTED = (18, SIZES[-1])  # pt
_SHOWN_FOR = 4_000  # ms
_RESIZED = 300  # ms
_STAGE = 90 * GRID  # the width that a view needs at the usual text size
_GIVES_WAY = {"inspector": "Inspector hidden; F10 shows", "heads_map": "Heads map hidden; F9 shows"}


class Presentation(QObject):
    """Keeps text size and hidden panels in the settings; a view alone ends with the session."""

    def __init__(self, window: Window, controller: Controller) -> None:
        super().__init__(window)
        self._window = window
        self._controller = controller
        self._hidden: list[QWidget] = []  # what the single view has put away
        self._before = Qt.WindowState.WindowNoState
        self._note: QLabel | None = None
        self._panels: dict[str, QAction] = {}
        self._gave_way: list[str] = []  # panels hidden to make room for a view
        self._widths: dict[str, int] = {}  # of hidden panels, when they were last seen
        self._alone: QAction
        self._large = False
        self._before_large = Qt.WindowState.WindowNoState

    @property
    def alone(self) -> bool:
        """Whether one view has the screen to itself."""
        return bool(self._hidden)

    def add_to(self, actions: Actions) -> None:
        menu = actions.menu("&View", "Te&xt size")
        larger, smaller = partial(self._step, 1), partial(self._step, -1)
        actions.add("text_larger", menu, "&Larger", larger, "Ctrl++", "Ctrl+=", "Ctrl+Shift+=")
        actions.add("text_smaller", menu, "&Smaller", smaller, "Ctrl+-")
        actions.add("text_usual", menu, "&System default", self._reset, "Ctrl+0")
        menu = actions.menu("&View")
        for name, text, key in (
            ("heads_map", "Hea&ds map", "F9"),
            ("inspector", "&Inspector", "F10"),
        ):
            action = actions.add(f"show_{name}", menu, text, partial(self._switch, name), key)
            action.setCheckable(True)
            self._panels[name] = action
        text = "Current &view in full screen"
        self._alone = actions.add("view_alone", menu, text, self.switch_alone, "Shift+F11")
        self._alone.setCheckable(True)

    def show_settings(self, settings: Settings) -> None:
        """Follow what the user has set."""
        size = max(settings.text_size, self._projected()) if self._large else settings.text_size
        if set_text_size(size):
            self._window.apply_theme()  # every view paints itself anew
        for name, action in self._panels.items():
            shown = name not in settings.hidden_panels
            action.setChecked(shown)
            panel = self._panel(name)
            if self.alone:
                continue
            if shown:
                panel.show()
            elif not panel.isHidden():
                self._widths[name] = panel.width()
                hide_panel(panel, self._window.stage)

    def column_widths(self) -> tuple[int, ...]:
        """The widths of the three columns with both side panels shown."""
        columns = self._window.columns
        widths = columns.sizes()
        stage = columns.indexOf(self._window.stage)
        for name, width in self._widths.items():
            column = columns.indexOf(self._panel(name))
            if not widths[column]:
                widths[column] = width
                widths[stage] = max(0, widths[stage] - width)
        return tuple(widths)

    def switch_alone(self) -> None:
        """Give the whole screen to the view that is shown, or end that."""
        if self.alone:
            self.end_alone()
        else:
            self._begin_alone()

    def end_alone(self) -> None:
        """Bring everything else back."""
        hidden, self._hidden = self._hidden, []
        for widget in hidden:
            widget.show()
        self._window.setWindowState(self._before)
        self._alone.setChecked(False)
        self.show_settings(self._controller.settings)  # a panel may have been hidden meanwhile
        self._end_note()

    def show_large(self, on: bool) -> None:
        """Fill the screen with large text and without bars, as for a class, or end that; the size
        that the user has set stays in the settings."""
        window = self._window
        self._large = on
        if on:
            self._before_large = window.windowState()
        for bar in (window.menuBar(), window.statusBar(), window.model_bar, window.doubt_line):
            bar.setVisible(not on)
        full = self._before_large | Qt.WindowState.WindowFullScreen
        window.setWindowState(full if on else self._before_large)
        self.show_settings(self._controller.settings)
        self.fit()
        QTimer.singleShot(_RESIZED, self, self.fit)  # the desktop takes a moment for the new size

    def _projected(self) -> int:
        """The size of text, in points, that a class can read on this screen."""
        least, most = _PROJECTED
        return max(least, min(round(self._window.screen().size().height() / _IN_POINTS), most))

    def _begin_alone(self) -> None:
        window = self._window
        self._before = window.windowState()
        stage, columns = window.stage, window.columns
        central = window.centralWidget()
        assert central is not None, "a window has its centre from the start"
        around = central.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        self._hidden = [
            widget
            for widget in (
                *(widget for widget in around if widget is not columns),
                window.heads_map,
                window.inspector,
                *window.findChildren(QDockWidget),
                *(window.menuBar(), window.statusBar(), stage.tabs),
            )
            if widget is not stage and not widget.isHidden()
        ]
        for widget in self._hidden:
            widget.hide()
        window.setWindowState(self._before | Qt.WindowState.WindowFullScreen)
        stage.setFocus(Qt.FocusReason.OtherFocusReason)
        self._alone.setChecked(True)
        self._say_how_to_leave()

    def _say_how_to_leave(self) -> None:
        note = self._note = QLabel(ALONE, self._window.stage)
        note.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID)
        note.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        set_role(note, "note")
        note.adjustSize()
        note.move(4 * GRID, 4 * GRID)
        note.show()
        QTimer.singleShot(_SHOWN_FOR, note, self._end_note)

    def _end_note(self) -> None:
        note, self._note = self._note, None
        if note is not None:
            note.deleteLater()

    def _panel(self, name: str) -> QWidget:
        panel: QWidget = getattr(self._window, name)
        return panel

    def _switch(self, name: str) -> None:
        self._gave_way = [one for one in self._gave_way if one != name]
        hidden = set(self._controller.settings.hidden_panels) ^ {name}
        self._controller.change_settings(hidden_panels=tuple(sorted(hidden)))

    def _step(self, step: int) -> None:
        size = next_size(text_size(), step)
        self.fit(text_size=size)
        told = " ".join(f"{_GIVES_WAY[name]} it." for name in self._gave_way)
        self._window.say(f"Text size {size} pt. {told or MORE_ROOM}")

    def fit(self, **changes: object) -> None:
        """Change settings, such as the size of text; side panels that leave a view too little room
        give way, and come back when there is room."""
        hidden = set(self._controller.settings.hidden_panels) - set(self._gave_way)
        self._gave_way.clear()
        self._controller.change_settings(hidden_panels=tuple(sorted(hidden)), **changes)
        for name in _GIVES_WAY:
            QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
            enough = self._window.stage.width() >= grown(_STAGE, self._window.font())
            if self.alone or enough:
                break
            if name not in hidden:
                self._switch(name)
                self._gave_way.append(name)

    def _reset(self) -> None:
        self.fit(text_size=0)
