from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from core.corpus.grammar.registry import FAMILIES
from core.presets import PRESETS, preset
from core.training.config import MOST_PROBES, PROBES
from core.training.estimate import parameter_count
from core.training.run_folder import RunFolder
from tests.transformer_viz.training.folders import make_run
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.training.families import FamiliesDialog
from transformer_viz.training.new_run import NewRun
from transformer_viz.training.run import Run
from transformer_viz.training.runs import Runs
from transformer_viz.widgets.list_style import list_style
from transformer_viz.words.training_wording import quantity


class Desk:
    def __init__(self, folder: Path, qtbot: QtBot) -> None:
        self.launched: list[Sequence[str]] = []
        self.parent = QWidget()
        qtbot.addWidget(self.parent)
        self.runs = Runs(folder, launch=self._launch)
        self.dialog = NewRun(self.runs, self.parent)
        self.dialog.show()

    def _launch(self, path: Path, arguments: Sequence[str]) -> None:
        path.mkdir(parents=True)
        RunFolder(path).log_text.touch()
        self.launched.append(arguments)

    def type(self, setting: str, text: str) -> None:
        editor = self.dialog.settings.rows[setting].editor
        assert isinstance(editor, QLineEdit)
        editor.selectAll()
        editor.setFocus()
        QTest.keyClicks(editor, text) if text else QTest.keyClick(editor, Qt.Key.Key_Delete)

    def error(self, setting: str) -> str:
        return self.dialog.settings.rows[setting].error

    def start(self) -> None:
        QTest.mouseClick(self.dialog.start, Qt.MouseButton.LeftButton)


@pytest.fixture
def desk(tmp_path: Path, qtbot: QtBot) -> Iterator[Desk]:
    made = Desk(tmp_path / "runs", qtbot)
    yield made
    made.dialog.close()


def test_every_preset_can_be_chosen_and_says_what_it_is(desk: Desk) -> None:
    box = desk.dialog.preset
    assert {box.itemData(row) for row in range(box.count())} == set(PRESETS)
    for name in PRESETS:
        desk.dialog.choose(name)
        assert desk.dialog.config == preset(name)
        assert desk.dialog.about.text()
        assert desk.dialog.estimate.parameters.text() == quantity(
            parameter_count(preset(name).model)
        )


def test_a_field_is_checked_as_it_is_typed(desk: Desk) -> None:
    desk.type("steps", "0")
    assert desk.error("steps") == "Allowed: 1 or more."
    assert desk.dialog.config is None
    assert desk.dialog.estimate.parameters.text() == "–"
    desk.type("steps", "12")
    assert desk.error("steps") == ""
    assert desk.dialog.config == preset("tiny").with_settings({"steps": 12})


def test_all_wrong_fields_are_marked_at_once(desk: Desk) -> None:
    desk.type("dropout", "1")
    desk.type("d_model", "thirty")
    desk.type("clip_norm", "-1")
    assert desk.error("dropout") == "Allowed: 0 or more, below 1."
    assert desk.error("d_model") == "“thirty” is not a number."
    assert desk.error("clip_norm") == "Allowed: above 0, or nothing."
    told = desk.dialog.error.text()
    assert told.startswith("The values typed for d_model, ")
    assert told.endswith(" cannot be used.")
    assert all(name in told for name in ("Dropout", "Largest gradient norm"))


def test_what_clashes_with_the_preset_is_said_at_the_field_that_was_typed(desk: Desk) -> None:
    desk.type("d_model", "33")  # the preset's two heads do not divide it
    assert "33" in desk.error("d_model") or "even" in desk.error("d_model")
    assert desk.dialog.config is None


def test_what_clashes_with_another_setting_names_that_one(desk: Desk) -> None:
    desk.type("source_batch_tokens", "3")  # below the preset's longest sentence
    told = desk.error("source_batch_tokens")
    assert told.startswith("“Longest sentence” = 128 is not possible; allowed: 2 to 3, the smaller")


def test_nothing_typed_is_nothing_where_that_is_allowed(desk: Desk) -> None:
    desk.type("clip_norm", "2")
    assert desk.dialog.config is not None
    assert desk.dialog.config.training.clip_norm == 2.0
    desk.type("clip_norm", "")
    assert desk.dialog.config == preset("tiny")


def test_probe_sentences_are_typed_one_in_each_line(desk: Desk) -> None:
    editor = desk.dialog.settings.rows["probes"].editor
    assert isinstance(editor, QPlainTextEdit)
    assert editor.toPlainText().split("\n") == [probe.replace("\t", " => ") for probe in PROBES]
    editor.selectAll()
    QTest.keyClicks(editor, "He came, she [went].")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "It slept. => Es schlief.")
    config = desk.dialog.config
    assert config is not None
    assert config.training.probes == ("He came, she [went].", "It slept.\tEs schlief.")
    editor.setPlainText("\n".join(map(str, range(MOST_PROBES + 1))))
    assert desk.error("probes").startswith(f"Allowed: up to {MOST_PROBES} sentences")


