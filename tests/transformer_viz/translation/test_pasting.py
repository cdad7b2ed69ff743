"""Far more text than the field may hold is cut before it is laid out, and that is said."""

import pytest
from PySide6.QtCore import QMimeData
from pytestqt.qtbot import QtBot

from transformer_viz.state.session import MAX_CHARACTERS, Session
from transformer_viz.translation.source_field import SourceField
from transformer_viz.widgets.spotlight import Spotlight


@pytest.mark.parametrize("before", ["", "already here "])
@pytest.mark.parametrize("selected", [False, True])
def test_what_does_not_fit_is_cut(
    session: Session, qtbot: QtBot, before: str, selected: bool
) -> None:
    field = SourceField(session, Spotlight(session))
    qtbot.addWidget(field)
    said: list[str] = []
    field.cut.connect(said.append)
    field.set_text(before)
    if selected:
        field.editor.selectAll()
    else:
        field.editor.moveCursor(field.editor.textCursor().MoveOperation.End)
    data = QMimeData()
    data.setText("😀" * 500_000)
    field.editor.insertFromMimeData(data)
    kept = "" if selected else before
    assert field.text() == kept + "😀" * (MAX_CHARACTERS - len(kept))
    left_out = 500_000 - MAX_CHARACTERS + len(kept)
    assert said == [
        f"The text was cut: the limit is 20,000 characters, and the last {left_out:,} were left "
        "out."
    ]


def test_what_fits_is_whole(session: Session, qtbot: QtBot) -> None:
    field = SourceField(session, Spotlight(session))
    qtbot.addWidget(field)
    said: list[str] = []
    field.cut.connect(said.append)
    field.set_text("")
    data = QMimeData()
    data.setText("a" * MAX_CHARACTERS)
    field.editor.insertFromMimeData(data)
    assert field.text() == "a" * MAX_CHARACTERS
    assert said == []
