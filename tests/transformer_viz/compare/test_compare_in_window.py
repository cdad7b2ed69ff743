"""The minimal pair, one click away: from the samples to the map of what changed."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.transformer_viz.shell.test_window import Shown
from tests.transformer_viz.stage import OTHER
from transformer_viz.compare.compare import Compare
from transformer_viz.state.bundled import minimal_pairs
from transformer_viz.state.session import Phase

TIRED, WIDE = minimal_pairs()[0]


@pytest.fixture
def shown(qapp: QApplication, qtbot: QtBot) -> Iterator[Shown]:
    made = Shown(qapp, qtbot)
    yield made
    made.backend.gate.set()
    made.window.close()
    made.window.deleteLater()


def compared(shown: Shown) -> tuple[str, str] | None:
    comparison = shown.controller.comparison
    sides = comparison.sides
    if sides is None or comparison.status.phase is not Phase.READY:
        return None
    return sides.a.text, sides.b.text


def test_a_pair_among_the_samples(shown: Shown, qtbot: QtBot) -> None:
    menu = shown.window.samples.menu()
    entry = next(one for one in menu.actions() if one.text() == "Compare: tired / wide")
    entry.trigger()
    qtbot.waitUntil(lambda: compared(shown) == (TIRED, WIDE))
    assert shown.window.stage.current == "compare"
    assert shown.window.source.text() == TIRED
    assert shown.window.stage.of(Compare).maps.isVisible()
    assert shown.window.stage.of(Compare).translations.differing() == [("TIRED.", "WIDE.")]


def test_the_other_way_round(shown: Shown, qtbot: QtBot) -> None:
    shown.window.compare_pair(minimal_pairs()[0])
    qtbot.waitUntil(lambda: compared(shown) == (TIRED, WIDE))
    view = shown.window.stage.of(Compare)
    qtbot.mouseClick(view.bar.swap, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: compared(shown) == (WIDE, TIRED))
    assert shown.window.source.text() == WIDE


def test_swapping_models_loads_the_other_into_the_window(shown: Shown, qtbot: QtBot) -> None:
    shown.window.show_view("compare")
    comparison = shown.controller.comparison
    comparison.choose_model(OTHER)
    qtbot.waitUntil(lambda: compared(shown) == ("a b it c", "a b it c"))
    view = shown.window.stage.of(Compare)
    qtbot.mouseClick(view.bar.swap, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: compared(shown) is not None and comparison.sides.model_a.path == OTHER)
    assert shown.session.model is not None
    assert shown.session.model.path == OTHER
    assert view.bar.model.text() == "good"


def test_a_second_sentence_that_fails_is_said_there_alone(shown: Shown, qtbot: QtBot) -> None:
    shown.window.show_view("compare")
    view = shown.window.stage.of(Compare)
    qtbot.keyClicks(view.bar.text, "boom")
    qtbot.waitUntil(lambda: shown.controller.comparison.status.phase is Phase.FAILED)
    assert shown.phase is Phase.READY
    assert shown.window.notice.isHidden()