def test_the_search_leaves_what_has_all_words(desk: Desk, qtbot: QtBot) -> None:
    settings = desk.dialog.settings
    QTest.keyClicks(settings.search, "adam beta")
    shown = {name for name, row in settings.rows.items() if row.isVisible()}
    assert shown == {"adam_beta1", "adam_beta2"}
    settings.search.clear()
    QTest.keyClicks(settings.search, "nosuchthing")
    assert not any(row.isVisible() for row in settings.rows.values())


def test_the_documentation_is_in_the_tooltip(desk: Desk) -> None:
    tip = desk.dialog.settings.rows["peak_factor"].toolTip()
    assert "Factor on the paper's learning rate." in tip
    assert "In the preset: 1." in tip
    assert "--set peak_factor=…" in tip
    assert "In the preset: never." in desk.dialog.settings.rows["early_stopping"].toolTip()


def test_an_empty_field_shows_what_it_stands_for(desk: Desk) -> None:
    editor = desk.dialog.settings.rows["early_stopping"].editor
    assert isinstance(editor, QLineEdit)
    assert (editor.text(), editor.placeholderText()) == ("", "never")


def test_a_click_starts_the_run_under_the_suggested_name(desk: Desk, qtbot: QtBot) -> None:
    desk.type("steps", "7")
    with qtbot.waitSignal(desk.dialog.started) as blocker:
        desk.start()
    run: Run = blocker.args[0]
    assert run.name == "tiny-1"
    assert "steps=7" in desk.launched[0]
    assert not desk.dialog.isVisible()
    desk.dialog.refresh()
    assert desk.dialog.name.text() == "tiny-2"


def test_start_leads_to_the_wrong_field_instead(desk: Desk) -> None:
    desk.type("max_positions", "0")
    desk.dialog.name.setFocus()
    desk.start()
    assert desk.launched == []
    assert desk.dialog.focusWidget() is desk.dialog.settings.rows["max_positions"].editor


@pytest.mark.parametrize("name", ["", "..", "a/b", "what?", "aux", "a."])
def test_a_name_that_is_no_folder(desk: Desk, name: str) -> None:
    desk.dialog.name.selectAll()
    QTest.keyClicks(desk.dialog.name, name) if name else desk.dialog.name.clear()
    assert "folder" in desk.dialog.error.text()
    desk.start()
    assert desk.launched == []


def test_a_folder_that_cannot_be_made(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "file").touch()
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = NewRun(Runs(tmp_path / "file"), parent)
    dialog.show()
    QTest.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    assert "cannot be created" in dialog.error.text()
    assert dialog.isVisible()
    dialog.close()


def test_a_name_that_is_taken(desk: Desk) -> None:
    make_run(desk.runs.folder / "one")
    desk.dialog.name.selectAll()
    QTest.keyClicks(desk.dialog.name, "one")
    assert "already contains a run" in desk.dialog.error.text()


def test_a_name_of_ones_own_outlives_another_preset(desk: Desk) -> None:
    desk.dialog.name.selectAll()
    QTest.keyClicks(desk.dialog.name, "mine")
    desk.dialog.choose("plain")
    assert desk.dialog.name.text() == "mine"


def test_files_are_added_checked_and_removed(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / name for name in ("train.tsv", "train.en", "train.de")]
    for file in files:
        file.touch()
    answers = iter([str(file) for file in files])
    monkeypatch.setattr(
        "transformer_viz.training.data_box.QFileDialog.getOpenFileName",
        lambda *_: (next(answers), ""),
    )
    box = desk.dialog.data
    for button in (box.training.table, box.training.pair):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    table, pair = str(files[0]), f"{files[1]},{files[2]}"
    assert desk.dialog.config is not None
    assert desk.dialog.config.training.data == ("grammar", table, pair)
    box.grammar.click()
    assert desk.dialog.config.training.data == (table, pair)
    box.training.list.setCurrentRow(0)
    QTest.keyClick(box.training.list, Qt.Key.Key_Delete)
    assert desk.dialog.config.training.data == (pair,)
    files[2].unlink()
    desk.dialog.choose("tiny")
    box.training.add(pair)
    assert box.error.text() == f"{files[2]} was not found; remove it from the list."
    assert desk.dialog.config is None
    QTest.mouseClick(box.training.remove, Qt.MouseButton.LeftButton)
    for columns, problem in (("2:4", ""), ("2:2", "names one column twice")):
        box.training.set_specs([f"{files[0]}:{columns}"])
        assert problem in box.error.text()
        assert bool(box.error.text()) == bool(problem)
    box.training.set_specs([f"{files[2]}:2:4"])
    assert box.error.text() == f"{files[2]} was not found; remove it from the list."
    box.training.set_specs([])
    box.grammar.setChecked(False)
    assert box.error.text() == "Choose the generated corpus or add files to train on."
    desk.start()
    assert desk.launched == []


