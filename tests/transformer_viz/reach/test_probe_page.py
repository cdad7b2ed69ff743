from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from core.analysis.interval import wilson_interval
from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.reach.test_distance_probe import Desk, answer, desk
from tests.transformer_viz.stage import texts
from transformer_viz.reach.distance_report import read_report
from transformer_viz.reach.probe_curves import column
from transformer_viz.reach.probe_page import ProbePage, curves
from transformer_viz.state.session import Phase, Status

__all__ = ["desk"]

E, D = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def page(desk: Desk, show: Callable) -> ProbePage:
    desk.open("good")
    return show(ProbePage(desk.session, desk.probe), 700, 600)


def test_before_it_is_measured_it_says_what_it_would_do(page: ProbePage, desk: Desk) -> None:
    assert any("How far does good reach?" in text for text in texts(page))
    assert not page.has_picture
    assert page.focus_part() is page.measure
    assert not page.relation.isVisible()


def test_measuring_shows_how_far_it_is_and_can_be_given_up(
    page: ProbePage, desk: Desk, qtbot: QtBot
) -> None:
    qtbot.mouseClick(page.measure, LEFT)
    assert any("Reading good.safetensors" in text for text in texts(page))
    desk.child.progressed.emit('{"done": 1500, "total": 6300, "seconds_left": 42.0}')
    assert any("1,500 of 6,300 sentences, 42 s left" in text for text in texts(page))
    assert page.bar.value() == round(1000 * 1500 / 6300)
    assert not page.measure.isVisible()
    qtbot.mouseClick(page.cancel, LEFT)
    assert desk.probe.running is None
    assert page.measure.isVisible()
    assert not page.bar.isVisible()


def test_a_failure_is_said(page: ProbePage, desk: Desk) -> None:
    desk.probe.measure()
    desk.child.failed.emit("There is not enough memory.")
    assert any("⚠ There is not enough memory." in text for text in texts(page))


def test_the_curves_are_those_of_the_chosen_relation(page: ProbePage, desk: Desk) -> None:
    desk.measure()
    assert [curve.y.tolist() for curve in page.curves.lines] == [
        pytest.approx([100, 90, 60]),
        pytest.approx([100, 80, 20]),
        pytest.approx([90, 70, 50]),
        pytest.approx([40, 30, 20]),
    ]
    assert page.curves.distances is not None
    assert page.curves.distances.trained is None
    assert page.curves.plot.shaded == ()
    assert not any("are held out from training" in text for text in texts(page))
    assert desk.session.model is not None
    desk.session.set_model(replace(desk.session.model, provenance={"data": ["grammar", "a.tsv"]}))
    desk.qtbot.waitUntil(lambda: page.curves.distances is not None)
    assert page.curves.distances is not None
    assert page.curves.distances.trained == 12
    assert [mark.text for mark in page.curves.plot.marks] == ["farther apart than in training"]
    assert any("are held out from training" in text for text in texts(page))
    page.relation.setCurrentIndex(1)
    assert [curve.label for curve in page.curves.lines] == [
        "model right",
        "best: Decoder self 1.1",
        "fixed distance",
    ]


def test_the_selected_head_has_its_curve(page: ProbePage, desk: Desk) -> None:
    desk.measure()
    desk.session.select(kind=E, layer=0, head=1)
    relation = read_report(json.dumps(answer())).relations[0]
    found = curves(relation, Head(E, 0, 1))
    assert [curve.label for curve in found][2] == "Encoder self 1.2"
    assert [curve.label for curve in page.curves.lines] == [curve.label for curve in found]
    np.testing.assert_array_equal(page.curves.lines[2].y, found[2].y)


def test_the_list_selects_heads_by_click_and_key(page: ProbePage, desk: Desk, qtbot: QtBot) -> None:
    desk.measure()
    rows = page.heads
    assert rows.heads == (Head(E, 1, 2), Head(E, 0, 1))
    qtbot.mouseClick(rows.viewport(), LEFT, pos=rows.row_rect(1).center())
    assert desk.session.selection.primary == Head(E, 0, 1)
    assert page.focus_part() is rows
    qtbot.keyClick(rows, Qt.Key.Key_Up)
    assert desk.session.selection.primary == Head(E, 1, 2)
    assert "0: 90" in rows.accessibleDescription()


