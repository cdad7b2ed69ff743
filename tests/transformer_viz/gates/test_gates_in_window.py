"""Heads switched off in the whole window: keys, menu, bar, marks, pruning."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from core.heads import EVEN
from core.switches import Scaling, Switches
from core.trace.trace import AttentionKind, Head
from tests.transformer_viz.gates.test_gate_effect import answer
from tests.transformer_viz.shell.test_window import Shown
from transformer_viz.gates import gate_commands
from transformer_viz.gates.gate_bar import FROM_A_FILE, SAME
from transformer_viz.gates.gate_effect import read_effect
from transformer_viz.state.gates import ALL_ON

E, C = AttentionKind.ENCODER_SELF, AttentionKind.CROSS
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
HEAD = Head(E, 1, 2)


@pytest.fixture
def shown(qapp: QApplication, qtbot: QtBot) -> Iterator[Shown]:
    made = Shown(qapp, qtbot)
    made.session.select(kind=HEAD.kind, layer=HEAD.layer, head=HEAD.head)
    yield made
    made.backend.gate.set()
    made.window.close()
    made.window.deleteLater()


def wait_for_change(shown: Shown) -> None:
    gating = shown.controller.gating
    shown.qtbot.waitUntil(
        lambda: (
            gating.change is not None
            and gating.change.gates == shown.session.gates
            and gating.change.kept is not None
        )
    )


def test_keys_switch_the_selected_head(shown: Shown) -> None:
    shown.press(Qt.Key.Key_M, CONTROL)
    assert shown.session.gates == {HEAD: 0.0}
    shown.press(Qt.Key.Key_M, CONTROL)
    assert shown.session.gates == ALL_ON
    shown.press(Qt.Key.Key_M, CONTROL | SHIFT)
    assert shown.session.gates == {Head(E, 1, 0): 0.0, Head(E, 1, 1): 0.0}
    shown.press(Qt.Key.Key_A, CONTROL | SHIFT)
    assert shown.session.gates == ALL_ON


def test_heads_are_made_even_one_or_all(shown: Shown) -> None:
    shown.press(Qt.Key.Key_E, CONTROL | SHIFT)
    assert shown.session.gates == {HEAD: EVEN}
    assert shown.window.inspector.gates.even.isChecked()
    assert shown.window.gate_bar.title.text() == "Encoder self 2.3 even"
    shown.press(Qt.Key.Key_Period, CONTROL)
    assert shown.session.gates == {HEAD: 1.1}
    shown.window.commands["gates_even"].trigger()
    trace = shown.session.trace
    assert trace is not None
    assert len(shown.session.gates) == sum(len(trace.every_head(kind)) for kind in trace.kinds)
    assert set(shown.session.gates.values()) == {EVEN}
    assert shown.window.gate_bar.title.text() == "All heads even"
    shown.press(Qt.Key.Key_A, CONTROL | SHIFT)
    assert shown.session.gates == ALL_ON
    shown.qtbot.mouseClick(shown.window.inspector.gates.even, Qt.MouseButton.LeftButton)
    assert shown.session.gates == {HEAD: EVEN}


def test_scaling_and_mask_are_switched_and_come_back_in_one_act(shown: Shown) -> None:
    session, bar, commands = shown.session, shown.window.gate_bar, shown.window.commands
    commands["scaling_off"].trigger()
    shown.press(Qt.Key.Key_M, CONTROL)
    commands["mask_off"].trigger()
    broken = Switches(scaling=Scaling.OFF, mask=False)
    shown.qtbot.waitUntil(lambda: shown.session.trace.switches == broken)
    assert session.gates == {HEAD: 0.0}
    said = "Scaling off: softmax(q · k) · Decoder mask off · Encoder self 2.3 off"
    assert bar.title.text() == said
    assert commands["mask_off"].isChecked()
    assert not commands["prune"].isEnabled(), "it would not translate like what is shown"
    assert not commands["gates_effect"].isEnabled()
    restore = next(one for one in bar.findChildren(QPushButton) if one.text().startswith("Rest"))
    shown.qtbot.mouseClick(restore, Qt.MouseButton.LeftButton)
    assert session.is_intact
    assert not bar.isVisible()
    assert commands["scaling_on"].isChecked()
    shown.qtbot.waitUntil(lambda: shown.session.trace.switches.intact)


def test_switches_can_be_undone_and_are_never_remembered(shown: Shown) -> None:
    session = shown.session
    session.set_switches(Switches(scaling=Scaling.TWICE))
    shown.window.commands["undo"].trigger()
    assert session.switches.intact
    shown.window.commands["redo"].trigger()
    assert session.switches.scaling is Scaling.TWICE
    session.set_model(replace(session.model, name="another"))
    assert session.switches.intact


def test_keys_scale_within_bounds(shown: Shown) -> None:
    for _ in range(3):
        shown.press(Qt.Key.Key_Comma, CONTROL)
    assert shown.session.gates == {HEAD: 0.7}
    for _ in range(9):
        shown.press(Qt.Key.Key_Comma, CONTROL)
    assert shown.session.gates == {HEAD: 0.0}
    for _ in range(25):
        shown.press(Qt.Key.Key_Period, CONTROL)
    assert shown.session.gates == {HEAD: 2.0}


def test_the_bar_says_what_is_off_and_what_changed(shown: Shown) -> None:
    bar = shown.window.gate_bar
    assert not bar.isVisible()
    shown.press(Qt.Key.Key_M, CONTROL)
    wait_for_change(shown)
    assert bar.isVisible()
    assert bar.title.text() == "Encoder self 2.3 off"
    assert bar.words.differing() == [("", "OFF")]
    assert bar.numbers.text() == (
        "log-probability: before −2.50 · now −3.00 · old translation now −7.50"
    )
    shown.session.set_gates({HEAD: 0.5})
    wait_for_change(shown)
    assert bar.title.text() == "Encoder self 2.3 ×0.5"
    assert bar.message.text() == SAME
    assert not bar.words.isVisible()
    assert bar.numbers.text() == "log-probability: before −2.50 · now −2.50"


def test_changed_tokens_are_marked_in_the_translation(shown: Shown) -> None:
    chips = shown.window.chips
    shown.press(Qt.Key.Key_M, CONTROL)
    wait_for_change(shown)
    assert chips._changed == {4: None}
    shown.session.select(kind=C, query=4)
    assert "with all heads on: nothing" in chips.accessibleDescription()
    shown.press(Qt.Key.Key_A, CONTROL | SHIFT)
    shown.qtbot.waitUntil(lambda: shown.controller.gating.change is None)
    assert chips._changed == {}


def test_a_button_of_the_bar_restores_all(shown: Shown) -> None:
    shown.press(Qt.Key.Key_M, CONTROL)
    (button,) = (
        one
        for one in shown.window.gate_bar.findChildren(QPushButton)
        if one.text() == "All heads on"
    )
    shown.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert shown.session.gates == ALL_ON
    assert not shown.window.gate_bar.isVisible()


def test_the_inspector_switches_the_selected_heads(shown: Shown) -> None:
    controls = shown.window.inspector.gates
    assert controls.on.isChecked()
    shown.qtbot.mouseClick(controls.off, Qt.MouseButton.LeftButton)
    assert shown.session.gates == {HEAD: 0.0}
    assert (controls.on.isChecked(), controls.off.isChecked()) == (False, True)
    shown.qtbot.mouseClick(controls.alone, Qt.MouseButton.LeftButton)
    assert shown.session.gates == {Head(E, 1, 0): 0.0, Head(E, 1, 1): 0.0}
    assert controls.alone.isChecked()
    shown.qtbot.mouseClick(controls.alone, Qt.MouseButton.LeftButton)
    assert shown.session.gates == ALL_ON
    controls.factor.setFocus()
    controls.factor.stepDown()
    assert shown.session.gates == {HEAD: 0.9}
    shown.session.select(layer=0, head=0)
    assert controls.factor.value() == 1.0
    assert controls.on.isChecked()


def test_several_heads_are_switched_together(shown: Shown) -> None:
    shown.session.select(layer=1, head=2, others=((0, 1),))
    shown.press(Qt.Key.Key_M, CONTROL)
    assert shown.session.gates == {Head(E, 0, 1): 0.0, HEAD: 0.0}


def test_a_right_click_selects_the_head_and_opens_the_menu(shown: Shown) -> None:
    picture = shown.window.heads_map.picture
    menu = shown.window.commands.menu("Hea&d", "Switch o&ff")
    point = picture._layout.rect(Head(E, 0, 1)).center() - picture.offset()
    place = picture.viewport().mapToGlobal(point)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, place)
    QApplication.sendEvent(picture.viewport(), event)
    assert shown.session.selection.heads == (Head(E, 0, 1),)
    assert menu.isVisible()
    menu.close()


def test_the_menu_key_opens_it_beside_the_selected_head(shown: Shown) -> None:
    picture = shown.window.heads_map.picture
    places: list[QPoint] = []
    picture.menuWanted.disconnect()
    picture.menuWanted.connect(places.append)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
    QApplication.sendEvent(picture.viewport(), event)
    corner = picture._layout.rect(HEAD).bottomLeft() - picture.offset()
    assert places == [picture.viewport().mapToGlobal(corner)]
    assert shown.session.selection.heads == (HEAD,)


def test_the_heads_map_marks_and_names_gates(shown: Shown) -> None:
    picture = shown.window.heads_map.picture
    before = picture.grab().toImage()
    shown.session.set_gates({HEAD: 0.0})
    assert "Encoder self · layer 2 · head 3, off" in picture.accessibleDescription()
    off = picture.grab().toImage()
    shown.session.set_gates({HEAD: 0.5})
    assert "×0.5" in picture.accessibleDescription()
    assert len({bytes(one.constBits()) for one in (before, off, picture.grab().toImage())}) == 3


def test_the_effect_is_shown_where_it_was_measured(shown: Shown) -> None:
    line, effect = shown.window.gate_bar.effect, shown.controller.effect
    shown.session.set_gates({HEAD: 0.0})
    assert line.running.isVisible()
    effect.cancel()
    assert not line.isVisible()
    effect.effect = read_effect(answer(loss=0.75, pronoun={"both": 50.0}))
    effect.changed.emit()
    figures = {one.accessibleName() for one in line.figures.children() if one.isWidgetType()}
    assert "loss 0.1000 → 0.7500" in figures
    assert "on 300 test sentences 12% changed" in figures
    assert "“it” right 50 → 50%" in figures
    assert "importance Encoder self 2.3: 0.0125" in figures
    assert line.figures.isVisible()
    assert not line.running.isVisible()


def test_a_button_measures_on_more_sentences(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    effect, command = shown.controller.effect, shown.window.commands["gates_effect"]
    asked: list[list[str]] = []
    monkeypatch.setattr(effect._child, "run", asked.append)
    shown.session.set_gates({HEAD: 0.0})
    assert not command.isEnabled(), "it is being measured, or soon will be"
    effect.cancel()
    for sentences in (300, 3_000):
        (button,) = (
            one
            for one in shown.window.gate_bar.findChildren(QPushButton)
            if one.text() == f"Effect on {sentences:,} sentences"
        )
        shown.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert f"--sentences={sentences}" in asked[-1]
        told = f"Measuring the effect on {sentences:,} test sentences…"
        assert shown.window.gate_bar.effect.told.text() == told
        effect._child.finished.emit(answer())
    assert not command.isEnabled(), "there is nothing more to measure"


def test_a_model_of_other_languages_is_measured_on_pairs_of_its_own(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    effect, command = shown.controller.effect, shown.window.commands["gates_effect"]
    asked: list[list[str]] = []
    monkeypatch.setattr(effect._child, "run", asked.append)
    foreign = {"imported": "marian", "languages": ["es", "fr"]}
    shown.session.set_model(replace(shown.session.model, provenance=foreign), {HEAD: 0.0})
    assert not effect.running
    assert command.text() == "&Effect on pairs…"
    files = ["/a/x.es", "/a/x.fr"]
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_arguments: (files, ""))
    command.trigger()
    assert "--corpus=/a/x.es,/a/x.fr" in asked[0]
    told = "Measuring the effect on 300 sentences of x.es, x.fr…"
    assert shown.window.gate_bar.effect.told.text() == told


def test_a_trace_from_a_file_cannot_be_gated(shown: Shown, tmp_path: Path) -> None:
    shown.session.set_gates({HEAD: 0.0})
    wait_for_change(shown)
    trace = shown.session.trace
    tokens = tuple(replace(token, id=-1) for token in trace.source_tokens)
    foreign = replace(trace, source_tokens=tokens, gates={})
    shown.controller.show_trace(foreign, tmp_path / "a.npz")
    assert shown.window.gate_bar.message.text() == FROM_A_FILE
    picture = shown.window.heads_map.picture
    assert "off" not in picture.accessibleDescription(), "it was made with all heads on"
    gated = replace(foreign, gates={HEAD: 0.5})
    shown.controller.show_trace(gated, tmp_path / "b.npz")
    assert "×0.5" in picture.accessibleDescription()
    assert shown.session.status.message == "trace from b.npz, Encoder self 2.3 ×0.5"
    assert not shown.window.inspector.gates.isEnabled()
    assert not shown.window.commands["gate_off"].isEnabled()
    assert shown.window.commands["gates_open"].isEnabled()


# Pruning


@pytest.fixture
def pruned(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What the process was asked for; it is never started."""
    asked: list[list[str]] = []
    monkeypatch.setattr(shown.window.gates._child, "run", asked.append)
    return asked


