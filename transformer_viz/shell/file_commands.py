"""What the commands on files do: the dialogs that ask for a name, opening, saving, exporting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFileDialog, QMessageBox, QScrollArea

from core.errors import UserError
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.matrix import Style
from transformer_viz.drawing.theme import LIGHT, Theme
from transformer_viz.export.dialog import ExportDialog
from transformer_viz.export.exporter import Colors, Export, Exporter, Format, Subject
from transformer_viz.export.figure import Figure, compose
from transformer_viz.export.picture import Picture
from transformer_viz.export.table import Dialect
from transformer_viz.heads_map.atlas_view import AtlasView
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.documents import Documents
from transformer_viz.shell.session_file import SUFFIX
from transformer_viz.state.session import Session
from transformer_viz.widgets.question_box import QuestionBox
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.words.gate_wording import describe_changes

if TYPE_CHECKING:
    from transformer_viz.shell.window import Window

MODELS = "Models (*.safetensors *.npz config.json)"
OPENED = (
    f"All supported files (*.safetensors *.npz config.json *{SUFFIX} *.txt *.md);;{MODELS};;Traces "
    f"(*.npz);;Sessions (*{SUFFIX});;Texts (*.txt);;Lessons (*.md);;All files (*)"
)
SESSIONS = f"Transformer Viz sessions (*{SUFFIX})"


_FITS = 3  # what stands around a picture may take another height at another width
_LEAST = QSize(80, 60)


class FileCommands(QObject):
    def __init__(self, window: Window, session: Session, controller: Controller) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._controller = controller
        self.documents = Documents(
            session, controller, lambda: window.stage.current, self, self._leave
        )
        self.exporter = Exporter(
            *(session, controller.quantities, controller.transfers),
            *(self._picture, self._style, self),
        )
        self._export = Export(Subject.VIEW, Format.PNG, dialect=Dialect.EXCEL)
        self._folder = ""
        self._question: QMessageBox | None = (
            None  # whether to close or what to save, while it is open
        )
        for said in (self.documents.saved, self.exporter.exported):
            said.connect(window.say)
        self.documents.viewWanted.connect(window.show_view)
        self.documents.runWanted.connect(lambda path: window.training.open_run(path))
        self.documents.lessonWanted.connect(lambda path: window.lessons.open(path))

    def open(self) -> None:
        name, _filter = QFileDialog.getOpenFileName(self._window, "Open", self._start(), OPENED)
        if name:
            self._folder = str(Path(name).parent)
            self.documents.open(Path(name))

    def open_folder(self) -> None:
        """A MarianMT folder, a Marian model or a training run."""
        name = QFileDialog.getExistingDirectory(self._window, "Open a folder", self._start())
        if name:
            self._folder = str(Path(name).parent)
            self.documents.open(Path(name))

    def save(self) -> None:
        if self.documents.path is None:
            self.save_as()
        else:
            self.documents.save(self.documents.path)

    def save_as(self) -> None:
        start = self.documents.path or Path(self._start()) / f"session{SUFFIX}"
        path = self._ask("Save session", start, SESSIONS)
        if path is not None:
            self.documents.save(path)

    def export(self) -> None:
        dialog = ExportDialog(self.exporter, self._export, self._window)
        dialog.saveWanted.connect(self._save_export)
        dialog.copyWanted.connect(self._copy_export)
        dialog.open()

    def copy_picture(self) -> None:
        self.exporter.copy(replace(self._export, subject=Subject.VIEW, format=Format.PNG))

    def copy_matrix(self) -> None:
        self.exporter.copy(Export(Subject.MATRIX, Format.TSV))

    def may_close(self) -> bool:
        """Whether nothing runs; else ask, and close the window again when that is confirmed."""
        running = self._controller.running
        if running and self._question is None:
            self._question = self._ask_to_close(running)
        return not running

    def may_leave(self) -> bool:
        """Whether the session file holds what is shown; else ask, and close the window again
        when that is answered."""
        unsaved = self.documents.unsaved.there
        if unsaved:
            self._leave(self._window.close)
        return not unsaved

    def _leave(self, proceed: Callable[[], object]) -> None:
        """Give up the session that is shown for another or at closing; ask what becomes of
        changes that are not saved."""
        if not self.documents.unsaved.there:
            proceed()
        elif self._question is None:
            self._question = self._ask_to_save(proceed)

    def _ask_to_save(self, proceed: Callable[[], object]) -> QMessageBox:
        documents, path = self.documents, self.documents.path
        assert path is not None, "without a file nothing is unsaved"
        box = QuestionBox(
            "Transformer Viz",
            f"Save the changes to {path.name}?",
            f"If you discard them, {path} stays as it is.",
            self._window,
        )
        save, discard, cancel = (
            box.addButton(button)
            for button in (
                QMessageBox.StandardButton.Save,
                QMessageBox.StandardButton.Discard,
                QMessageBox.StandardButton.Cancel,
            )
        )
        box.setDefaultButton(save)
        box.setEscapeButton(cancel)

        def answered() -> None:
            self._question = None
            if box.clickedButton() is save:
                documents.save(path, then=proceed)
            elif box.clickedButton() is discard:
                documents.unsaved.forget()
                proceed()

        box.finished.connect(answered)
        box.open()
        return box

    def _ask_to_close(self, running: list[str]) -> QMessageBox:
        box = QuestionBox(
            "Transformer Viz",
            " ".join([*running, "Close anyway?"]),
            "Unsaved work will be lost; existing files stay as they are.",
            self._window,
        )
        close = box.addButton("C&lose anyway", QMessageBox.ButtonRole.DestructiveRole)
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(cancel)
        box.finished.connect(lambda _result: self._on_answer(box.clickedButton() is close))
        box.open()
        return box

    def _on_answer(self, close: bool) -> None:
        self._question = None
        if close:
            self._controller.give_up()
            self._window.close()

    def _save_export(self, export: Export) -> None:
        self._export = export
        start = Path(self._start()) / self.exporter.name(export)
        path = self._ask("Export", start, f"{export.format.upper()} (*.{export.format})")
        if path is not None:
            self.exporter.save(export, path)

    def _copy_export(self, export: Export) -> None:
        self._export = export
        self.exporter.copy(export)

    def _ask(self, title: str, start: Path, filter_: str) -> Path | None:
        """A name for a file, with the suffix of the suggested one."""
        name, _filter = QFileDialog.getSaveFileName(self._window, title, str(start), filter_)
        if not name:
            return None
        path = Path(name)
        self._folder = str(path.parent)
        return path if path.suffix else path.with_name(path.name + start.suffix)

    def _start(self) -> str:
        """The folder to start in: the one used last, else that of the session or the model."""
        if self._folder:
            return self._folder
        if self.documents.path is not None:
            return str(self.documents.path.parent)
        return str(Path.home())

    def _picture(self, subject: Subject, colors: Colors, figure: Figure) -> Picture:
        if self._session.trace is None:
            raise UserError("There is nothing to export yet; type a sentence first.")
        if subject is Subject.HEADS:
            return self._picture_of(self._window.heads_map.picture, "Heads map", colors, figure)
        stage = self._window.stage
        view = stage.view()
        if not view.has_picture:
            raise UserError("This view has no picture to export yet.")
        name = f"{stage.title} {view.export_name()}"
        return self._picture_of(view, name, colors, figure)

    def _picture_of(
        self, source: StageView | AtlasView, name: str, colors: Colors, figure: Figure
    ) -> Picture:
        theme, style = self._theme(colors), self._style(colors)
        lines = self._caption(figure)

        def made_for(room: QSize) -> Picture:
            def paint(painter: QPainter, rect: QRect) -> None:
                with self._fitted(source, room), self._dressed(source, theme):
                    source.paint_export(painter, rect)

            with self._fitted(source, room):
                return Picture(name, source.export_size(), paint)

        ways = [made_for(room) for room in figure.rooms(style.font, lines)]
        return compose(ways, figure, lines, style)

    def _caption(self, figure: Figure) -> tuple[str, ...]:
        """What the picture is of, where that is wanted, and always what was changed in the
        model."""
        trace, model = self._session.trace, self._session.model
        assert trace is not None, "asked for before"
        lines = []
        if figure.caption:
            origin = self._session.origin or (model.name if model is not None else "")
            second = self._controller.comparison.text
            comparing = self._window.stage.current == "compare" and second
            lines = [
                trace.text,
                f"→ {trace.translation}" if trace.translation else "",
                f"compared with: {second}" if comparing else "",
                origin,
            ]
        return tuple(filter(None, [*lines, describe_changes(trace.gates, trace.switches, trace)]))

    @contextmanager
    def _fitted(self, source: StageView | AtlasView, room: QSize) -> Iterator[None]:
        """A view of such a size that its picture fills the room; on the screen as before."""
        if not room.width():
            yield
            return
        source.set_export_room(room)
        try:
            with self._resized(source, room):
                yield
        finally:
            source.set_export_room(QSize(0, 0))

    @contextmanager
    def _resized(self, source: StageView | AtlasView, room: QSize) -> Iterator[None]:
        if not isinstance(source, StageView):
            yield
            return
        viewport = source.parentWidget()
        area = viewport.parentWidget() if viewport is not None else None
        assert isinstance(area, QScrollArea), "each view on the stage is in one"
        self._window.setUpdatesEnabled(False)
        area.setWidgetResizable(False)
        try:
            for _ in range(_FITS):
                size = source.export_size()
                wanted = QSize(room.width(), room.height() or size.height())
                source.resize((source.size() + wanted - size).expandedTo(_LEAST))
            yield
        finally:
            area.setWidgetResizable(True)  # as large as it was
            self._window.setUpdatesEnabled(True)

    @contextmanager
    def _dressed(self, source: StageView | AtlasView, theme: Theme) -> Iterator[None]:
        """A view in this theme while it is painted into a file, and on the screen as before."""
        usual = self._window.theme
        if theme is usual:
            yield
            return
        source.setUpdatesEnabled(False)
        source.apply_theme(theme)
        try:
            yield
        finally:
            source.apply_theme(usual)
            source.setUpdatesEnabled(True)

    def _style(self, colors: Colors) -> Style:
        theme = self._theme(colors)
        table = lookup_table(self._controller.settings.color_map, theme)
        return Style(theme, table, self._window.font())

    def _theme(self, colors: Colors) -> Theme:
        return LIGHT if colors is Colors.LIGHT else self._window.theme
