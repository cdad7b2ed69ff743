from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.trace.trace import AttentionKind
from tests.transformer_viz.stage import GOOD, FakeBackend, Stage, word_trace
from tests.transformer_viz.training.fake_run import make_run
from transformer_viz.engine.worker import Context
from transformer_viz.state.session import ModelInfo
from transformer_viz.training.follow import Follow
from transformer_viz.training.run import Run


@pytest.fixture
def loads(monkeypatch) -> list[str]:
    """The names of the checkpoints that were loaded; each has a head that it names for "it"."""
    loaded: list[str] = []
    load = FakeBackend.load

    def any_load(self: FakeBackend, path: Path, context: Context) -> ModelInfo:
        if path == GOOD:
            return load(self, path, context)
        loaded.append(path.name)
        self.busy.set()
        self.gate.wait(10)
        context.check()
        if not path.exists():
            return load(self, path, context)  # which fails
        provenance = load(self, GOOD, context).provenance
        return ModelInfo(path.stem, path, 2, 2, 3, 3, 8, 100, provenance)

    monkeypatch.setattr(FakeBackend, "load", any_load)
    return loaded


@pytest.fixture
def stage(qtbot, loads: list[str]) -> Iterator[Stage]:
    stage = Stage()
    stage.controller.open(GOOD)
    stage.controller.translate("the animal slept")
    qtbot.waitUntil(stage.shows("the animal slept"))
    yield stage
    stage.backend.gate.set()
    stage.controller.close()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = make_run(tmp_path / "one")
    save(run, 100)
    return run


@pytest.fixture
def follow(qtbot, stage: Stage, run: Run) -> Follow:
    follow = Follow(stage.session, stage.controller)
    qtbot.addWidget(follow)
    follow.show()
    follow.show_runs([run])
    return follow


def save(run: Run, step: int) -> None:
    run.folder.checkpoint(step).write_bytes(b"")
    run.poll()


def model(stage: Stage) -> str:
    assert stage.session.model is not None
    return stage.session.model.name


def switch(follow: Follow) -> None:
    QTest.mouseClick(follow, Qt.MouseButton.LeftButton)


def test_nothing_is_opened_until_it_is_switched_on(
    stage: Stage, follow: Follow, run: Run, loads: list[str], qtbot
) -> None:
    save(run, 200)
    qtbot.wait(30)
    assert loads == []
    assert model(stage) == "good"


def test_switched_on_it_opens_the_newest_and_every_new_one(
    stage: Stage, follow: Follow, run: Run, qtbot
) -> None:
    switch(follow)
    qtbot.waitUntil(lambda: model(stage) == "step-000100")
    qtbot.waitUntil(stage.shows("the animal slept"))
    save(run, 200)
    qtbot.waitUntil(lambda: model(stage) == "step-000200")


def test_the_keyboard_switches_it(stage: Stage, follow: Follow, qtbot) -> None:
    follow.setFocus()
    QTest.keyClick(follow, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: model(stage) == "step-000100")


def test_text_and_selection_stay(stage: Stage, follow: Follow, run: Run, qtbot) -> None:
    stage.session.select(kind=AttentionKind.CROSS, layer=1, head=1, query=2)
    selection, before = stage.session.selection, len(stage.traces)
    switch(follow)
    qtbot.waitUntil(lambda: len(stage.traces) > before)
    assert model(stage) == "step-000100"
    assert stage.session.text == "the animal slept"
    assert stage.session.selection == selection


def test_it_is_not_remembered_for_the_next_start(stage: Stage, follow: Follow, qtbot) -> None:
    remembered = stage.controller.settings
    switch(follow)
    qtbot.waitUntil(lambda: model(stage) == "step-000100")
    assert stage.controller.settings == remembered


def test_stale_ones_are_skipped(
    stage: Stage, follow: Follow, run: Run, loads: list[str], qtbot
) -> None:
    stage.backend.busy.clear()
    stage.backend.gate.clear()
    switch(follow)
    qtbot.waitUntil(stage.backend.busy.is_set)
    for step in (200, 300, 400):
        save(run, step)
    stage.backend.gate.set()
    qtbot.waitUntil(lambda: model(stage) == "step-000400")
    assert loads == ["step-000100.safetensors", "step-000400.safetensors"]


