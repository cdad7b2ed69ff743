"""Notices that nobody has read yet."""

from pytestqt.qtbot import QtBot

from transformer_viz.views.message_bar import MessageBar


def test_the_last_three_notices_are_shown_each_once(qtbot: QtBot) -> None:
    bar = MessageBar("Notice", "warning")
    qtbot.addWidget(bar)
    for text in ("One is gone.", "Two is gone.", "Two is gone.", "Three.", "Four."):
        bar.show_message(text)
    assert bar.text.split("\n") == ["Two is gone.", "Three.", "Four."]
    bar.close_message()
    bar.show_message("Five.")
    assert bar.text == "Five."
