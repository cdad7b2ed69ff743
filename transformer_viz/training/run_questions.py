"""What the panel asks before it does something with runs; each question is a dialog of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QMessageBox, QWidget

from transformer_viz.training.run import Run

USUAL_AVERAGE = 5


def ask_for_steps(run: Run, parent: QWidget, then: Callable[[int], None]) -> None:
    """Until which update a finished run is to be trained on."""
    label = f"{run.name} has done {run.step:,} updates. Train on until update:"
    dialog = _number("Train on", label, run.step + 1, 2_000_000_000, 2 * run.step, parent)
    dialog.intValueSelected.connect(then)
    dialog.open()


def ask_for_count(run: Run, parent: QWidget, then: Callable[[int], None]) -> None:
    """How many of the last checkpoints are to be averaged."""
    there = len(run.checkpoints())
    label = f"{run.name} has {there} checkpoints. Average how many of the last:"
    dialog = _number("Average checkpoints", label, 1, there, min(there, USUAL_AVERAGE), parent)
    dialog.intValueSelected.connect(then)
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


def _number(
    title: str, label: str, least: int, most: int, usual: int, parent: QWidget
) -> QInputDialog:
    dialog = QInputDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setInputMode(QInputDialog.InputMode.IntInput)
    dialog.setIntRange(least, most)
    dialog.setIntValue(usual)
    return dialog
