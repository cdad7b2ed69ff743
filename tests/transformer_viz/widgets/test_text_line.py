"""What may be dropped into a line of text."""

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent
from pytestqt.qtbot import QtBot

from transformer_viz.widgets.text_line import TextLine


@pytest.mark.parametrize(("urls", "taken"), [([], True), (["file:///models/opus"], False)])
def test_text_is_taken_and_a_file_is_not(qtbot: QtBot, urls: list[str], taken: bool) -> None:
    line = TextLine()
    qtbot.addWidget(line)
    data = QMimeData()
    data.setText("/models/opus")
    if urls:
        data.setUrls([QUrl(url) for url in urls])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    event = QDragEnterEvent(QPoint(5, 5), copy, data, left, Qt.KeyboardModifier.NoModifier)
    line.dragEnterEvent(event)
    assert event.isAccepted() is taken
