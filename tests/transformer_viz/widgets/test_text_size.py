from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from transformer_viz.widgets.text_size import (
    SIZES,
    next_size,
    set_font,
    set_height,
    set_text_size,
    set_width_of,
)


@pytest.fixture(autouse=True)
def _usual_size(qapp: QApplication) -> Iterator[None]:
    yield
    set_text_size(0)


@pytest.mark.parametrize(
    ("points", "step", "expected"),
    [(9, 1, 10), (9, -1, 9), (24, 1, 24), (24, -1, 22), (14, 1, 16), (8.25, 1, 9), (30, -1, 24)],
)
def test_each_step_leads_to_the_next_size(points: float, step: int, expected: int) -> None:
    assert next_size(points, step) == expected


def test_steps_lead_through_all_sizes() -> None:
    size, seen = SIZES[0], [SIZES[0]]
    while (size := next_size(size, 1)) != seen[-1]:
        seen.append(size)
    assert tuple(seen) == SIZES


def test_it_says_whether_the_size_has_changed(qapp: QApplication) -> None:
    set_text_size(0)
    usual = qapp.font()
    assert not set_text_size(0)
    assert set_text_size(18)
    assert not set_text_size(18)
    assert qapp.font().pointSize() == 18
    assert set_text_size(0)
    assert qapp.font() == usual


def test_what_was_fixed_follows(qapp: QApplication) -> None:
    set_text_size(9)
    label = QLabel("text")
    set_font(label, 1.5, bold=True)
    set_height(label, 28)
    set_width_of(label, "88")
    height, width = label.height(), label.width()
    set_text_size(18)
    assert label.font().pointSizeF() == 27
    assert label.font().bold()
    assert label.height() > height
    assert label.width() == pytest.approx(2 * width, abs=3)
    set_text_size(9)
    assert (label.height(), label.width()) == (height, width)
