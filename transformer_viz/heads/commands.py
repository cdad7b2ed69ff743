"""The Heads panel in the window: its dock, its commands, and the way from it to the explorer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from core.analysis.head_csv import heads_csv
from core.errors import UserError
from core.files import atomic_write_text
from core.trace.trace import Head
from transformer_viz.drawing.theme import Theme
from transformer_viz.heads.analysis import HeadAnalysis
from transformer_viz.heads.mattering import Mattering
from transformer_viz.heads.panel import MAP, MATTERING, RESOLVING, TABLE, HeadsPanel
from transformer_viz.heads.report import Evidence
from transformer_viz.heads.resolving import Resolving
from transformer_viz.heads.showing import EvidenceShowing
from transformer_viz.state.explorer import Explorer
from transformer_viz.state.options import ColorMap
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Session
from transformer_viz.widgets.actions import Actions
from transformer_viz.widgets.dock import Dock
from transformer_viz.widgets.host import Host


class HeadsCommands(QObject):
    """The commands of the Heads panel, whose dock is made on first use."""

    def __init__(
        self,
        host: Host,
        session: Session,
        explorer: Explorer,
        analysis: HeadAnalysis,
        resolving: Resolving,
        mattering: Mattering,
        score_target: Callable[[str, str], object],
    ) -> None:
        """Add the commands; `score_target` shows a given translation, described by its second
        argument."""
        super().__init__(host)
        self._host = host
        self._session = session
        self._explorer = explorer
        self._analysis = analysis
        self._resolving = resolving
        self._mattering = mattering
        self._showing = EvidenceShowing(session, explorer, self._show_whole, score_target, self)
        self.panel: HeadsPanel | None = None
        self.dock: Dock | None = None

    def add_to(self, actions: Actions) -> None:
        menu = actions.menu("Hea&d")
        menu.addSeparator()
        actions.add("heads", menu, "&What does this head do?", self.show, "Ctrl+H")
        actions.add("resolving", menu, "Which head resolves “&it”?", self.show_pairs, "Ctrl+I")
        actions.add(
            "mattering", menu, "Which heads &matter here?", self.show_mattering, "Ctrl+Shift+I"
        )
        actions.add("show_heads", menu, "Show/&hide Heads panel", self.toggle, "Ctrl+Shift+H")

    def toggle(self) -> None:
        if self.dock is not None and self.dock.isVisible():
            self.dock.put_away()
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

    def show_mattering(self) -> None:
        """Ask which heads the translation of this sentence depends on."""
        panel = self._shown()
        panel.show_tab(MATTERING)
        panel.mattering.focus_part().setFocus(Qt.FocusReason.ShortcutFocusReason)

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
        assert self.dock is not None
        self.dock.bring_up()
        return panel

    def _made(self) -> HeadsPanel:
        if self.panel is None:
            self.panel = HeadsPanel(self._session, self._analysis, self._resolving, self._mattering)
            self.panel.resolving.showWanted.connect(self._show_head)
            self.panel.showWanted.connect(self._show_evidence)
            self.panel.csvWanted.connect(self._ask_for_csv)
            self.panel.set_color_map(self._explorer.settings.color_map)
            self.panel.apply_theme(self._host.theme)
            self.dock = Dock(self._host, "heads", "Heads", self.panel)
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
        self._host.show_a_map()
        self._showing.show(head, evidence)

    def _show_head(self, head: Head) -> None:
        """The sentence of the pair that is looked at, with this head and the row of "it"."""
        resolving = self._resolving
        sentence = resolving.sentence
        if sentence is not None:
            self._host.show_a_map()
            self._show_whole(sentence.text, resolving.selection(head))

    def _show_whole(self, text: str, selection: Selection) -> None:
        """As one sentence, as it was measured."""
        self._host.show_text(text, selection, whole=True)

    def _ask_for_csv(self) -> None:
        model, panel = self._session.model, self.panel
        assert model is not None
        assert panel is not None
        start = str(Path.home() / f"{model.name}-heads.csv")
        name, _filter = QFileDialog.getSaveFileName(
            self._host, "Save heads as CSV", start, "CSV (*.csv)"
        )
        if name:
            self.save_csv(Path(name) if Path(name).suffix else Path(f"{name}.csv"))

    def save_csv(self, path: Path) -> None:
        """Save all heads in the order in which the table is sorted."""
        assert self.panel is not None
        try:
            atomic_write_text(path, heads_csv([each.csv_row for each in self.panel.table.order]))
        except UserError as error:
            self._host.show_notice(str(error))
        else:
            self._host.say(f"{path.name} has been saved.")
