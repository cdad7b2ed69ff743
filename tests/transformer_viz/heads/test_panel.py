from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Head
from tests.transformer_viz.heads.answers import SOURCES
from tests.transformer_viz.heads.desk import Desk, desk
from tests.transformer_viz.stage import FakeBackend, texts
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.engine.engine import Engine
from transformer_viz.heads.evidence_list import NOTHING
from transformer_viz.heads.mattering import Mattering
from transformer_viz.heads.panel import MAP, TABLE, HeadsPanel
from transformer_viz.heads.report import Evidence, Report
from transformer_viz.heads.resolving import Resolving
from transformer_viz.heads.role_lines import RoleLines
from transformer_viz.heads.store import GRAMMAR, Question
from transformer_viz.heads.wording import NO_ROLE, judgement, role_name
from transformer_viz.state.session import Search

__all__ = ["desk"]

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def panel(desk: Desk, qtbot: QtBot) -> HeadsPanel:
    engine = Engine(FakeBackend(), desk.session)
    panel = HeadsPanel(
        desk.session,
        desk.analysis,
        Resolving(desk.session, engine, desk.session),
        Mattering(desk.session, engine, Search, desk.session),
    )
    qtbot.addWidget(panel, before_close_func=lambda _panel: engine.close())
    panel.resize(1280, 300)
    panel.apply_theme(LIGHT)
    panel.show()
    return panel


def row_of(panel: HeadsPanel, row: int) -> list[str]:
    model = panel.table.model()
    return [str(model.index(row, column).data()) for column in range(model.columnCount())]


def column_of(panel: HeadsPanel, name: str) -> int:
    model = panel.table.model()
    names = [model.headerData(i, Qt.Orientation.Horizontal) for i in range(model.columnCount())]
    return names.index(name)


def heads_in_order(panel: HeadsPanel) -> list[Head]:
    return [each.head for each in panel.table.order]


def test_it_says_what_to_do_before_anything_is_measured(desk: Desk, panel: HeadsPanel) -> None:
    assert "No model yet" in texts(panel)
    assert not panel.run_bar.measure.isEnabled()
    desk.open("good")
    assert "The heads of good have not been measured yet" in texts(panel)
    assert not panel.run_bar.csv.isEnabled()
    QTest.mouseClick(panel.run_bar.measure, LEFT)
    assert desk.child.asked[0][:2] == ["heads", "--model"]
    assert "Measuring…" in texts(panel)


def test_progress_and_what_is_left_are_told_and_it_can_be_cancelled(
    desk: Desk, panel: HeadsPanel
) -> None:
    desk.open("good")
    desk.analysis.measure(Question())
    assert panel.run_bar.bar.maximum() == 0, "nobody knows yet"
    desk.child.progressed.emit('{"done": 1500, "total": 2000, "seconds_left": 61.0}')
    assert panel.run_bar.said.text() == "Measuring the heads of good: 1,500 of 2,000, 1 min left"
    assert panel.run_bar.bar.value() == 750
    QTest.mouseClick(panel.run_bar.cancel, LEFT)
    assert desk.child.cancelled == 1
    assert panel.run_bar.measure.isVisible()


