"""What the panel asks before it does something with runs; each question is a dialog of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from transformer_viz.theme import GRID
from transformer_viz.training.run import Run
from transformer_viz.views.number_boxes import WholeBox

USUAL_AVERAGE = 5


def ask_for_steps(run: Run, parent: QWidget, then: Callable[[int], None]) -> None:
    """Until which update a finished run is to be trained on."""
    label = f"{run.name} has done {run.step:,} updates. Train on until update:"
    dialog = NumberQuestion("Train on", label, run.step + 1, 2_000_000_000, 2 * run.step, parent)
    dialog.answered.connect(then)
    dialog.open()


def ask_for_count(run: Run, parent: QWidget, then: Callable[[int], None]) -> None:
    """How many of the last checkpoints are to be averaged."""
    there = len(run.checkpoints())
    label = f"{run.name} has {there} checkpoints. Average how many of the last:"
    dialog = NumberQuestion(
        "Average checkpoints", label, 1, there, min(there, USUAL_AVERAGE), parent
    )
    dialog.answered.connect(then)
    dialog.open()


def ask_to_delete(runs: Sequence[Run], parent: QWidget, then: Callable[[], None]) -> None:
    names = runs[0].name if len(runs) == 1 else f"{len(runs)} runs"
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle("Delete")
    box.setText(f"Delete {names} with all checkpoints?")
    box.setInformativeText(
        "\n".join(str(run.path) for run in runs)
        + "\nIt goes to the trash where the system has one."
    )
    delete = box.addButton("&Delete", QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    box.finished.connect(lambda _: then() if box.clickedButton() is delete else None)
    box.open()


class NumberQuestion(QDialog):
    """A question answered by one whole number, which `answered` gives."""

    answered = Signal(int)

    def __init__(
        self, title: str, label: str, least: int, most: int, usual: int, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.number = WholeBox(self)
        self.number.setRange(least, most)
        self.number.setValue(usual)
        self.number.setAccessibleName(label)
        self.number.selectAll()
        text = QLabel(label)
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setBuddy(self.number)
        standard = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(standard.Ok | standard.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setSpacing(2 * GRID)
        for widget in (text, self.number, buttons):
            column.addWidget(widget)

    def accept(self) -> None:
        """Give the number and close, unless what was typed is refused."""
        if not self.number.problem:
            self.answered.emit(self.number.value())
            super().accept()
