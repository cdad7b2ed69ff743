"""The training panel: the list of runs, what can be done with them, and the pages on the chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QItemSelection, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from core.counted import counted
from core.errors import UserError
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.child import Child
from transformer_viz.training.curves import Curves
from transformer_viz.training.log_page import LogPage
from transformer_viz.training.overview import Overview
from transformer_viz.training.run import Run, RunState
from transformer_viz.training.run_questions import (
    ask_for_count,
    ask_for_steps,
    ask_to_delete,
    ask_to_delete_for_good,
    kept_note,
)
from transformer_viz.training.runs import NoTrashError, Runs
from transformer_viz.training.samples import Samples
from transformer_viz.training.table import RunsTable
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.style import set_role

LIST_WIDTH = 140 * GRID


class Page(Protocol):
    """The interface of a tab page: a widget showing the chosen runs, the current one first."""

    def show_runs(self, runs: Sequence[Run]) -> None: ...

    def apply_theme(self, theme: Theme) -> None: ...


class TrainingPanel(Panel):
    newWanted = Signal()
    likeWanted = Signal(object)  # Run whose settings a new one should have
    openWanted = Signal(object)  # Path of a model for the explorer
    said = Signal(str)  # one sentence

    def __init__(self, runs: Runs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.runs = runs
        self._chosen: list[Run] = []
        self._averaging = Child(self)
        self._average_made = Path()
        self.table = RunsTable(runs)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.overview = Overview()
        self.curves = Curves()
        self.samples = Samples()
        self.log = LogPage()
        self._pages: list[Page] = []
        for title, page in (
            ("Overvie&w", self.overview),
            ("C&urves", self.curves),
            ("Samp&les", self.samples),
            ("L&og", self.log),
        ):
            self.add_page(title, page, page)
        self._empty = Placeholder()
        self._empty.say(
            "No runs yet",
            "“New run…” trains a model; the preset “tiny” takes about a minute. To watch a run "
            "started in a terminal, drop its folder on the window.",
        )
        self._add_buttons()
        self._lay_out()
        self._connect()
        self._on_list()

    @property
    def chosen(self) -> Sequence[Run]:
        """The selected runs, the current one first."""
        return self._chosen

    def focus_part(self) -> QWidget:
        """The list, or what makes the first run."""
        return self.table if len(self.runs) else self.first

    @property
    def averaging(self) -> bool:
        return self._averaging.running

    def close_children(self) -> None:
        """Give up what only this window waits for."""
        self._averaging.cancel()

    def add_page(self, title: str, widget: QWidget, page: Page) -> None:
        """A further tab on the chosen runs, before the log; `title` holds a mnemonic."""
        self.tabs.insertTab(self.tabs.indexOf(self.log), widget, title)
        self._add(page)

    def set_corner(self, widget: QWidget, page: Page) -> None:
        """What stands beside the tabs, whichever of them is shown."""
        corner = QWidget()
        room = QHBoxLayout(corner)
        room.setContentsMargins(0, 0, 4 * GRID, GRID)
        room.addWidget(widget)
        self.tabs.setCornerWidget(corner)
        self._add(page)

    def _add(self, page: Page) -> None:
        self._pages.append(page)
        page.show_runs(self._chosen)

    def choose(self, run: Run) -> None:
        self.table.select([run])

    def apply_theme(self, theme: Theme) -> None:
        self.table.apply_theme(theme)
        for page in self._pages:
            page.apply_theme(theme)

    def _add_buttons(self) -> None:
        self.new = _button("&New run…", "Choose data and settings, and start a run")
        self.resume = _button("Resu&me", "Continue exactly where the run stopped or paused")
        self.pause = _button("&Pause", "Pause after the next step and keep everything in memory")
        self.end = _button("Stop and save", "Save the state after the next step, then stop")
        self.average = _button("&Average…", "Average the last checkpoints into one model")
        self.delete = _button("Delete…", "Delete the run folder (Del)")
        self._buttons = (
            self.new,
            self.resume,
            self.pause,
            self.end,
            self.average,
            self.delete,
        )

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        row.setSpacing(2 * GRID)
        for button in self._buttons:
            row.addWidget(button)
        row.addStretch(1)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self.table, 1)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(left)
        self._splitter.addWidget(self.tabs)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([LIST_WIDTH, 2 * LIST_WIDTH])
        nothing = QWidget()
        set_role(nothing, "paper")
        lines = QVBoxLayout(nothing)
        lines.addStretch(2)
        lines.addWidget(self._empty)
        self.first = _button("&New run…", self.new.toolTip())
        lines.addWidget(self.first, 0, Qt.AlignmentFlag.AlignHCenter)
        lines.addStretch(3)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._splitter)
        self._stack.addWidget(nothing)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)

    def _connect(self) -> None:
        self.runs.changed.connect(self._on_list)
        self.table.selectionModel().selectionChanged.connect(self._on_selection)
        self.table.doubleClicked.connect(lambda _index: self._open_newest())
        for button in (self.new, self.first):
            button.clicked.connect(self.newWanted)
        self.resume.clicked.connect(self._resume)
        self.pause.clicked.connect(lambda: self._each(self.runs.pause, _is_running))
        self.end.clicked.connect(lambda: self._each(self.runs.end, _is_alive))
        self.average.clicked.connect(self._ask_to_average)
        self.delete.clicked.connect(self._ask_to_delete)
        self.overview.openWanted.connect(self.openWanted)
        self._averaging.failed.connect(self.said)
        self._averaging.finished.connect(self._on_averaged)
        for text, slot in (
            ("New run &like this…", lambda: self.likeWanted.emit(self._chosen[0])),
            ("Open newest &model", self._open_newest),
            ("Remove from &list", self._forget),
        ):
            action = QAction(text, self.table)
            action.triggered.connect(partial(self._run_slot, slot))
            self.table.addAction(action)
        remove = QAction("&Delete…", self.table)
        remove.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        remove.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        remove.triggered.connect(self._ask_to_delete)
        self.table.addAction(remove)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    # -- what is chosen

    def _on_list(self) -> None:
        """Keep what was selected; select the newest run where nothing is."""
        self._stack.setCurrentIndex(0 if len(self.runs) else 1)
        kept = [run for run in self._chosen if self.table.rows.row(run) is not None]
        self.table.select(kept or list(self.runs)[:1])
        self._choose(self.table.selected)

    def _on_selection(self, _on: QItemSelection, _off: QItemSelection) -> None:
        self._choose(self.table.selected)

    def _choose(self, runs: list[Run]) -> None:
        if runs != self._chosen:
            for run in self._chosen:
                run.changed.disconnect(self._enable)
            self._chosen = runs
            for run in runs:
                run.changed.connect(self._enable)
            for page in self._pages:
                page.show_runs(runs)
        self._enable()

    def _enable(self) -> None:
        chosen = self._chosen
        one = len(chosen) == 1
        self.pause.setEnabled(any(map(_is_running, chosen)))
        self.resume.setEnabled(any(map(_can_resume, chosen)))
        self.end.setEnabled(any(map(_is_alive, chosen)))
        self.average.setEnabled(one and len(chosen[0].checkpoints()) > 1)
        self.delete.setEnabled(bool(chosen) and not any(map(_is_alive, chosen)))

    # -- what is done with them

    def _run_slot(self, slot: Callable[[], object]) -> None:
        if self._chosen:
            slot()

    def _each(self, do: Callable[[Run], None], fits: Callable[[Run], bool]) -> None:
        try:
            for run in filter(fits, self._chosen):
                do(run)
        except UserError as error:
            self.said.emit(str(error))

    def _resume(self) -> None:
        done = [run for run in self._chosen if run.state is RunState.FINISHED]
        self._each(self.runs.resume, lambda run: _can_resume(run) and run not in done)
        if done:
            run = done[0]
            ask_for_steps(run, self, lambda steps: self._train_on(run, steps))

    def _train_on(self, run: Run, steps: int) -> None:
        self._each(lambda one: self.runs.resume(one, steps), lambda one: one is run)

    def _ask_to_average(self) -> None:
        run = self._chosen[0]
        ask_for_count(run, self, lambda count: self._average(run, count))

    def _average(self, run: Run, count: int) -> None:
        last = run.checkpoints()[-1].stem
        out = run.folder.averages / f"mean-of-{count}-{last}.safetensors"
        try:
            out.parent.mkdir(exist_ok=True)
        except OSError as error:
            self.said.emit(f"{out.parent} cannot be created: {error.strerror or error}.")
            return
        self.said.emit(f"Averaging {counted(count, 'checkpoint')} of {run.name}…")
        self._average_made = out
        self._averaging.run(["average", str(run.path), "--last", str(count), "-o", str(out)])

    def _on_averaged(self, _nothing: object) -> None:
        for run in self.runs:
            run.poll()
        self.overview.choose(self._average_made)
        self.said.emit("The average is ready; it is listed among the models of the run.")

    def _ask_to_delete(self) -> None:
        runs = list(self._chosen)
        if runs and not any(map(_is_alive, runs)):
            ask_to_delete(runs, self, lambda: self._delete(runs))

    def _delete(self, runs: Sequence[Run], *, for_good: bool = False) -> None:
        refused: list[Run] = []
        for run in runs:
            try:
                kept = self.runs.delete(run, for_good=for_good)
            except NoTrashError:
                refused.append(run)
            except UserError as error:
                self.said.emit(str(error))
            else:
                if kept:
                    self.said.emit(kept_note(run, kept))
        if refused:
            ask_to_delete_for_good(refused, self, lambda: self._delete(refused, for_good=True))

    def _open_newest(self) -> None:
        self.overview.open_first()

    def _forget(self) -> None:
        for run in list(self._chosen):
            if self.runs.is_known(run):
                self.runs.forget(run)
            else:
                self.said.emit(
                    f"{run.name} is in the runs folder, so it is always listed; delete it or move "
                    "its folder elsewhere."
                )


def _is_alive(run: Run) -> bool:
    return run.state.alive


def _is_running(run: Run) -> bool:
    return run.state is RunState.RUNNING


def _can_resume(run: Run) -> bool:
    works = run.state in (RunState.STARTING, RunState.RUNNING)
    return not works and run.config is not None


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    return button
