import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect

from transformer_viz.placement import FRAME, placed

LAPTOP = QRect(0, 24, 1280, 696)  # below a panel
BESIDE = QRect(1280, 0, 2560, 1440)

sides = st.integers(-40_000, 40_000)
lengths = st.integers(1, 40_000)


def test_a_window_that_fits_is_left_where_it_was() -> None:
    wanted = QRect(1400, 100, 1440, 900)
    assert placed(wanted, [LAPTOP, BESIDE]) == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        QRect(0, 0, 1440, 900),
        QRect(100, 100, 32767, 32767),
        QRect(-5000, 10, 800, 600),
        QRect(0, 4000, 800, 600),
        QRect(1260, 50, 900, 600),  # of a screen that is gone, but for a corner
    ],
)
def test_a_window_ends_on_the_screen_that_is_there(wanted: QRect) -> None:
    found = placed(wanted, [LAPTOP])
    assert LAPTOP.contains(found.adjusted(0, -FRAME.height(), 0, 0))
    assert found.width() == min(wanted.width(), LAPTOP.width() - FRAME.width())
    assert found.height() == min(wanted.height(), LAPTOP.height() - FRAME.height())


def test_a_window_outside_all_screens_opens_in_the_middle_of_the_first() -> None:
    found = placed(QRect(9000, 9000, 800, 600), [LAPTOP, BESIDE])
    assert abs(found.center().x() - LAPTOP.center().x()) <= 1
    assert LAPTOP.contains(found)


@given(x=sides, y=sides, width=lengths, height=lengths)
def test_wherever_it_was_its_title_can_be_reached(x: int, y: int, width: int, height: int) -> None:
    found = placed(QRect(x, y, width, height), [LAPTOP, BESIDE])
    assert any(
        screen.contains(found.adjusted(0, -FRAME.height(), 0, 0)) for screen in (LAPTOP, BESIDE)
    )


def test_placing_it_again_changes_nothing() -> None:
    once = placed(QRect(-300, 700, 1440, 900), [LAPTOP, BESIDE])
    assert placed(once, [LAPTOP, BESIDE]) == once