def test_the_selected_head_is_in_view_with_as_many_better_ones_as_fit(
    page: ProbePage, desk: Desk, qtbot: QtBot
) -> None:
    said = answer()
    said["relations"][0]["heads"] = [
        {"kind": "encoder_self", "layer": 0, "head": number, "accuracy": [0.9 - number / 20] * 3}
        for number in range(12)
    ]
    desk.session.select(kind=E, layer=0, head=2)
    desk.probe.measure()
    desk.answer(json.dumps(said))
    rows = page.heads
    rows.setFixedHeight(2 * rows.row_height)
    qtbot.waitUntil(lambda: rows.row_rect(2).bottom() < rows.viewport().height())
    assert rows.row_rect(0).top() < 0
    rows.setFixedHeight(6 * rows.row_height)
    qtbot.waitUntil(lambda: rows.row_rect(0).top() == 0)


def test_curves_come_one_by_one_and_stay_when_it_is_cancelled(
    page: ProbePage, desk: Desk, qtbot: QtBot
) -> None:
    whole = answer()
    first, second = ({**whole, "relations": [one]} for one in whole["relations"])
    qtbot.mouseClick(page.measure, LEFT)
    desk.child.progressed.emit(json.dumps(first))
    assert page.has_picture
    assert [page.relation.itemData(row) for row in range(page.relation.count())] == ["coreference"]
    desk.child.progressed.emit(json.dumps(second))
    assert page.relation.currentData() == "coreference"
    page.relation.setCurrentIndex(1)
    assert page.current is not None
    assert page.current.name == "particle"
    qtbot.mouseClick(page.cancel, LEFT)
    assert page.has_picture
    assert any("Cancelled after 2 dependencies" in text for text in texts(page))
    desk.measure()
    assert page.relation.currentData() == "particle"
    assert not any("Cancelled after" in text for text in texts(page))


def test_bands_are_as_wide_as_so_few_sentences_make_them(page: ProbePage, desk: Desk) -> None:
    desk.measure()
    model, both, head, far = page.curves.lines
    for line in (model, head):
        expected = [wilson_interval(share / 100, 100) for share in line.y]
        np.testing.assert_allclose(line.band, 100 * np.array(expected))
    assert both.band is far.band is None


def test_a_model_that_is_mostly_wrong_anyway_is_said_to_be(page: ProbePage, desk: Desk) -> None:
    desk.measure()
    assert not any("says little" in text for text in texts(page))
    said = answer()
    said["relations"][0]["model"] = [0.03, 0.02, 0.0]
    desk.probe.measure()
    desk.answer(json.dumps(said))
    assert any("right in only 3%" in text for text in texts(page))
    assert any("says little about distance" in text for text in texts(page))


def test_without_a_model_it_says_so(desk: Desk, show: Callable) -> None:
    page = show(ProbePage(desk.session, desk.probe), 700, 600)
    assert any("No model is open" in text for text in texts(page))
    assert not page.measure.isEnabled()
    desk.session.set_trace(None)
    desk.session.set_status(Status(Phase.BUSY, "Loading the engine…"))
    assert any("Loading the engine…" in text for text in texts(page))


def test_a_distance_is_read_off_by_pointer_and_keys(
    page: ProbePage, desk: Desk, qtbot: QtBot
) -> None:
    desk.measure()
    left, pitch = column(page.curves.width(), 3, 1, page.curves.font())
    page.curves.grab()
    assert page.curves.scene.point(1, 0)[0] == pytest.approx(left + pitch / 2, abs=1)
    qtbot.mouseMove(page.curves.scene.viewport(), QPoint(4, 4))
    qtbot.mouseMove(page.curves.scene.viewport(), QPoint(round(left + pitch / 2), 60))
    assert page.curves.step == 1
    described = page.curves.accessibleDescription()
    assert "4 inserted words" in described
    assert "model right 90" in described
    page.curves.setFocus()
    qtbot.keyClick(page.curves, Qt.Key.Key_Right)
    assert page.curves.step == 2
    qtbot.keyClick(page.curves, Qt.Key.Key_Right)
    assert page.curves.step == 2
    qtbot.keyClick(page.curves, Qt.Key.Key_Left)
    assert page.curves.step == 1


def test_gated_heads_are_said_to_be_on(page: ProbePage, desk: Desk, trace: Trace) -> None:
    desk.measure()
    assert not any("all heads on" in text for text in texts(page))
    desk.session.set_gates({Head(E, 0, 0): 0.0})
    assert any("all heads on" in text for text in texts(page))


def test_beside_the_picture_of_another_model_the_one_measured_is_named(
    page: ProbePage, desk: Desk
) -> None:
    desk.measure()
    assert not any("good" in text for text in texts(page))
    desk.session.set_origin("trace from other.npz")
    assert any("Measured on good." in text for text in texts(page))


def test_another_model_is_not_measured_yet(page: ProbePage, desk: Desk, tmp_path: Path) -> None:
    desk.measure()
    assert page.has_picture
    desk.open("other", b"other weights")
    assert not page.has_picture
    assert page.curves.distances is None
