"""Notices that nobody has read yet."""

from pytestqt.qtbot import QtBot

from transformer_viz.shell.message_bar import MessageBar


def test_the_last_three_notices_are_shown_each_once(qtbot: QtBot) -> None:
    bar = MessageBar("Notice", "warning")
    qtbot.addWidget(bar)
    for text in ("One is gone.", "Two is gone.", "Two is gone.", "Three.", "Four."):
        bar.show_message(text)
    assert bar.text.split("\n") == ["Two is gone.", "Three.", "Four."]
    bar.close_message()
    bar.show_message("Five.")
    assert bar.text == "Five."


def test_what_is_no_longer_so_goes_and_the_rest_stays(qtbot: QtBot) -> None:
    bar = MessageBar("Notice", "warning")
    qtbot.addWidget(bar)
    bar.withdraw("a file")
    assert bar.isHidden()
    bar.show_message("It is no\nmodel.", "a file")
    bar.show_message("The disk is full.")
    bar.show_message("It is no\nmodel.", "a file")
    assert bar.text == "It is no\nmodel.\nThe disk is full."
    bar.withdraw("a file")
    assert bar.text == "The disk is full."
    bar.withdraw("")
    assert bar.isHidden()


def test_a_word_without_end_does_not_widen_the_window(qtbot: QtBot) -> None:
    bar = MessageBar("Notice", "warning")
    qtbot.addWidget(bar)
    bar.show_message("short")
    width = bar.minimumSizeHint().width()
    bar.show_message(f"/{'x' * 5_000} may not be read.")
    assert bar.minimumSizeHint().width() == width
