"""The Ablation view, on a session whose answers a test makes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QObject, QPoint, Qt, Signal
from pytestqt.qtbot import QtBot

from core.heads import EVEN
from core.statistics.leaks import leaks
from core.statistics.rows import head_statistics
from core.switches import INTACT, Scaling, Switches
from core.trace.trace import AttentionKind, ComputedAttention, Head, Trace
from transformer_viz.drawing.theme import DARK
from transformer_viz.gates.ablation import NO_MODEL, Ablation, loss
from transformer_viz.gates.gating import Change
from transformer_viz.gates.spread_dial import WIDEST
from transformer_viz.state.session import Session

D = AttentionKind.DECODER_SELF
OFF = Switches(scaling=Scaling.OFF)


class Desk(QObject):
    """What the view knows of `Gating`."""

    changed = Signal()
    change: Change | None = None


@pytest.fixture
def desk(qapp: object) -> Desk:
    return Desk()


@pytest.fixture
def view(session: Session, desk: Desk, show, qtbot: QtBot) -> Ablation:
    view = show(Ablation(session, desk), 900, 600)
    qtbot.waitUntil(lambda: bool(view.canvas.shown.heads))
    return view


def switched(trace: Trace, switches: Switches) -> Trace:
    """The same queries and keys, as a model so switched would have used them."""
    attention = {
        kind: replace(one, scaling=switches.scaling, causal=one.causal and switches.mask)
        for kind, one in trace.attention.items()
        if isinstance(one, ComputedAttention)
    }
    logs = np.full(len(trace.predicted_tokens), -2.0, np.float32)
    return replace(trace, attention=attention, switches=switches, log_probabilities=logs)


def answer(session: Session, desk: Desk, before: Trace, switches: Switches) -> Trace:
    now = switched(before, switches)
    session.set_trace(now)
    desk.change = Change(session.gates, switches, before, now, now)
    desk.changed.emit()
    return now


def test_intact_heads_lie_on_the_diagonal(session: Session, view: Ablation) -> None:
    for head, bits in view.canvas.shown.heads.items():
        assert bits.before == bits.now == head_statistics(session.trace, *head)["entropy"]
        point = view.canvas.point_of(head)
        assert view.canvas.head_at(point) is not None
    assert not view.restore.isEnabled()


def test_a_switch_shows_each_head_before_and_now_and_one_act_restores(
    session: Session, desk: Desk, view: Ablation, qtbot: QtBot
) -> None:
    before = session.trace
    qtbot.mouseClick(view.scalings.button(1), Qt.MouseButton.LeftButton)
    assert session.switches == OFF
    heads = view.canvas.shown.heads
    now = answer(session, desk, before, OFF)
    qtbot.waitUntil(lambda: view.canvas.shown.heads is not heads)
    for one, bits in view.canvas.shown.heads.items():
        assert bits.before == pytest.approx(head_statistics(before, *one)["entropy"])
        assert bits.now == pytest.approx(head_statistics(now, *one)["entropy"])
    assert f"{loss(before):.3f} → 2.000 nats per token" in view.statement.text()
    assert loss(now) == pytest.approx(2.0)
    assert "→" in view.canvas.accessibleDescription()
    qtbot.mouseClick(view.even, Qt.MouseButton.LeftButton)
    assert set(session.gates.values()) == {EVEN}
    qtbot.mouseClick(view.restore, Qt.MouseButton.LeftButton)
    assert session.is_intact
    assert session.switches == INTACT


def test_without_the_mask_the_leak_is_named(
    session: Session, desk: Desk, view: Ablation, qtbot: QtBot
) -> None:
    before = session.trace
    qtbot.mouseClick(view.masks.button(1), Qt.MouseButton.LeftButton)
    now = answer(session, desk, before, Switches(mask=False))
    qtbot.waitUntil(lambda: "The leak" in view.facts.text())
    found = leaks(now).values()
    later = sum(one.later for one in found) / len(found)
    assert f"put {100 * later:.0f}% of their weight on later tokens" in view.facts.text()
    assert "trained with the mask" in view.facts.text()
    assert now.allowed(D).all()


def test_points_and_keys_choose_heads(session: Session, view: Ablation, qtbot: QtBot) -> None:
    head = Head(D, 1, 1)
    point = view.canvas.point_of(head)
    qtbot.mouseClick(
        view.canvas, Qt.MouseButton.LeftButton, pos=QPoint(round(point.x()), round(point.y()))
    )
    assert session.selection.primary in view.canvas.shown.heads
    session.select(**head._asdict())
    qtbot.keyClick(view.canvas, Qt.Key.Key_Left)
    assert session.selection.primary == Head(D, 1, 0)
    qtbot.keyClick(view.canvas, Qt.Key.Key_Down)
    assert session.selection.primary == head


def test_a_trace_from_a_file_cannot_be_ablated(session: Session, view: Ablation) -> None:
    trace = session.trace
    foreign = tuple(replace(token, id=-1) for token in trace.source_tokens)
    session.set_trace(replace(trace, source_tokens=foreign))
    assert not view.controls.isEnabled()
    assert view.statement.text() == NO_MODEL
    assert not view.has_picture


def test_it_is_drawn_in_the_dark(view: Ablation) -> None:
    view.apply_theme(DARK)
    image = view.canvas.grab().toImage()
    columns, rows = range(0, image.width(), 3), range(0, image.height(), 3)
    colors = {image.pixelColor(x, y).name() for x in columns for y in rows}
    assert DARK.paper in colors
    assert len(colors) > 3


def test_the_dial_shows_why_scores_are_divided(view: Ablation, qtbot: QtBot) -> None:
    qtbot.mouseClick(view.why, Qt.MouseButton.LeftButton)
    dial = view.dial
    assert dial.isVisible()
    assert not view.canvas.isVisible()
    assert dial.canvas.d_k == 64
    assert "√d_k = 8.00" in dial.canvas.statements()[0]
    dial.slider.setValue(0)
    assert (dial.canvas.d_k, dial.box.value()) == (1, 1)
    dial.slider.setFocus()
    qtbot.keyClick(dial.slider, Qt.Key.Key_End)
    assert (dial.canvas.d_k, dial.box.value()) == (WIDEST, WIDEST)
    dial.box.setValue(100)
    assert dial.canvas.d_k == 100
    assert f"{dial.canvas.spread.sums.std():.2f}" in dial.canvas.accessibleDescription()


def test_the_dial_draws_again(view: Ablation, qtbot: QtBot) -> None:
    view.why.click()
    before = view.dial.canvas.spread.sums
    qtbot.mouseClick(view.dial.again, Qt.MouseButton.LeftButton)
    assert not np.array_equal(before, view.dial.canvas.spread.sums)
    assert view.dial.canvas.d_k == 64


def test_the_dial_needs_no_model_and_is_what_an_export_holds(desk: Desk, show) -> None:
    view = show(Ablation(Session(), desk), 900, 600)
    assert not view.has_picture
    view.why.click()
    assert view.has_picture
    assert view.export_name() == "scores with d_k 64"
    assert view.export_size() == view.dial.canvas.size()