def test_families_are_chosen_in_a_list(desk: Desk, qtbot: QtBot) -> None:
    QTest.mouseClick(desk.dialog.data.families, Qt.MouseButton.LeftButton)
    (dialog,) = desk.dialog.data.families.findChildren(FamiliesDialog)
    assert dialog.chosen == tuple(FAMILIES)
    (none,) = [b for b in dialog.findChildren(QAbstractButton) if b.text() == "&None"]
    QTest.mouseClick(none, Qt.MouseButton.LeftButton)
    assert not dialog.ok.isEnabled()
    dialog.list.setCurrentRow(list(FAMILIES).index("passive"))
    QTest.keyClick(dialog.list, Qt.Key.Key_Space)
    QTest.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    assert desk.dialog.config is not None
    assert desk.dialog.config.training.grammar_families == ("passive",)
    assert desk.dialog.data.families.text().startswith("1 of")


def test_a_run_like_another_has_its_settings_and_a_new_name(desk: Desk) -> None:
    config = preset("tiny").with_settings({"steps": 77, "d_model": 64, "clip_norm": 1.0})
    make_run(desk.runs.folder / "tiny-1", config=config)
    run = desk.runs.open(desk.runs.folder / "tiny-1")
    desk.dialog.like(run)
    assert desk.dialog.config == config
    assert desk.dialog.name.text() == "tiny-2"


def test_the_time_is_measured_and_the_measuring_cancelled(desk: Desk, qtbot: QtBot) -> None:
    for setting, text in (("vocab_size", "300"), ("grammar_pairs", "60"), ("threads", "1")):
        desk.type(setting, text)
    estimate = desk.dialog.estimate
    QTest.mouseClick(estimate.measure_button, Qt.MouseButton.LeftButton)
    assert estimate.measuring
    assert estimate.measure_button.text() == "&Cancel measuring"
    QTest.mouseClick(estimate.measure_button, Qt.MouseButton.LeftButton)
    assert not estimate.measuring
    assert estimate.time.text() == "–"
    QTest.mouseClick(estimate.measure_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not estimate.measuring, timeout=60_000)
    assert estimate.time.text().startswith("about ")
    assert "steps per epoch" in estimate.time.text()
    desk.type("steps", "9")
    assert estimate.time.text() == "–"  # measured for other settings


def test_everything_that_takes_the_focus_has_a_name(desk: Desk) -> None:
    controls = desk.dialog.findChildren(QWidget)
    unnamed = [
        widget
        for widget in controls
        if isinstance(
            widget, QLineEdit | QPlainTextEdit | QComboBox | QListWidget | QAbstractButton
        )
        and widget.focusPolicy() is not Qt.FocusPolicy.NoFocus
        and not (widget.accessibleName() or getattr(widget, "text", str)())
    ]
    assert unnamed == []


def test_a_device_that_is_not_there_is_said_in_its_field(desk: Desk, qtbot: QtBot) -> None:
    desk.type("device", "cuda:97")
    qtbot.waitUntil(lambda: desk.error("device") != "", timeout=60_000)
    assert desk.error("device").startswith("Device cuda:97 is not there")
    assert desk.dialog.config is None
    desk.type("device", "cpu")
    assert desk.error("device") == ""
    assert desk.dialog.config is not None
    desk.type("device", "cuda:97")  # not asked again
    assert desk.error("device").startswith("Device cuda:97 is not there")


def test_lists_of_files_follow_the_theme_while_the_form_is_open(desk: Desk) -> None:
    for theme in (LIGHT, DARK):
        desk.dialog.apply_theme(theme)
        for files in (desk.dialog.data.training, desk.dialog.data.validation):
            assert files.list.styleSheet() == list_style(theme)


@pytest.mark.parametrize(
    ("setting", "text", "told"),
    [
        ("peak_factor", "Infinity", "“Infinity” is not a number."),
        ("peak_factor", "1e400", "“1e400” is not a number."),
        ("peak_factor", "0,5", ""),
        (
            "seed",
            "99999999999999999999",
            "Allowed: a whole number of at most 9,007,199,254,740,992.",
        ),
        ("vocab_size", "99999999999999999999", "Allowed: a whole number of at most 9,007,199,"),
        ("vocab_size", "1,000,000,000", "Allowed: 100,000,000 at most."),
        ("probe_points", "99999999999", "Allowed: 1,000 at most."),
        ("early_stopping", "0", "Allowed: 1 or more, or nothing."),
    ],
)
def test_a_number_beyond_all_use_is_refused_at_its_field(
    desk: Desk, setting: str, text: str, told: str
) -> None:
    desk.type(setting, text)
    assert desk.error(setting).startswith(told)
    assert (desk.dialog.config is None) is bool(told)
    assert (desk.error(setting) == "") is (told == "")
