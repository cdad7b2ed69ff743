"""The training panel in the window: its dock, its menu, and what goes between both."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QCheckBox, QFileDialog, QMessageBox, QWidget

from core.errors import UserError
from transformer_viz.drawing.theme import Theme
from transformer_viz.state.explorer import Explorer
from transformer_viz.state.session import Session
from transformer_viz.training.attention_page import AttentionPage
from transformer_viz.training.follow import Follow
from transformer_viz.training.panel import TrainingPanel
from transformer_viz.training.run import Run, RunState
from transformer_viz.training.runs import Runs, runs_folder
from transformer_viz.widgets.actions import Actions
from transformer_viz.widgets.dock import Dock
from transformer_viz.widgets.host import Host
from transformer_viz.widgets.question_box import QuestionBox

if TYPE_CHECKING:
    from transformer_viz.training.new_run import NewRun


class TrainingCommands(QObject):
    """The commands of training; dock and list of runs are made on first use."""

    def __init__(
        self,
        host: Host,
        session: Session,
        explorer: Explorer,
        folder: Path | None = None,
    ) -> None:
        """Add the commands; `folder` is that of the runs, the user's own by default."""
        super().__init__(host)
        self._host = host
        self._session = session
        self._explorer = explorer
        self._folder = folder
        self._dialog: NewRun | None = None
        self._note: QMessageBox | None = None  # that runs go on, while it is open
        self._told = False
        self.runs: Runs | None = None
        self.panel: TrainingPanel | None = None
        self.dock: Dock | None = None

    def add_to(self, actions: Actions) -> None:
        menu = actions.menu("T&raining")
        actions.add("new_run", menu, "&New run…", self.new_run, "Ctrl+Shift+N")
        actions.add("show_training", menu, "&Show/hide Training panel", self.toggle, "Ctrl+Shift+T")
        actions.add("open_run", menu, "&Open run…", self.ask_for_run)

    def toggle(self) -> None:
        if self.dock is not None and self.dock.isVisible():
            self.dock.put_away()
        else:
            self.show()

    def show(self) -> TrainingPanel:
        """Show the panel and give it the keyboard."""
        panel = self._made()
        assert self.dock is not None
        self.dock.bring_up()
        panel.focus_part().setFocus(Qt.FocusReason.ShortcutFocusReason)
        return panel

    def new_run(self) -> None:
        self._new_run_dialog().refresh()
        self._new_run_dialog().show()

    def new_run_like(self, run: Run) -> None:
        self._new_run_dialog().like(run)
        self._new_run_dialog().show()

    def ask_for_run(self) -> None:
        folder = QFileDialog.getExistingDirectory(self._host, "Open run", "")
        if folder:
            self.open_run(Path(folder))

    def open_run(self, path: Path) -> None:
        """List a run folder and show it."""
        panel = self._made()
        try:
            run = panel.runs.open(path)
        except UserError as error:
            self._explorer.openFailed.emit(str(error))
        else:
            self.show()
            panel.choose(run)

    def panels(self) -> list[QWidget]:
        """What F6 leads to as well."""
        return [self.panel] if self.panel is not None else []

    def apply_theme(self, theme: Theme) -> None:
        if self.panel is not None:
            self.panel.apply_theme(theme)
        if self._dialog is not None:
            self._dialog.apply_theme(theme)

    def may_close(self) -> bool:
        """Whether there is nothing to say; else say that runs go on, and close after that."""
        going = [run for run in self.runs or () if run.state.alive]
        if not going or self._told or not self._explorer.settings.tell_of_runs:
            return True
        if self._note is None:
            self._note = self._say_that_they_go_on(going)
        return False

    def close(self) -> None:
        """End watching; the runs go on."""
        if self.runs is not None:
            self.runs.stop()
        if self.panel is not None:
            self.panel.close_children()
        if self._dialog is not None:
            self._dialog.reject()

    def _made(self) -> TrainingPanel:
        if self.panel is None:
            settings = self._explorer.settings
            self.runs = Runs(self._folder or runs_folder(), settings.runs, parent=self)
            self.runs.knownChanged.connect(lambda known: self._explorer.change_settings(runs=known))
            self.panel = TrainingPanel(self.runs)
            attention = AttentionPage(self._session, self._explorer)
            self.panel.add_page("Attent&ion", attention, attention)
            follow = Follow(self._session, self._explorer)
            follow.begun.connect(attention.replay.close)
            self.runs.changed.connect(partial(follow.show_list, self.runs))
            self.panel.set_corner(follow, follow)
            self.panel.newWanted.connect(self.new_run)
            self.panel.likeWanted.connect(self.new_run_like)
            self.panel.openWanted.connect(self._explorer.open)
            self.panel.said.connect(self._host.say)
            self.panel.apply_theme(self._host.theme)
            self.dock = Dock(self._host, "training", "Training", self.panel)
            self.runs.watch()
        return self.panel

    def _new_run_dialog(self) -> NewRun:
        """Kept, so that what was put together is there again."""
        panel = self._made()
        if self._dialog is None:
            from transformer_viz.training.new_run import NewRun  # brings the lexicon along

            self._dialog = NewRun(panel.runs, self._host)
            self._dialog.started.connect(self._on_started)
            self._dialog.apply_theme(self._host.theme)
        return self._dialog

    def _on_started(self, run: Run) -> None:
        self.show().choose(run)

    def _say_that_they_go_on(self, runs: list[Run]) -> QMessageBox:
        box = QuestionBox(
            "Training continues",
            goes_on(runs),
            "Nothing is lost: the Training panel finds it again at the next start.",
            self._host,
        )
        box.setIcon(QMessageBox.Icon.Information)
        close = box.addButton("C&lose window", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(close)
        again = QCheckBox("&Don't show again")
        box.setCheckBox(again)
        box.finished.connect(
            lambda _: self._on_told(box.clickedButton() is close, again.isChecked())
        )
        box.open()
        return box

    def _on_told(self, close: bool, never_again: bool) -> None:
        self._note = None
        if never_again:
            self._explorer.change_settings(tell_of_runs=False)
        if close:
            self._told = True
            self._host.close()


def goes_on(runs: list[Run]) -> str:
    """What to say of runs that the closing of the window leaves alone."""
    names = ", ".join(run.name for run in runs)
    waits = all(run.state is RunState.PAUSED for run in runs)
    many = len(runs) > 1
    verb = (
        ("wait" if many else "waits")
        if waits
        else ("continue training" if many else "continues training")
    )
    return f"{names} {verb} when the window is closed."
