"""The main window: its panels, its menus, and how they hang together."""

from pathlib import Path

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDockWidget,
    QFrame,
    QGridLayout,
    QMenu,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from transformer_viz.architecture.architecture import Architecture
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.stream import Stream
from transformer_viz.gates.gate_commands import GateCommands
from transformer_viz.heads.commands import HeadsCommands
from transformer_viz.heads.role_lines import RoleLines
from transformer_viz.heads.sample_showing import SampleShowing
from transformer_viz.heads_map.heads_map import HeadsMap
from transformer_viz.heads_map.inspector import Inspector
from transformer_viz.heads_map.measured_heads import MeasuredHeads
from transformer_viz.hub.commands import HubCommands
from transformer_viz.lessons.commands import LessonCommands
from transformer_viz.links.links import Links
from transformer_viz.scores.scores import Scores
from transformer_viz.shell.commands import add_commands
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.file_commands import FileCommands
from transformer_viz.shell.help_commands import HelpCommands
from transformer_viz.shell.history import History
from transformer_viz.shell.menus import DocumentMenus
from transformer_viz.shell.message_bar import MessageBar
from transformer_viz.shell.model_bar import ModelBar
from transformer_viz.shell.placement import placed
from transformer_viz.shell.presentation import Presentation
from transformer_viz.shell.progress_strip import ProgressStrip
from transformer_viz.shell.stage import Stage
from transformer_viz.shell.status_line import StatusLine
from transformer_viz.shell.unsaved import window_title
from transformer_viz.state.bundled import FIRST_TEXT, MinimalPair
from transformer_viz.state.languages import TRAINED, sides
from transformer_viz.state.options import ColorMap
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import ModelInfo, Phase, Session, Status
from transformer_viz.state.settings import Settings
from transformer_viz.training.commands import TrainingCommands
from transformer_viz.translation.doubt_line import DoubtLine
from transformer_viz.translation.language_captions import LanguageCaptions
from transformer_viz.translation.sentence_strip import SentenceStrip
from transformer_viz.translation.source_field import LINE_HEIGHT, SourceField
from transformer_viz.translation.target_chips import TargetChips
from transformer_viz.widgets.actions import Actions
from transformer_viz.widgets.focus import step_focus
from transformer_viz.widgets.host import Host
from transformer_viz.widgets.spotlight import Spotlight
from transformer_viz.widgets.style import ThemeManager, set_role
from transformer_viz.widgets.text_size import set_height

HINT = (
    "Now change “tired” to “wide”: the translation of “it” and the row of “it” follow. "
    "Click a thumbnail on the left to see another head. New to attention? Take the course."
)
HEADS_SHARE = 0.24  # of the window's width, within these bounds
HEADS_NARROWEST, HEADS_WIDEST = 300, 480
INSPECTOR_WIDTH = 280
DEFAULT_SIZE = (1440, 900)
SAID_FOR = 6_000  # ms
MAPS = ("heatmap", "links", "scores")  # the views that show the cell of a head
OPENING = "opening"  # what a notice is about