def test_only_heads_that_are_off_are_pruned(shown: Shown, pruned, tmp_path: Path) -> None:
    prune = shown.window.commands["prune"]
    assert not prune.isEnabled()
    shown.session.set_gates({HEAD: 0.5})
    assert not prune.isEnabled()
    shown.session.set_gates({HEAD: 0.0, Head(C, 0, 1): 0.5})
    assert prune.isEnabled()
    out = tmp_path / "small.safetensors"
    shown.window.gates.prune(out)
    assert pruned == [
        ["prune", "--model", "good.safetensors", "--head=encoder_self.1.2", "-o", str(out)]
    ]


def test_the_open_model_is_never_overwritten(
    shown: Shown, pruned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.safetensors").write_bytes(b"the model")
    shown.session.set_gates({HEAD: 0.0})
    shown.window.gates.prune(tmp_path / "good.safetensors")
    assert pruned == []
    assert shown.window.notice.text == gate_commands.SAME_FILE


def test_the_place_is_asked_for_and_the_file_offered(
    shown: Shown, pruned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(shown.controller, "open", opened.append)
    chosen = str(tmp_path / "small")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (chosen, ""))
    shown.session.set_gates({HEAD: 0.0})
    shown.window.commands["prune"].trigger()
    out = tmp_path / "small.safetensors"
    assert pruned[0][-1] == str(out)
    shown.window.gates._child.finished.emit(None)
    (box,) = shown.window.findChildren(QMessageBox)
    assert "small.safetensors has been saved" in box.text()
    box.buttons()[0].click()
    assert opened == [out]


def test_a_failed_pruning_is_said(shown: Shown, pruned) -> None:
    shown.window.gates._child.failed.emit("The disk is full.")
    assert shown.window.notice.text == "The disk is full."
