"""What a message box says stands there as it is, whatever markup a name looks like."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from transformer_viz.widgets.question_box import QuestionBox

ROOT = Path(__file__).resolve().parents[3]
NAME = "run <b>hi<br>&amp;"


def test_names_stand_as_they_are(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    box = QuestionBox("Delete", f"Delete {NAME}?", f"/runs/{NAME}", parent)
    labels = [label for label in box.findChildren(QLabel) if label.text()]
    assert {label.text() for label in labels} == {f"Delete {NAME}?", f"/runs/{NAME}"}
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in labels)


def test_there_are_no_other_message_boxes() -> None:
    made = [
        path.name
        for path in (ROOT / "transformer_viz").rglob("*.py")
        if "QMessageBox(" in path.read_text(encoding="utf-8")
    ]
    assert made == []