class Window(Host):
    def __init__(
        self,
        session: Session,
        controller: Controller,
        themes: ThemeManager,
        log: Path | None = None,
        runs: Path | None = None,
        cache: Path | None = None,
    ) -> None:
        """Build the window; `log`: the file that errors go to, if there is one, `runs`: the folder
        for training runs, `cache`: the one for downloads, both the user's own by default."""
        super().__init__()
        self._session = session
        self._controller = controller
        self._themes = themes
        self._color_map = ColorMap.PAPER
        self._asks = True  # before it closes while something runs
        self.setWindowTitle("Transformer Viz")
        self.setAcceptDrops(True)

        self.commands = Actions(self)
        self.files = FileCommands(self, session, controller)
        self.help = HelpCommands(self, session, log)
        self.training = TrainingCommands(self, session, controller, runs)
        self.heads = HeadsCommands(
            self,
            session,
            controller,
            controller.heads,
            controller.resolving,
            controller.mattering,
            controller.decoding.score_target,
        )
        self.gates = GateCommands(self, session, controller, controller.gating, controller.effect)
        self.hub = HubCommands(self, cache)
        self.presentation = Presentation(self, controller)
        self.lessons = LessonCommands(
            *(self, session, controller),
            *(self.show_view, self._part, self.presentation.show_large),
        )
        self.history = History(session, controller, self)
        self._documents = DocumentMenus(self.commands, controller, self.files.documents.open)
        add_commands(self.commands, self, session, controller, self._documents)
        self._make_panels()
        self._lay_out()
        self._connect()
        self.commands.fill(self.menuBar())
        self._show_settings(controller.settings)
        self.apply_theme()
        self._restore(controller.settings)
        self.source.setFocus()

    @property
    def theme(self) -> Theme:
        return self._themes.theme

    @property
    def views(self) -> QWidget:
        return self.stage

    def show_text(
        self, text: str, selection: Selection | None = None, *, at: int = 0, whole: bool = False
    ) -> None:
        self.source.set_text(text)
        self._controller.translate(self.source.text(), selection, at=at, whole=whole)

    def show_notice(self, text: str) -> None:
        self.notice.show_message(text)

    def say(self, text: str) -> None:
        self.status_line.showMessage(text, SAID_FOR)

    def end(self) -> None:
        """Close without a question, and without an answer to an open one; give up what runs."""
        self._asks = False
        for dialog in self.findChildren(QDialog):
            dialog.close()
        self._controller.give_up()
        self.close()

    def is_drawing(self) -> bool:
        """Whether a picture is still incomplete, or what is said a moment later of its text."""
        controller = self._controller
        return self.is_painting() or controller.doubts.asking or controller.sentences.asking

    def is_painting(self) -> bool:
        """Whether some picture is still being computed beside the event loop, or painted in it."""
        computing = any(stream.running for stream in self.findChildren(Stream))
        desk = self._controller
        asking = desk.quantities.asking or desk.states.asking or desk.readouts.asking
        return computing or asking or not self.stage.of(Links).canvas.complete

    # -- composition

    def _make_panels(self) -> None:
        session = self._session
        self._measured = MeasuredHeads(session, self)
        self._spotlight = Spotlight(session, self)
        self.notice = MessageBar("Notice", "warning")
        self.hint = MessageBar("What to try next", "accent")
        self.hint.offer("Begin the course", self.lessons.show)
        self.sight = MessageBar("What this sample shows", "accent")
        self.progress = ProgressStrip(self._controller.transfers)
        model_menu = QMenu("Models", self)
        self._documents.fill_models(model_menu)
        theme_menu = self.commands.menu("&View", "&Theme")
        self.model_bar = ModelBar(session, model_menu, self.commands["palette"], theme_menu)
        self.source = SourceField(session, self._spotlight)
        self.samples = QPushButton("&Samples")
        self.samples.setAccessibleName("Sample sentences")
        samples = QMenu("Samples", self)
        self._documents.fill_samples(samples, self.choose_sample, self.compare_pair)
        self.samples.setMenu(samples)
        set_height(self.samples, LINE_HEIGHT)
        choose = self._controller.choose_sentence
        self.sentences = SentenceStrip(session, self._controller.sentences, choose)
        self.chips = TargetChips(session, self._spotlight)
        self.doubt_line = DoubtLine(session, self._controller.doubts)
        self.captions = LanguageCaptions(session, LINE_HEIGHT)
        self.gate_bar = self.gates.bar(self.commands)
        quantities = self._controller.quantities
        self.heads_map = HeadsMap(session, quantities, self._measured, self._spotlight)
        self.stage = Stage(session, self._controller)
        roles = RoleLines(session, self._controller.heads, self)
        roles.wanted.connect(self.heads.show)
        self.inspector = Inspector(session, quantities, self._measured, self._spotlight, roles)
        self.status_line = StatusLine(session)

    def _lay_out(self) -> None:
        self.columns = QSplitter(Qt.Orientation.Horizontal)
        self.columns.setHandleWidth(1)
        self.columns.setChildrenCollapsible(False)
        for panel in (self.heads_map, self.stage, self.inspector):
            self.columns.addWidget(panel)
            self.columns.setStretchFactor(self.columns.indexOf(panel), int(panel is self.stage))
        texts = QWidget()
        grid = QGridLayout(texts)
        grid.setContentsMargins(4 * GRID, 3 * GRID, 4 * GRID, 3 * GRID)
        grid.setHorizontalSpacing(3 * GRID)
        grid.setVerticalSpacing(2 * GRID)
        top = Qt.AlignmentFlag.AlignTop
        grid.addWidget(self.captions.source, 0, 0, top)
        grid.addWidget(self.source, 0, 1)
        grid.addWidget(self.samples, 0, 2, top)
        grid.addWidget(self.sentences, 1, 1, 1, 2)
        grid.addWidget(self.captions.target, 2, 0, top)
        grid.addWidget(self.chips, 2, 1, 1, 2)
        grid.addWidget(self.doubt_line, 3, 1, 1, 2)
        grid.setColumnStretch(1, 1)
        central = QWidget()
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        upper = (self.notice, self.progress, self.model_bar, _rule(), texts, self.hint, self.sight)
        for widget in (*upper, self.gate_bar, _rule()):
            column.addWidget(widget)
        column.addWidget(self.columns, 1)
        self.setCentralWidget(central)
        self.setStatusBar(self.status_line)

    def _connect(self) -> None:
        controller = self._controller
        self.source.textEdited.connect(self._on_edited)
        self.source.cut.connect(self.show_notice)
        self.source.sentenceChosen.connect(controller.choose_sentence)
        self.source.submitted.connect(lambda _text: controller.remember_text())
        self.model_bar.searchChanged.connect(controller.set_search)
        self.captions.chosen.connect(controller.choose_language)
        self.hint.closed.connect(lambda: controller.change_settings(hint_done=True))
        controller.noticed.connect(self.show_notice)
        controller.openFailed.connect(self._show_failure)
        self.notice.pageWanted.connect(self.help.show_page)
        documents = self.files.documents
        documents.opening.connect(lambda: self.notice.withdraw(OPENING))
        documents.pathChanged.connect(self._show_title)
        documents.unsaved.changed.connect(self._show_title)
        controller.comparison.textWanted.connect(self.choose_text)
        controller.comparison.sentenceWanted.connect(self.choose_sentence)
        controller.doubts.changed.connect(lambda: self.source.show_doubts(controller.doubts.marks))
        controller.settingsChanged.connect(self._show_settings)
        controller.settled.connect(self._show_hint)
        self._samples_showing = SampleShowing(self._session, controller.heads, self.show_view, self)
        self._samples_showing.said.connect(self._show_sight)
        self.stage.viewChanged.connect(lambda view: controller.change_settings(view=view))
        self.heads_map.picture.menuWanted.connect(self.gates.pop_up)
        self.stage.of(Architecture).mapWanted.connect(self.show_a_map)
        for changed in (self._session.traceChanged, controller.gating.changed):
            changed.connect(self._mark_changes)
        self._session.modelChanged.connect(self._show_model)
        self._session.textChanged.connect(self._show_text)
        self._themes.themeChanged.connect(self.apply_theme)

    # -- what the commands do

    def choose_text(self, text: str) -> None:
        self.show_text(self._controller.in_language(text))
        self._controller.remember_text()

    def choose_sentence(self, text: str) -> None:
        """Another one in place of the sentence shown."""
        self._controller.replace_sentence(self._controller.in_language(text))
        self._controller.remember_text()

    def choose_sample(self, text: str) -> None:
        """Show a sample with the head that shows its subject."""
        self.choose_text(text)
        self._samples_showing.show(text)

    def _show_sight(self, text: str) -> None:
        self.sight.hide()
        if text:
            self.hint.hide()
            self.sight.show_message(text)

    def compare_pair(self, pair: MinimalPair) -> None:
        self.show_view("compare")
        self._controller.comparison.choose_pair(pair)

    def _on_edited(self, text: str) -> None:
        self._controller.translate(text, at=self.source.caret)
        self.make_room()

    def edit_text(self) -> None:
        self.source.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_view(self, name: str) -> None:
        self.stage.show_view(name)

    def show_a_map(self) -> None:
        if self.stage.current not in MAPS:
            self.show_view(MAPS[0])

    def open_file(self, path: Path) -> None:
        self.files.documents.open(path)

    def fit_panels(self) -> None:
        self.presentation.fit()

    def make_room(self) -> None:
        if self.hint.isVisible():
            self.hint.close_message()

    def step_head(self, layers: int, heads: int) -> None:
        selection = self._session.selection
        self._session.select(layer=selection.layer + layers, head=selection.head + heads)

    def release(self) -> None:
        """End a view alone or a presentation, else take out the inserted words, else release what
        is pinned."""
        if self.presentation.alone:
            self.presentation.end_alone()
        elif self.lessons.presenting.is_on:
            self.lessons.switch_presenting()
        elif self._controller.stretching.active:
            self._controller.stretching.restore()
        else:
            self._session.release()

    def switch_scaling(self) -> None:
        """Show the steps of the row, with the scores divided by √d_k or not."""
        self.show_view("scores")
        self.stage.of(Scores).show_scaling()

    def _panels(self) -> list[QWidget]:
        return [
            self.source,
            self.sentences.text,
            self.chips,
            self.heads_map,
            self.stage,
            self.inspector,
            self.model_bar.model_button,
            *self.training.panels(),
            *self.heads.panels(),
            *self.lessons.panels(),
        ]

    def _part(self, name: str) -> QWidget:
        """A part of the window by the name that lessons give it."""
        parts: dict[str, QWidget] = {
            "source": self.source,
            "translation": self.chips,
            "heads": self.heads_map,
            "views": self.stage,
            "inspector": self.inspector,
            "models": self.model_bar,
            "samples": self.samples,
        }
        return parts[name]

    def step_panel(self, step: int) -> None:
        step_focus(self._panels(), step)

    def toggle_full_screen(self) -> None:
        """Fill the screen, or end that; a lesson that is going on is presented."""
        if self.presentation.alone:
            self.presentation.end_alone()
            return
        if self.lessons.lesson is not None:
            self.lessons.switch_presenting()
            return
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    # -- what others say

    def _mark_changes(self) -> None:
        self.chips.mark(self.gates.marks)

    def _show_failure(self, text: str) -> None:
        """Why a file was not opened: until another one is."""
        self.notice.show_message(text, OPENING)

    def _show_model(self, model: ModelInfo | None) -> None:
        self._show_title()
        self.source.set_language(sides(model).source)

    def _show_title(self) -> None:
        documents, model = self.files.documents, self._session.model
        self.setWindowTitle(window_title(documents.path, "" if model is None else model.name))
        self.setWindowModified(documents.unsaved.there)

    def _show_hint(self, status: Status) -> None:
        """Only beside what it speaks of: the model's answer to the first text."""
        controller = self._controller
        answered = status.phase is Phase.READY and controller.trace_file is None
        model = self._session.model
        trained = model is not None and sides(model) == TRAINED
        fits = answered and self.sight.isHidden() and trained and self._session.text == FIRST_TEXT
        if fits and not controller.settings.hint_done:
            self.hint.show_message(HINT)
        else:
            self.hint.hide()

    def _show_text(self, text: str) -> None:
        if text != self.source.text():  # by a file, or by undo
            self.source.set_text(text)

    def _show_settings(self, settings: Settings) -> None:
        self.source.set_history(settings.history)
        self.model_bar.set_search(self._controller.search, settings.beam_size)
        self.commands["beam" if settings.beam > 1 else "greedy"].setChecked(True)
        self.commands[f"penalty_{settings.penalty}"].setChecked(True)
        self.commands["keep_whole"].setChecked(settings.keep_whole)
        self.commands[f"theme_{settings.theme}"].setChecked(True)
        self.commands[f"color_map_{settings.color_map}"].setChecked(True)
        self._themes.set_choice(settings.theme)
        self.presentation.show_settings(settings)
        if settings.color_map is not self._color_map:
            self._color_map = settings.color_map
            for picture in (self.heads_map, self.stage, self.heads):
                picture.set_color_map(settings.color_map)

    def apply_theme(self) -> None:
        """Let every view follow the theme and the size of text."""
        for view in (
            self.notice,
            self.hint,
            self.sight,
            self.progress,
            self.model_bar,
            self.source,
            self.sentences,
            self.chips,
            self.gate_bar,
            self.heads_map,
            self.stage,
            self.inspector,
            self.status_line,
            self.training,
            self.heads,
            self.hub,
            self.lessons,
        ):
            view.apply_theme(self.theme)

    def _restore(self, settings: Settings) -> None:
        self.stage.show_view(settings.view)
        screens = [screen.availableGeometry() for screen in QApplication.screens()]
        if settings.geometry:
            self.setGeometry(placed(QRect(*settings.geometry), screens))
        else:
            default = QRect(screens[0].topLeft(), QSize(*DEFAULT_SIZE))
            self.resize(placed(default, screens).size())
        if settings.maximized:
            self.setWindowState(Qt.WindowState.WindowMaximized)

    def _size_panels(self) -> None:
        heads = round(self.width() * HEADS_SHARE)
        heads = max(HEADS_NARROWEST, min(heads, HEADS_WIDEST))
        default = (heads, self.width() - heads - INSPECTOR_WIDTH, INSPECTOR_WIDTH)
        self.columns.setSizes(list(self._controller.settings.panels or default))

    # -- events

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():  # shown by us, not restored by the system
            self._size_panels()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped_files(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        paths = _dropped_files(event)
        if len(paths) == 1:
            self.files.documents.open(paths[0])
        elif paths:
            self._show_failure(
                "Several files were dropped and one can be shown; drop that one alone."
            )

    def closeEvent(self, event: QCloseEvent) -> None:
        asked = (self.files.may_close, self.training.may_close, self.files.may_leave)
        if self._asks and not all(may() for may in asked):
            event.ignore()
            return
        normal = self.normalGeometry()
        self._controller.change_settings(
            geometry=(normal.x(), normal.y(), normal.width(), normal.height()),
            maximized=self.isMaximized(),
            panels=self.presentation.column_widths(),
        )
        for window in (*self.findChildren(QDockWidget), self):  # a dock may float
            window.hide()
        self.training.close()
        self.gates.close()
        self.hub.close()
        self.lessons.close()
        self._controller.close()
        event.accept()


def _dropped_files(event: QDropEvent) -> list[Path]:
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]


def _rule() -> QFrame:
    line = QFrame()
    set_role(line, "rule")
    line.setFixedHeight(1)
    return line
