"""What the panel asks before it does something with runs; each question is a dialog of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from core.counted import counted
from transformer_viz.drawing.theme import GRID
from transformer_viz.training.run import Run
from transformer_viz.widgets.number_boxes import WholeBox
from transformer_viz.widgets.question_box import QuestionBox

USUAL_AVERAGE = 5


def ask_for_steps(run: Run, parent: QWidget, then: Callable[[int], None]) -> None:
    """Ask up to which step a finished run is to be trained further."""
    label = f"{run.name} has done {counted(run.step, 'step')}. Continue to step:"
    dialog = NumberQuestion(
        "Train further", label, run.step + 1, 2_000_000_000, 2 * run.step, parent
    )
    dialog.answered.connect(then)
    dialog.open()


def ask_for_count(run: Run, parent: QWidget, then: Callable[[int], None]) -> None:
    """Ask how many of the last checkpoints to average."""
    there = len(run.checkpoints())
    label = (
        f"{run.name} has {counted(there, 'checkpoint')}. How many of the last ones should be "
        "averaged?"
    )
    dialog = NumberQuestion(
        "Average checkpoints", label, 1, there, min(there, USUAL_AVERAGE), parent
    )
    dialog.answered.connect(then)
    dialog.open()


def ask_to_delete(runs: Sequence[Run], parent: QWidget, then: Callable[[], None]) -> None:
    """Whether to move runs to the trash; whatever else lies in their folders stays."""
    _ask_to_delete(
        f"Delete {_named(runs)} with all checkpoints?",
        "Its own files go to the trash; other files in the folder stay.",
        "&Delete",
        runs,
        parent,
        then,
    )


def ask_to_delete_for_good(runs: Sequence[Run], parent: QWidget, then: Callable[[], None]) -> None:
    """Whether to delete runs that can't be moved to the trash; it can't be undone."""
    _ask_to_delete(
        f"{_named(runs)} cannot be moved to the trash. Delete for good?",
        "This cannot be undone. Other files in the folder stay.",
        "&Delete for good",
        runs,
        parent,
        then,
    )


def kept_note(run: Run, kept: Sequence[Path]) -> str:
    """A sentence on what stays where a run was."""
    first, more = kept[0].relative_to(run.path), len(kept) - 1
    return (
        f"{run.name} is deleted; {run.path} stays, because other files are in it: {first}"
        f"{f' and {more:,} more' if more else ''}."
    )


def _named(runs: Sequence[Run]) -> str:
    return runs[0].name if len(runs) == 1 else counted(len(runs), "run")


def _ask_to_delete(
    text: str,
    consequence: str,
    button: str,
    runs: Sequence[Run],
    parent: QWidget,
    then: Callable[[], None],
) -> None:
    details = "\n".join([*(str(run.path) for run in runs), consequence])
    box = QuestionBox("Delete", text, details, parent)
    delete = box.addButton(button, QMessageBox.ButtonRole.DestructiveRole)
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
