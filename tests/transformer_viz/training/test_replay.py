import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMenu

from core.presets import preset
from core.statistics.rows import HeadStatistics
from core.trace.npz import save_npz
from core.trace.trace import AttentionKind, Head, StoredAttention, Trace
from core.training.probe_log import log_line
from core.training.run_folder import RunFolder
from tests.transformer_viz.stage import GOOD, OTHER, Stage, word_trace
from tests.transformer_viz.training.fake_run import add_lines
from transformer_viz.drawing.theme import DARK
from transformer_viz.shell.model_bar import ModelBar
from transformer_viz.training.attention_page import AttentionPage
from transformer_viz.training.run import Run

PROBES = ("the animal slept", "it was tired")
OWN = "my own text"
STEPS = (0, 1, 10, 100, 1000)
SPECIALIST = Head(AttentionKind.ENCODER_SELF, 1, 2)
HEADS = [
    Head(kind, layer, head)
    for kind in (AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS)
    for layer in range(2)
    for head in range(3)
]


def probe_trace(text: str, step: int) -> Trace:
    """The weight of the first key is step / 1000 in every encoder row."""
    trace = word_trace(text)
    count = len(trace.source_tokens)
    weights = np.full((2, 3, count, count), (1 - step / 1000) / (count - 1), np.float32)
    weights[..., 0] = step / 1000
    attention = {**trace.attention, AttentionKind.ENCODER_SELF: StoredAttention(weights)}
    return replace(trace, attention=attention)


def statistics(head: Head, step: int) -> HeadStatistics:
    """The specialist looks at the previous token from step 100 on."""
    share = 0.9 if head == SPECIALIST and step >= 100 else 0.1
    values = {"entropy": 2.0 - share, "confidence": 0.4, "special": 0.1, "sink": 0.2}
    if head.kind is not AttentionKind.CROSS:
        values |= {"mean_distance": 1.0, "previous": share, "same": 0.05, "next": 0.05}
    return HeadStatistics(values, entropy_limit=3.0, sink_key=0)


def record(run: Run, *steps: int) -> None:
    for step in steps:
        for index, text in enumerate(PROBES):
            path = run.folder.probe(step, index)
            path.parent.mkdir(exist_ok=True)
            save_npz(probe_trace(text, step), path)
        heads = [(head, [statistics(head, step)]) for head in HEADS]
        add_lines(
            run.folder.probe_log,
            [log_line(step, heads, None, [f"{text}, {step}" for text in PROBES])],
        )
    run.poll()


def make_run(path: Path, **settings: Any) -> Run:
    probes = [PROBES[0] + "\tdas Tier schlief", PROBES[1]]
    config = preset("tiny").with_settings({"probes": probes, **settings})
    RunFolder.create(path, config, {})
    run = Run(path)
    run.poll()
    return run


@pytest.fixture
def stage(qtbot) -> Iterator[Stage]:
    stage = Stage()
    stage.controller.open(GOOD)
    stage.controller.translate(OWN)
    qtbot.waitUntil(stage.shows(OWN))
    yield stage
    stage.controller.close()


@pytest.fixture(scope="module")
def recorded(qapp, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "recorded"
    record(make_run(path), *STEPS)
    return path


@pytest.fixture
def run(recorded: Path, tmp_path: Path) -> Run:
    run = Run(Path(shutil.copytree(recorded, tmp_path / "one")))
    run.poll()
    return run


@pytest.fixture
def page(stage: Stage, run: Run, qtbot) -> AttentionPage:
    page = AttentionPage(stage.session, stage.controller)
    qtbot.addWidget(page)
    page.resize(900, 400)
    page.show()
    page.show_runs([run])
    return page


def shown_step(stage: Stage) -> int | None:
    """Of the probe in the session, read from its weights."""
    trace = stage.session.trace
    if trace is None or stage.controller.trace_file is None:
        return None
    return round(float(trace.weights(AttentionKind.ENCODER_SELF, 0, 0)[0, 0]) * 1000)


def says(page: AttentionPage) -> str:
    return " ".join(label.text() for label in page.findChildren(QLabel) if label.isVisible())


def press(page: AttentionPage, key: Qt.Key) -> None:
    page.slider.setFocus()
    QTest.keyClick(page.slider, key)


def test_before_it_is_asked_for_the_explorer_keeps_its_text(
    stage: Stage, page: AttentionPage
) -> None:
    assert stage.session.text == OWN
    assert page.position.text() == "step 1,000 · 5 of 5"
    assert not page.back.isEnabled()
    assert [page.sentence.itemText(row) for row in range(2)] == list(PROBES)


def test_the_slider_shows_each_recorded_step(stage: Stage, page: AttentionPage, qtbot) -> None:
    for key, step in (
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_Right, 10),
        (Qt.Key.Key_End, 1000),
        (Qt.Key.Key_Left, 100),
    ):
        press(page, key)
        qtbot.waitUntil(lambda step=step: shown_step(stage) == step)
        assert page.position.text().startswith(f"step {step:,} ")
    assert stage.session.text == PROBES[0]
    assert stage.session.status.message == stage.session.origin == "run one at step 100"
    assert stage.session.model is not None
    assert stage.session.model.path == GOOD


