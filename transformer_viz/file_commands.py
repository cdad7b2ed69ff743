"""What the commands on files do: the dialogs that ask for a name, opening, saving, exporting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox

from core.errors import UserError
from transformer_viz.controller import Controller
from transformer_viz.documents import Documents
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.matrix import Style
from transformer_viz.export.dialog import ExportDialog
from transformer_viz.export.exporter import Export, Exporter, Format, Subject
from transformer_viz.export.picture import Picture
from transformer_viz.session import Session
from transformer_viz.session_file import SUFFIX
from transformer_viz.views.stage import VIEWS
from transformer_viz.views.wording import head_name

if TYPE_CHECKING:
    from transformer_viz.window import Window

OPENED = (
    f"All that can be opened (*.safetensors *.npz *{SUFFIX} *.txt);;Models (*.safetensors);;"
    f"Traces (*.npz);;Sessions (*{SUFFIX});;Texts (*.txt);;All files (*)"
)
SESSIONS = f"Sessions of Transformer Viz (*{SUFFIX})"


class FileCommands(QObject):
    def __init__(self, window: Window, session: Session, controller: Controller) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._controller = controller
        self.documents = Documents(session, controller, lambda: window.stage.current, self)
        self.exporter = Exporter(session, controller.transfers, self._picture, self._style, self)
        self._export = Export(Subject.VIEW, Format.PNG)
        self._folder = ""
        self._question: QMessageBox | None = None  # whether to close, while it is open
        for said in (self.documents.saved, self.exporter.exported):
            said.connect(window.say)
        self.documents.viewWanted.connect(window.show_view)

    def open(self) -> None:
        name, _filter = QFileDialog.getOpenFileName(self._window, "Open", self._start(), OPENED)
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
        self.exporter.copy(Export(Subject.VIEW, Format.PNG, self._export.scale))

    def copy_matrix(self) -> None:
        self.exporter.copy(Export(Subject.MATRIX, Format.TSV))

    def may_close(self) -> bool:
        """Whether nothing runs; else ask, and close the window again when that is confirmed."""
        running = self._controller.running
        if running and self._question is None:
            self._question = self._ask_to_close(running)
        return not running

    def _ask_to_close(self, running: list[str]) -> QMessageBox:
        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Transformer Viz")
        box.setText(" ".join([*running, "Close all the same?"]))
        box.setInformativeText("This would be given up; what a file held before stays as it is.")
        close = box.addButton("C&lose now", QMessageBox.ButtonRole.DestructiveRole)
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(cancel)
        box.finished.connect(lambda _result: self._on_answer(box.clickedButton() is close))
        box.open()
        return box

    def _on_answer(self, close: bool) -> None:
        self._question = None
        if close:
            self._controller.transfers.cancel()
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

    def _picture(self, subject: Subject) -> Picture:
        if self._session.trace is None:
            raise UserError("There is nothing to export yet; type a sentence first.")
        window = self._window
        if subject is Subject.HEADS:
            source = window.heads_map.picture
            return Picture("Heads map", source.export_size(), source.paint_export)
        view = window.stage.view()
        name = f"{VIEWS[window.stage.current]} {head_name(self._session.selection.primary)}"
        return Picture(name, view.export_size(), view.paint_export)

    def _style(self) -> Style:
        theme = self._window.theme
        table = lookup_table(self._controller.settings.color_map, theme)
        return Style(theme, table, self._window.font())
