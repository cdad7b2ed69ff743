"""The Heads panel in the window: its dock, its commands, and the way from it to the explorer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDockWidget, QFileDialog, QWidget

from core.analysis.head_csv import heads_csv
from core.errors import UserError
from core.files import atomic_write_text
from core.trace.trace import Head
from transformer_viz.actions import Actions
from transformer_viz.controller import Controller
from transformer_viz.heads.panel import MAP, RESOLVING, TABLE, HeadsPanel
from transformer_viz.heads.report import Evidence
from transformer_viz.heads.showing import EvidenceShowing
from transformer_viz.options import ColorMap
from transformer_viz.session import Session
from transformer_viz.theme import Theme
from transformer_viz.views.focus import hide_panel

if TYPE_CHECKING:
    from transformer_viz.window import Window

HEIGHT_SHARE = 0.38  # of the window's height, when the dock is shown
FOR_THE_EXPLORER = 480  # px of it that are left at least, for a map that can be read
LEAST_HEIGHT = 200  # px
MAPS = ("heatmap", "links", "scores")
"""The views that show the cell of a head."""


class HeadsCommands(QObject):
    """The commands of the Heads panel, whose dock is made on first use."""

    def __init__(self, window: Window, session: Session, controller: Controller) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._controller = controller
        self._showing = EvidenceShowing(session, controller, window.show_text, self)
        self.panel: HeadsPanel | None = None
        self.dock: QDockWidget | None = None

    def add_to(self, actions: Actions) -> None:
        menu = actions.menu("Hea&d")
        menu.addSeparator()
        actions.add("heads", menu, "&What does this head do?", self.show, "Ctrl+H")
        actions.add("resolving", menu, "Which head resolves “&it”?", self.show_pairs, "Ctrl+I")
        actions.add("show_heads", menu, "Show/&hide Heads panel", self.toggle, "Ctrl+Shift+H")

    def toggle(self) -> None:
        if self.dock is not None and self.dock.isVisible():
            hide_panel(self.dock, self._window.stage)
        else:
            self.show()

    def show(self) -> HeadsPanel:
        """Show what the heads do and give it the keyboard."""
        panel = self._shown()
        if panel.tabs.currentIndex() not in (TABLE, MAP):
            panel.show_tab(TABLE)
        panel.focus_part().setFocus(Qt.FocusReason.ShortcutFocusReason)
        return panel

    def show_pairs(self) -> None:
        """Ask which head finds what "it" means."""
        panel = self._shown()
        panel.show_tab(RESOLVING)
        panel.resolving.focus_part().setFocus(Qt.FocusReason.ShortcutFocusReason)

    def panels(self) -> list[QWidget]:
        """What F6 leads to as well."""
        return [self.panel] if self.panel is not None else []

    def apply_theme(self, theme: Theme) -> None:
        if self.panel is not None:
            self.panel.apply_theme(theme)

    def set_color_map(self, color_map: ColorMap) -> None:
        if self.panel is not None:
            self.panel.set_color_map(color_map)

    def _shown(self) -> HeadsPanel:
        panel = self._made()
        dock = self.dock
        assert dock is not None
        if not dock.isVisible():
            dock.show()
            whole = self._window.height()
            height = min(round(whole * HEIGHT_SHARE), max(LEAST_HEIGHT, whole - FOR_THE_EXPLORER))
            self._window.hint.close_message()  # its place is needed
            self._window.resizeDocks([dock], [height], Qt.Orientation.Vertical)
        dock.raise_()
        return panel

    def _made(self) -> HeadsPanel:
        if self.panel is None:
            controller = self._controller
            self.panel = HeadsPanel(self._session, controller.heads, controller.resolving)
            self.panel.resolving.showWanted.connect(self._show_head)
            self.panel.showWanted.connect(self._show_evidence)
            self.panel.csvWanted.connect(self._ask_for_csv)
            self.panel.set_color_map(self._controller.settings.color_map)
            self.panel.apply_theme(self._window.theme)
            self.dock = QDockWidget(self._window)
            self.dock.setObjectName("heads")
            self.dock.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)
            self.dock.setWidget(self.panel)
            area = Qt.DockWidgetArea.BottomDockWidgetArea
            beside = self._window.training.dock
            self._window.addDockWidget(area, self.dock)
            if beside is not None and self._window.dockWidgetArea(beside) is area:
                self._window.tabifyDockWidget(beside, self.dock)
            self.dock.hide()
            for changed in (self._session.modelChanged, self._session.originChanged):
                changed.connect(self._say_whose)
            self._say_whose()
        return self.panel

    def _say_whose(self) -> None:
        """Name the model in the dock's title, as the picture may be of another one."""
        assert self.dock is not None
        model = self._session.model
        of = "" if model is None else f" of {model.name}"
        apart = " (not the model shown)" if of and self._session.origin else ""
        self.dock.setWindowTitle(f"Heads{of}{apart}")

    def _show_evidence(self, head: Head, evidence: Evidence) -> None:
        self._show_a_map()
        self._showing.show(head, evidence)

    def _show_head(self, head: Head) -> None:
        """The sentence of the pair that is looked at, with this head and the row of "it"."""
        resolving = self._controller.resolving
        sentence = resolving.sentence
        if sentence is not None:
            self._show_a_map()
            self._window.show_text(sentence.text, resolving.selection(head))

    def _show_a_map(self) -> None:
        if self._window.stage.current not in MAPS:
            self._window.show_view(MAPS[0])

    def _ask_for_csv(self) -> None:
        model, panel = self._session.model, self.panel
        assert model is not None
        assert panel is not None
        start = str(Path.home() / f"{model.name}-heads.csv")
        name, _filter = QFileDialog.getSaveFileName(
            self._window, "Save heads as CSV", start, "CSV (*.csv)"
        )
        if name:
            self.save_csv(Path(name) if Path(name).suffix else Path(f"{name}.csv"))

    def save_csv(self, path: Path) -> None:
        """All heads in the order in which the table is sorted."""
        assert self.panel is not None
        try:
            atomic_write_text(path, heads_csv([each.csv_row for each in self.panel.table.order]))
        except UserError as error:
            self._window.show_notice(str(error))
        else:
            self._window.say(f"{path.name} has been saved.")