def test_one_that_is_gone_again_is_passed_over_in_silence(
    stage: Stage, follow: Follow, run: Run, loads: list[str], qtbot
) -> None:
    stage.backend.busy.clear()
    stage.backend.gate.clear()
    switch(follow)
    qtbot.waitUntil(stage.backend.busy.is_set)
    run.folder.checkpoint(100).unlink()
    save(run, 200)
    stage.backend.gate.set()
    qtbot.waitUntil(lambda: model(stage) == "step-000200")
    assert stage.notices == []


def test_another_model_opened_by_hand_switches_it_off(
    stage: Stage, follow: Follow, run: Run, loads: list[str], qtbot
) -> None:
    switch(follow)
    qtbot.waitUntil(lambda: model(stage) == "step-000100")
    stage.controller.open(GOOD)
    qtbot.waitUntil(lambda: model(stage) == "good")
    assert not follow.isChecked()
    save(run, 200)
    qtbot.wait(30)
    assert "step-000200.safetensors" not in loads


def test_switched_off_it_stays_where_it_is(
    stage: Stage, follow: Follow, run: Run, loads: list[str], qtbot
) -> None:
    switch(follow)
    qtbot.waitUntil(lambda: model(stage) == "step-000100")
    switch(follow)
    save(run, 200)
    qtbot.wait(30)
    assert model(stage) == "step-000100"


def test_without_a_run_there_is_nothing_to_follow(follow: Follow) -> None:
    follow.show_runs([])
    assert not follow.isEnabled()


def test_a_run_that_is_gone_is_not_followed(stage: Stage, follow: Follow, run: Run, qtbot) -> None:
    switch(follow)
    qtbot.waitUntil(lambda: model(stage) == "step-000100")
    follow.show_runs([])
    follow.show_list([run])
    assert follow.isChecked()
    follow.show_list([])
    assert not follow.isChecked()
    assert not follow.isEnabled()


def test_choosing_another_run_leaves_the_explorer_alone(
    stage: Stage, follow: Follow, run: Run, tmp_path: Path, qtbot
) -> None:
    switch(follow)
    qtbot.waitUntil(lambda: model(stage) == "step-000100")
    qtbot.waitUntil(stage.shows("the animal slept"))
    other = make_run(tmp_path / "two")
    save(other, 700)
    follow.show_runs([other])
    save(run, 200)
    qtbot.waitUntil(lambda: model(stage) == "step-000200")
    assert follow.text() == "Follow: one at step 200"
    switch(follow)
    switch(follow)
    qtbot.waitUntil(lambda: model(stage) == "step-000700")


def test_it_ends_what_shows_a_trace_from_a_file(
    stage: Stage, follow: Follow, run: Run, qtbot
) -> None:
    """No checkpoint would change that picture."""
    stage.controller.show_trace(word_trace("it was tired"), Path("a.npz"))
    with qtbot.waitSignal(follow.begun):
        switch(follow)
    qtbot.waitUntil(lambda: model(stage) == "step-000100")
    qtbot.waitUntil(stage.shows("it was tired"))
    assert follow.isChecked()
    assert stage.controller.trace_file is None
    assert stage.session.trace.text == "it was tired"


def test_a_trace_that_is_opened_switches_it_off(
    stage: Stage, follow: Follow, run: Run, loads: list[str], qtbot
) -> None:
    switch(follow)
    qtbot.waitUntil(lambda: model(stage) == "step-000100")
    stage.controller.show_trace(word_trace("it was tired"), Path("a.npz"))
    assert not follow.isChecked()
    save(run, 200)
    qtbot.wait(30)
    assert loads == ["step-000100.safetensors"]


def test_it_names_the_run_and_the_step(stage: Stage, follow: Follow, run: Run, qtbot) -> None:
    assert follow.text() == "Follow"
    switch(follow)
    assert follow.text() == "Follow: one at step 100"
    qtbot.waitUntil(lambda: model(stage) == "step-000100")
    save(run, 200)
    qtbot.waitUntil(lambda: follow.text() == "Follow: one at step 200")
    switch(follow)
    assert follow.text() == "Follow"