def test_a_failure_is_told_in_its_own_words(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.analysis.measure(Question())
    desk.child.failed.emit("gone.tsv is not there.")
    assert panel.run_bar.said.text() == "⚠ gone.tsv is not there."
    assert panel.run_bar.measure.isEnabled()


def test_sample_and_corpus_are_chosen(
    desk: Desk, panel: HeadsPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.open("good")
    bar = panel.run_bar
    assert bar.question == Question(GRAMMAR, 1_000)
    bar.sentences.setValue(250)
    answers = ["/a/source.en", "/a/target.de", "/a/pairs.tsv.gz", "/a/source.en", ""]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (answers.pop(0), ""))
    bar.corpus.activated.emit(bar.corpus.findText("two aligned files…"))
    assert bar.corpus.currentText() == "source.en, target.de"
    QTest.mouseClick(bar.importance, LEFT, pos=QPoint(8, bar.importance.height() // 2))
    assert bar.question == Question("/a/source.en,/a/target.de", 250, importance=True)
    bar.corpus.activated.emit(bar.corpus.findText("a file…"))
    assert bar.corpus.currentText() == "pairs.tsv.gz"
    bar.corpus.activated.emit(bar.corpus.findText("two aligned files…"))
    assert not answers
    assert bar.question.corpus == "/a/pairs.tsv.gz", "the second dialog was given up"


def test_the_table_has_every_head_with_numbers_on_the_right(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure(importance=True)
    assert panel.table.model().rowCount() == 18
    row = row_of(panel, 1)
    assert row[:5] == ["Encoder self 1.2", "position −1", "0.0020", "−0.0002", "2.00"]
    cross = row_of(panel, 17)
    assert cross[0] == "Cross 2.3"
    assert cross[column_of(panel, "dist.")] == "–"
    assert cross[column_of(panel, "AER pred.")] == "0.10"
    model = panel.table.model()
    for column, side in ((0, Qt.AlignmentFlag.AlignLeft), (3, Qt.AlignmentFlag.AlignRight)):
        aligned = model.index(0, column).data(Qt.ItemDataRole.TextAlignmentRole)
        assert aligned & side
    assert panel.run_bar.said.text().startswith("1,000 generated sentences, 20")


def test_the_table_is_sorted_by_click_and_by_key(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure()
    first = heads_in_order(panel)
    assert first[0] == Head(E, 0, 0)
    column = column_of(panel, "dist.")
    header = panel.table.horizontalHeader()
    place = QPoint(header.sectionViewportPosition(column) + 8, header.height() // 2)
    QTest.mouseClick(header.viewport(), LEFT, pos=place)
    order = heads_in_order(panel)
    assert {order[0], order[1]} == {Head(E, 1, 2), Head(D, 1, 2)}, "the largest first"
    assert all(head.kind is C for head in order[12:]), "those without the number last"
    QTest.mouseClick(header.viewport(), LEFT, pos=place)
    assert heads_in_order(panel)[-1] in (Head(E, 1, 2), Head(D, 1, 2))
    panel.table.setCurrentIndex(panel.table.model().index(0, 0))
    QTest.keyClick(panel.table, Qt.Key.Key_S)
    assert heads_in_order(panel) == first


def test_table_and_explorer_select_the_same_head(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure()
    panel.table.setFocus()
    QTest.keyClick(panel.table, Qt.Key.Key_Down)
    assert desk.session.selection.primary == Head(E, 0, 1)
    desk.session.select(kind=C, layer=1, head=1)
    assert panel.table.model().index(panel.table.currentIndex().row(), 0).data() == "Cross 2.2"
    assert desk.session.selection.primary == Head(C, 1, 1)


def test_a_role_is_told_with_score_baseline_and_threshold(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure()
    desk.session.select(kind=E, layer=0, head=1)
    said = texts(panel)
    assert "It looks at the token before." in said
    assert (
        "Score 0.95 over 300 rows (95% interval from 0.92), mean weight 0.80; "
        "baseline 0.20 (uniform attention), threshold 0.90: passed."
    ) in said
    roles = panel.page.roles
    assert roles.itemText(0) == "✓ position −1  0.95"
    index = roles.findData("gold:coreference")
    roles.setCurrentIndex(index)
    roles.activated.emit(index)
    said = texts(panel)
    assert "Not confirmed: it looks from the pronoun to its antecedent." in said
    assert (
        "Right in 30% of 128 links (95% interval from 25%), mean weight 0.20; "
        "baseline 20% (fixed distance: 2 words back), threshold 30%: not passed."
    ) in said


def test_a_decoder_row_has_two_readings(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure()
    desk.session.select(kind=C, layer=0, head=1)
    panel.page.prefer("gold:coreference")
    assert any(
        "of 128 links by the word each row predicts (95% interval" in text for text in texts(panel)
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"rows": 49, "cases": 49},
            "Score 0.95 over 49 rows (95% interval from 0.92), mean weight 0.80; baseline 0.20 "
            "(uniform attention): too few to assign the role.",
        ),
        (
            {"threshold": 1.05, "passed": False},
            "Score 0.95 over 300 rows (95% interval from 0.92), mean weight 0.80; baseline 0.20 "
            "(uniform attention): no head could be clearly better, so this proves nothing.",
        ),
        (
            {"weight": 0.07, "passed": False},
            "Score 0.95 over 300 rows (95% interval from 0.92), mean weight 0.07; baseline 0.20 "
            "(uniform attention), threshold 0.90: not passed, as the weight is below 0.3.",
        ),
        (
            {"explained_by": "gold:alignment", "passed": False},
            "Score 0.95 over 300 rows (95% interval from 0.92), mean weight 0.80; baseline 0.20 "
            "(uniform attention), threshold 0.90: passed, but explained by “aligns words”, which "
            "this head also does.",
        ),
        (
            {"lower": None, "weight": None, "passed": False},
            "Score 0.95 over 300 rows, weight not measured; baseline 0.20 (uniform attention): "
            "measured by an older version; measure again.",
        ),
        (
            {"rows": 4_000, "weight": None, "cases": 1_000},
            "Score 0.95 over 1,000 sentences (95% interval from 0.92); baseline 0.20 (uniform "
            "attention), threshold 0.90: passed.",
        ),
        ({"sort": "gold:coreference", "name": "gold:coreference", "direction": "backward"}, ""),
    ],
)
def test_what_a_score_cannot_show_is_said(desk: Desk, changes: dict[str, Any], said: str) -> None:
    desk.open("good")
    desk.measure()
    assert desk.analysis.report is not None
    (role,) = desk.analysis.report.heads[Head(E, 0, 1)].passed
    changed = replace(role, **changes)
    if said:
        assert judgement(changed) == said
    else:
        assert role_name(changed).claim == "looks from the antecedent to the pronoun"


def test_special_tokens_are_the_ends_of_a_sentence(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure()
    evidence = panel.page.evidence
    evidence.show_role(panel.page.role, E)
    assert "⟨end⟩ → ⟨end⟩" in evidence.accessibleDescription()
    evidence.show_role(panel.page.role, D)
    assert "⟨start⟩ → ⟨start⟩" in evidence.accessibleDescription()


def test_words_from_the_right_do_not_turn_the_arrow_around(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure()
    role = panel.page.role
    assert role is not None
    one = Evidence("כלב רחוב", "Hund", 0, 1, 0.5, query_span=(0, 3), key_span=(4, 8))
    panel.page.evidence.show_role(replace(role, best=(one,)), E)
    description = panel.page.evidence.accessibleDescription()
    assert "\u2068כלב\u2069 → \u2068רחוב\u2069" in description


def test_enter_leads_to_the_sentences_and_from_there_to_the_explorer(
    desk: Desk, panel: HeadsPanel
) -> None:
    desk.open("good")
    desk.measure()
    shown: list[tuple[Head, Evidence]] = []
    panel.showWanted.connect(lambda head, evidence: shown.append((head, evidence)))
    desk.session.select(kind=E, layer=0, head=1)
    panel.activateWindow()
    panel.table.setFocus()
    QTest.keyClick(panel.table, Qt.Key.Key_Return)
    evidence = panel.page.evidence
    desk.qtbot.waitUntil(evidence.hasFocus)
    assert evidence.count == 22, "ten and ten under two headings"
    QTest.keyClick(evidence, Qt.Key.Key_Return)
    QTest.keyClick(evidence, Qt.Key.Key_End)
    QTest.keyClick(evidence, Qt.Key.Key_Return)
    assert [head for head, _ in shown] == [Head(E, 0, 1)] * 2
    assert [one.source for _, one in shown] == [SOURCES[0], SOURCES[9]]
    assert shown[0][1].score == pytest.approx(0.99)


def test_a_role_without_sentences_says_why(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure()
    evidence = panel.page.evidence
    role = replace(panel.page.role, best=(), worst=())  # type: ignore[type-var]
    shown: list[Evidence] = []
    evidence.wanted.connect(shown.append)
    evidence.show_role(role, E)
    assert evidence.accessibleDescription() == NOTHING
    QTest.keyClick(evidence, Qt.Key.Key_Down)
    QTest.keyClick(evidence, Qt.Key.Key_Return)
    assert shown == []


def test_keys_pass_over_the_headings_and_clicks_on_them_do_nothing(
    desk: Desk, panel: HeadsPanel
) -> None:
    desk.open("good")
    desk.measure()
    evidence = panel.page.evidence
    shown: list[Evidence] = []
    evidence.wanted.connect(shown.append)
    assert evidence.current == 1
    for _ in range(10):
        QTest.keyClick(evidence, Qt.Key.Key_Down)
    assert evidence.current == 12
    QTest.keyClick(evidence, Qt.Key.Key_Up)
    assert evidence.current == 10
    QTest.keyClick(evidence, Qt.Key.Key_Home)
    assert evidence.current == 1
    for row, count in ((0, 0), (2, 1)):
        QTest.mouseClick(evidence.viewport(), LEFT, pos=evidence.row_rect(row).center())
        assert len(shown) == count
    assert evidence.current == 2


def test_the_map_colours_by_statistic_or_role_and_selects(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure()
    panel.show_tab(MAP)
    by = panel.colored_by
    assert by.currentText() == "role: “it”"
    index = by.findData("role:positional")
    by.setCurrentIndex(index)
    by.activated.emit(index)
    layout = panel.map.layout_now()
    there = layout.rect(Head(E, 0, 1)).center().toPoint()
    QTest.mouseClick(panel.map, LEFT, pos=there)
    assert desk.session.selection.primary == Head(E, 0, 1)
    assert "position −1. Score 0.95" in panel.map.accessibleDescription()
    assert panel.page.role is not None
    assert panel.page.role.name == "positional(-1)"
    inside = there - QPoint(4, 4)
    strong = panel.map.grab().toImage().pixelColor(inside)
    faint = (
        panel.map.grab()
        .toImage()
        .pixelColor(layout.rect(Head(E, 1, 2)).center().toPoint() - QPoint(4, 4))
    )
    assert strong.lightness() < faint.lightness()
    index = by.findData("mean_distance")
    by.setCurrentIndex(index)
    by.activated.emit(index)
    assert "mean distance 0.6" in panel.map.accessibleDescription()
    index = by.findData("alignment_error_predicted")
    by.setCurrentIndex(index)
    by.activated.emit(index)
    assert "Layers’ mean maps 0.50 – · best head 2.1: 0.10 · along the diagonal 0.40" in texts(
        panel
    )


def test_keys_walk_the_map(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure()
    panel.show_tab(MAP)
    key = Qt.Key
    for pressed, head in (
        (key.Key_Right, Head(E, 0, 1)),
        (key.Key_Down, Head(E, 1, 1)),
        (key.Key_Down, Head(E, 1, 1)),
        (key.Key_PageDown, Head(D, 1, 1)),
        (key.Key_Left, Head(D, 1, 0)),
        (key.Key_Left, Head(E, 1, 2)),
        (key.Key_Right, Head(D, 1, 0)),
        (key.Key_PageUp, Head(E, 1, 0)),
        (key.Key_Up, Head(E, 0, 0)),
        (key.Key_Left, Head(E, 0, 0)),
    ):
        QTest.keyClick(panel.map, pressed)
        assert desk.session.selection.primary == head
    panel.activateWindow()
    QTest.keyClick(panel.map, key.Key_Return)
    desk.qtbot.waitUntil(panel.page.evidence.hasFocus)


def test_the_picture_is_the_same_table_in_both_themes(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure()
    panel.show_tab(MAP)
    grounds = []
    for theme in (LIGHT, DARK):
        panel.apply_theme(theme)
        grounds.append(panel.map.grab().toImage().pixelColor(2, panel.map.height() - 3).name())
    assert grounds == [LIGHT.paper, DARK.paper]


def test_another_model_has_other_heads(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure()
    panel.show_tab(TABLE)
    desk.open("other", b"other weights")
    assert "The heads of other have not been measured yet" in texts(panel)
    assert not panel.run_bar.csv.isEnabled()


def test_the_inspector_says_the_roles_of_the_selected_head(desk: Desk, qtbot: QtBot) -> None:
    lines = RoleLines(desk.session, desk.analysis)
    qtbot.addWidget(lines)
    lines.show()
    desk.open("good")
    assert not lines.lines.isVisible()
    with qtbot.waitSignal(lines.wanted):
        QTest.mouseClick(lines.open, LEFT)
    desk.measure()
    assert lines.lines.text() == NO_ROLE
    desk.session.select(kind=E, layer=0, head=1)
    said = lines.lines.text()
    assert said.startswith("looks at the token before\n0.95 over 300 rows; ⚠ but not here: 0.")
    desk.session.select(others=((0, 0),))
    assert lines.lines.text() == f"1.2: {said}", "of several, the first"


def test_csv_is_wanted_by_a_click(desk: Desk, panel: HeadsPanel, tmp_path: Path) -> None:
    desk.open("good")
    desk.measure()
    with desk.qtbot.waitSignal(panel.csvWanted):
        QTest.mouseClick(panel.run_bar.csv, LEFT)


def test_no_number_is_cut_off(desk: Desk, panel: HeadsPanel) -> None:
    desk.open("good")
    desk.measure(importance=True)
    report = desk.analysis.report
    assert report is not None
    last = Head(C, 1, 2)  # below those in view
    wide = replace(report.heads[last], statistics={"importance": -1234.5678})
    panel.table.show_report(Report({**report.heads, last: wide}))
    column = column_of(panel, "import.")
    assert row_of(panel, 17)[column] == "−1234.5678"
    needed = panel.table.fontMetrics().horizontalAdvance("−1234.5678") + 2 * 6  # its padding
    assert panel.table.columnWidth(column) >= needed


def test_a_model_whose_heads_are_all_pruned_has_an_empty_table(
    desk: Desk, panel: HeadsPanel
) -> None:
    desk.open("good")
    desk.analysis.measure(Question())
    with_none = '{"heads": []}'
    desk.child.finished.emit(with_none)
    desk.qtbot.waitUntil(lambda: desk.analysis.report is not None)
    assert panel.table.model().rowCount() == 0
    assert panel.colored_by.count() == 0
    panel.show_tab(MAP)
    panel.grab()