def test_another_sentence_is_shown_at_the_same_step(
    stage: Stage, page: AttentionPage, qtbot
) -> None:
    press(page, Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: shown_step(stage) == 100)
    page.sentence.setFocus()
    QTest.keyClick(page.sentence, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: stage.session.text == PROBES[1])
    assert shown_step(stage) == 100


def test_own_text_comes_back_with_the_head_that_was_selected_last(
    stage: Stage, page: AttentionPage, qtbot
) -> None:
    stage.session.select(query=1)
    press(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: shown_step(stage) == 0)
    stage.session.select(layer=1, head=2)
    QTest.mouseClick(page.back, Qt.MouseButton.LeftButton)
    assert stage.session.trace is not None
    assert stage.session.trace.text == OWN  # at once
    qtbot.waitUntil(stage.shows(OWN))
    assert stage.session.origin == ""
    selection = stage.session.selection
    assert (selection.layer, selection.head, selection.query) == (1, 2, 1)
    assert not page.replay.active
    assert not page.back.isEnabled()


def test_a_trace_from_a_file_comes_back(stage: Stage, page: AttentionPage, qtbot) -> None:
    file, trace = Path("mine.npz"), word_trace("from a file")
    stage.controller.show_trace(trace, file)
    press(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: shown_step(stage) == 0)
    QTest.mouseClick(page.back, Qt.MouseButton.LeftButton)
    assert stage.session.trace is trace
    assert stage.controller.trace_file == file


def test_the_selection_stays_from_step_to_step(stage: Stage, page: AttentionPage, qtbot) -> None:
    press(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: shown_step(stage) == 0)
    stage.session.select(layer=1, head=1, query=1, key=0)
    selection = stage.session.selection
    press(page, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: shown_step(stage) == 1000)
    assert stage.session.selection == selection


def test_a_pinned_word_that_is_missing_at_one_step_comes_back(
    stage: Stage, page: AttentionPage, run: Run, qtbot
) -> None:
    other = replace(probe_trace("quite other words here", 1), text=PROBES[0])
    save_npz(other, run.folder.probe(1, 0))
    press(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: shown_step(stage) == 0)
    stage.session.select(query=2)
    press(page, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: shown_step(stage) == 1)
    assert stage.session.selection.query is None
    press(page, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: shown_step(stage) == 10)
    assert stage.session.selection.query == 2


def test_it_plays_from_the_start_to_the_newest_step(
    stage: Stage, page: AttentionPage, qtbot
) -> None:
    page.replay._timer.setInterval(20)
    seen: list[int | None] = []
    stage.session.traceChanged.connect(lambda _trace: seen.append(shown_step(stage)))
    QTest.mouseClick(page.play, Qt.MouseButton.LeftButton)
    assert page.play.accessibleName() == "Pause"
    qtbot.waitUntil(lambda: not page.replay.playing)
    qtbot.waitUntil(lambda: shown_step(stage) == 1000)
    assert page.play.accessibleName() == "Play"
    assert seen == sorted(seen, key=lambda step: step or 0)
    assert len(seen) >= 2


def test_space_pauses(stage: Stage, page: AttentionPage, qtbot) -> None:
    press(page, Qt.Key.Key_Space)
    assert page.replay.playing
    press(page, Qt.Key.Key_Space)
    assert not page.replay.playing
    assert page.replay.active


def test_editing_the_text_ends_the_replay_and_stays(
    stage: Stage, page: AttentionPage, qtbot
) -> None:
    press(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: shown_step(stage) == 0)
    stage.controller.translate("typed meanwhile")
    assert not page.replay.active
    qtbot.waitUntil(stage.shows("typed meanwhile"))
    page.replay.close()
    assert stage.session.text == "typed meanwhile"


