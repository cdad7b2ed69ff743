from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from tests.transformer_viz.training.fake_run import add_samples, make_run
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.training.run import Run
from transformer_viz.training.samples import Samples


@pytest.fixture
def samples(qtbot) -> Samples:
    samples = Samples()
    qtbot.addWidget(samples)
    samples.resize(800, 300)
    samples.show()
    return samples


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = make_run(tmp_path / "one")
    add_samples(run, 1000, "Ding 1.", "Ding da.")
    add_samples(run, 2000, "Satz 1.", "Ding da.")
    return run


def rows(samples: Samples) -> list[tuple[str, ...]]:
    model = samples.view.model()
    return [
        tuple(model.index(row, column).data() for column in range(model.columnCount()))
        for row in range(model.rowCount())
    ]


def says(samples: Samples) -> str:
    return " ".join(label.text() for label in samples.findChildren(QLabel) if label.isVisible())


def choose(box, text: str) -> None:
    """With the keyboard, as the list of a box is wont to be used."""
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Home)
    while box.currentText() != text:
        before = box.currentIndex()
        QTest.keyClick(box, Qt.Key.Key_Down)
        assert box.currentIndex() > before


def test_the_newest_step_is_shown_with_all_sentences(samples: Samples, run: Run) -> None:
    samples.show_runs([run])
    assert samples.choice.currentText() == "newest: step 2,000"
    assert rows(samples) == [
        ("Sentence 1.", "Satz 1. ✓", "Satz 1."),
        ("Sentence 2.", "Ding da.", "Satz 2."),
    ]
    assert "marked: new since step 1,000 · ✓ matches the reference: 1 of 2" in says(samples)


def test_another_step_is_chosen(samples: Samples, run: Run) -> None:
    samples.show_runs([run])
    choose(samples.choice, "step 1,000")
    assert [row[1] for row in rows(samples)] == ["Ding 1.", "Ding da."]
    assert "marked" not in says(samples)


def test_one_sentence_is_shown_at_all_steps(samples: Samples, run: Run) -> None:
    samples.show_runs([run])
    choose(samples.order, "One sentence at all steps")
    assert rows(samples) == [("2,000", "Satz 1. ✓", "Satz 1."), ("1,000", "Ding 1.", "Satz 1.")]
    choose(samples.choice, "Sentence 2.")
    assert [row[0] for row in rows(samples)] == ["2,000", "1,000"]
    assert rows(samples)[0][1] == "Ding da."


def test_a_new_validation_takes_the_place_of_the_newest(samples: Samples, run: Run) -> None:
    samples.show_runs([run])
    add_samples(run, 3000, "Satz 1.", "Satz 2.")
    assert samples.choice.currentText() == "newest: step 3,000"
    assert rows(samples)[1][1] == "Satz 2. ✓"


def test_a_chosen_step_stays_when_a_new_one_comes(samples: Samples, run: Run) -> None:
    samples.show_runs([run])
    choose(samples.choice, "step 1,000")
    add_samples(run, 3000, "Satz 1.", "Satz 2.")
    assert samples.choice.currentText() == "step 1,000"
    assert rows(samples)[0][1] == "Ding 1."


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_new_words_have_a_ground_of_their_own(samples: Samples, run: Run, theme: Theme) -> None:
    samples.apply_theme(theme)
    samples.show_runs([run])
    samples.view.clearSelection()

    def marked(row: int) -> bool:
        rect = samples.view.visualRect(samples.model.index(row, 1))
        image = samples.view.viewport().grab(rect).toImage()
        ground = QColor(theme.accent_soft).rgb()
        return any(
            image.pixel(x, y) == ground
            for x in range(0, image.width(), 2)
            for y in range(image.height())
        )

    assert marked(0)
    assert not marked(1)


def test_screen_readers_are_told_what_is_new(samples: Samples, run: Run) -> None:
    samples.show_runs([run])
    cell = samples.model.index(0, 1)
    words = samples.model.data(cell, Qt.ItemDataRole.AccessibleTextRole)
    assert words == "Satz 1.; matches the reference; new: Satz"


def test_ctrl_c_copies_the_row(samples: Samples, run: Run, qtbot) -> None:
    samples.show_runs([run])
    samples.view.setFocus()
    QTest.keyClick(samples.view, Qt.Key.Key_Down)
    QTest.keyClick(samples.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "2000\tSentence 2.\tDing da.\tSatz 2."


def test_long_sentences_take_more_lines(samples: Samples, run: Run, qtbot) -> None:
    samples.show_runs([run])
    low = samples.view.rowHeight(0)
    add_samples(run, 3000, "Satz " * 60, "Satz 2.")
    assert samples.view.rowHeight(0) > 3 * low
    before = samples.view.rowHeight(0)
    samples.resize(500, 300)
    qtbot.waitUntil(lambda: samples.view.rowHeight(0) > before)


def test_without_samples_it_says_when_they_come(samples: Samples, tmp_path: Path) -> None:
    assert "No run selected" in says(samples)
    samples.show_runs([make_run(tmp_path / "new")])
    assert "No samples yet" in says(samples)
    assert not samples.choice.isEnabled()


def test_what_it_shows_is_hidden_with_the_run(samples: Samples, run: Run) -> None:
    samples.show_runs([run])
    samples.show_runs([])
    assert rows(samples) == []