def test_a_model_opened_meanwhile_translates_the_own_text_afterwards(
    stage: Stage, page: AttentionPage, qtbot
) -> None:
    press(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: shown_step(stage) == 0)
    stage.controller.open(OTHER)
    qtbot.waitUntil(lambda: stage.session.model is not None and stage.session.model.path == OTHER)
    assert shown_step(stage) == 0
    QTest.mouseClick(page.back, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(stage.shows(OWN))


def test_another_run_ends_the_replay(
    stage: Stage, page: AttentionPage, tmp_path: Path, qtbot
) -> None:
    press(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: shown_step(stage) == 0)
    page.show_runs([make_run(tmp_path / "two")])
    qtbot.waitUntil(stage.shows(OWN))
    assert "No attention recorded yet" in says(page)


def test_closing_the_app_remembers_the_own_text(
    stage: Stage, page: AttentionPage, qtbot, monkeypatch
) -> None:
    press(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: shown_step(stage) == 0)
    saved: list[Any] = []
    monkeypatch.setattr(stage.controller._file, "save", lambda settings: saved.append(settings))
    stage.controller.close()
    assert (saved[-1].text, saved[-1].trace) == (OWN, "")


def test_new_steps_of_a_running_run_lengthen_the_slider(
    stage: Stage, page: AttentionPage, run: Run, qtbot
) -> None:
    record(run, 900)
    assert page.slider.maximum() == 5
    assert page.position.text() == "step 1,000 · 6 of 6"
    press(page, Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: shown_step(stage) == 900)


def test_new_steps_leave_the_one_that_is_looked_at(
    stage: Stage, page: AttentionPage, run: Run, qtbot
) -> None:
    press(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: shown_step(stage) == 0)
    record(run, 3)
    assert page.position.text() == "step 0 · 1 of 6"
    assert shown_step(stage) == 0


def test_a_file_that_cannot_be_read_is_named(
    stage: Stage, page: AttentionPage, run: Run, qtbot
) -> None:
    run.folder.probe(1, 0).write_bytes(b"no trace")
    press(page, Qt.Key.Key_Home)
    press(page, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: "step-000001-0.npz" in says(page))
    press(page, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: shown_step(stage) == 10)
    assert "npz" not in says(page)


# -- how the heads specialise


def test_a_sentence_says_from_which_step_on_a_head_is_a_specialist(
    stage: Stage, page: AttentionPage
) -> None:
    stage.session.select(layer=1, head=2)
    assert "Encoder self 2.3: previous token ≥ 0.5 from step 100" in says(page)
    stage.session.select(layer=0, head=0)
    assert "Encoder self 1.1: previous token 0.10, below 0.5 at the latest step" in says(page)


def test_the_threshold_is_the_users(stage: Stage, page: AttentionPage) -> None:
    stage.session.select(layer=1, head=2)
    page.specialists.threshold.setValue(0.95)
    assert "below 0.95" in says(page)
    page.specialists.threshold.setValue(0.1)
    assert "≥ 0.1 from step 0" in says(page)


def test_each_selected_head_has_a_curve(stage: Stage, page: AttentionPage) -> None:
    stage.session.select(layer=1, head=2, others=((0, 0),))
    lines = page.specialists.chart.lines
    assert [line.label for line in lines] == ["Encoder self 1.1", "Encoder self 2.3"]
    np.testing.assert_allclose(lines[1].y, [0.1, 0.1, 0.1, 0.9, 0.9])
    assert list(lines[1].x) == list(STEPS)


def test_the_list_leads_to_the_specialist(stage: Stage, page: AttentionPage) -> None:
    heads = page.specialists.heads
    assert heads.item(0).text() == "Encoder self 2.3 from 100 · now 0.90"
    QTest.mouseClick(
        heads.viewport(),
        Qt.MouseButton.LeftButton,
        pos=heads.visualItemRect(heads.item(0)).center(),
    )
    assert stage.session.selection.primary == SPECIALIST
    QTest.keyClick(heads, Qt.Key.Key_Down)
    QTest.keyClick(heads, Qt.Key.Key_Return)
    assert stage.session.selection.primary != SPECIALIST


def test_statistics_that_a_kind_has_not_are_said_to_be_missing(
    stage: Stage, page: AttentionPage
) -> None:
    stage.session.select(kind=AttentionKind.CROSS, layer=0, head=0)
    assert "Cross 1.1: previous token does not exist for this kind of attention" in says(page)
    listed = [page.specialists.heads.item(row).text() for row in range(12)]
    assert not any(text.startswith("Cross") for text in listed)


def test_a_statistic_without_limits_is_told_by_its_ends(stage: Stage, page: AttentionPage) -> None:
    specialists = page.specialists
    stage.session.select(layer=1, head=2)
    specialists.statistic.setCurrentIndex(specialists.statistic.findText("Entropy"))
    assert "Encoder self 2.3: entropy 1.9 → 1.1 bits" in says(page)
    assert not specialists.threshold.isEnabled()
    assert specialists.heads.item(0).text() == "Encoder self 2.3 · now 1.10"


def test_gold_scores_that_were_not_measured_are_said_to_be_missing(page: AttentionPage) -> None:
    specialists = page.specialists
    row = specialists.statistic.findText("Pronoun right (gold)")
    specialists.statistic.setCurrentIndex(row)
    assert "only for runs that train on the generated corpus" in says(page)


def test_a_click_on_the_curve_replays_that_step(stage: Stage, page: AttentionPage, qtbot) -> None:
    chart = page.specialists.chart
    at = QPointF(*chart.scene.point(100, 0.5)).toPoint()
    QTest.mouseClick(chart.scene.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: shown_step(stage) == 100)
    assert [mark.value for mark in chart.plot.marks if mark.upright] == [100]


# -- states


def test_every_empty_state_says_what_to_do(page: AttentionPage, run: Run, tmp_path: Path) -> None:
    page.show_runs([])
    assert "No run selected" in says(page)
    page.show_runs([make_run(tmp_path / "none", probe_points=0)])
    assert "records no attention" in says(page)
    run.folder.probe_log.unlink(missing_ok=True)
    run.folder.probe_log.mkdir()
    run.poll()
    page.show_runs([run])
    assert "cannot be read" in says(page)


def test_it_catches_up_when_it_is_shown(page: AttentionPage, run: Run) -> None:
    page.hide()
    record(run, 900)
    page.show()
    assert 900 in page.specialists.chart.lines[0].x


def test_it_can_be_dark(page: AttentionPage) -> None:
    page.apply_theme(DARK)
    image = page.specialists.chart.grab().toImage()
    assert image.pixelColor(2, 2) == DARK.color("paper")


def test_everything_has_a_name(page: AttentionPage) -> None:
    specialists = page.specialists
    for part in (
        *(page.sentence, page.play, page.slider, specialists.statistic, specialists.threshold),
        *(specialists.chart, specialists.heads),
    ):
        assert part.accessibleName()


def test_what_the_decoder_is_fed_is_said_with_the_models_own_translation(
    stage: Stage, page: AttentionPage, qtbot
) -> None:
    press(page, Qt.Key.Key_Home)
    press(page, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: shown_step(stage) == 1)
    own = f"{PROBES[0]}, 1"
    assert page.fed.text() == (
        f"The decoder reads: das Tier schlief   The model's own translation: {own}"
    )
    page.replay.choose_sentence(1)
    assert "own translation, which changes from step to step" in page.fed.text()


def test_the_best_head_stands_in_for_one_that_the_run_lacks(
    stage: Stage, page: AttentionPage, qtbot
) -> None:
    """The explorer shows another model then, which has more heads."""
    stage.session.select(layer=0, head=0)
    log = page._log
    assert log is not None
    keep = [at for at, head in enumerate(log.heads) if head.head > 0]
    fewer = replace(log, heads=tuple(log.heads[at] for at in keep), values=log.values[:, keep])
    page._log = fewer
    page.apply_theme(DARK)
    specialists = page.specialists
    assert [line.label for line in specialists.chart.lines] == ["Encoder self 2.3"]
    assert says(page).count("Encoder self 2.3: previous token") == 1
    assert "Best head: Encoder self 2.3: previous token ≥ 0.5 from step 100" in says(page)
    assert specialists.heads.currentRow() == 0
    assert stage.session.selection.primary == HEADS[0]  # until the run is replayed
    press(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: shown_step(stage) == 0)
    assert stage.session.selection.primary == SPECIALIST


def test_a_run_with_gold_opens_on_who_finds_the_antecedent(page: AttentionPage) -> None:
    log = page._log
    assert log is not None
    assert page.specialists.statistic.currentText() == "Previous token"
    page.specialists.show_log(replace(log, pairs=40), None)
    assert page.specialists.statistic.currentText() == "Antecedent of “it” (gold)"
    same = page.specialists.statistic.findText("Same token")
    page.specialists.statistic.setCurrentIndex(same)
    page.specialists.statistic.activated.emit(same)
    page.specialists.show_log(replace(log, pairs=40), None)
    assert page.specialists.statistic.currentText() == "Same token"


def test_the_model_bar_says_that_the_picture_is_not_of_the_model(
    stage: Stage, page: AttentionPage, qtbot
) -> None:
    bar = ModelBar(stage.session, QMenu(), QAction("Find"), QMenu())
    qtbot.addWidget(bar)
    press(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: shown_step(stage) == 0)
    assert bar.origin.text() == "Picture: run one at step 0 (not this model)"
    QTest.mouseClick(page.back, Qt.MouseButton.LeftButton)
    assert bar.origin.text() == ""
    assert not bar.origin.isVisibleTo(bar)
