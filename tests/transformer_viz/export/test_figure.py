"""Figures: trimmed, of the shape and text size asked for, and with their caption."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPainter
from PySide6.QtWidgets import QApplication

from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.matrix import Style
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.export.figure import SLIDE_WIDTH, Figure, Shape, compose, trimmed
from transformer_viz.export.picture import Picture, to_image, to_svg
from transformer_viz.state.options import ColorMap

LINES = ("The animal slept.", "→ Das Tier schlief.", "demo-en-de")


@pytest.fixture
def style(qapp: QApplication) -> Style:
    font = QFont(QGuiApplication.font())
    font.setPointSize(9)
    return Style(LIGHT, lookup_table(ColorMap.PAPER, LIGHT), font)


def block(size: QSize, part: QRect) -> Picture:
    """A picture that is blank but for a red part."""

    def paint(painter: QPainter, rect: QRect) -> None:
        painter.fillRect(rect, LIGHT.color("paper"))
        painter.fillRect(part.translated(rect.topLeft()), QColor("red"))

    return Picture("Block", size, paint)


def red(picture: Picture) -> QRect:
    pixels = to_array(to_image(picture))[..., :3]
    rows, columns = np.nonzero((pixels == [255, 0, 0]).all(axis=2))
    left, top = int(columns.min()), int(rows.min())
    return QRect(left, top, int(columns.max()) + 1 - left, int(rows.max()) + 1 - top)


def blank_bands(picture: Picture) -> tuple[float, float]:
    """The largest share of height, and of width, through which nothing is painted."""
    pixels = to_array(to_image(picture))[..., :3]
    paper = LIGHT.color("paper")
    inked = (pixels != [paper.red(), paper.green(), paper.blue()]).any(axis=2)
    shares = []
    for axis in (1, 0):
        there = np.flatnonzero(np.r_[True, inked.any(axis=axis), True])
        shares.append((np.diff(there).max() - 1) / inked.shape[1 - axis])
    return shares[0], shares[1]


def test_blank_margins_are_left_out(style: Style) -> None:
    whole = block(QSize(400, 300), QRect(30, 20, 100, 50))
    cut = trimmed(whole, style)
    assert cut.size == QSize(100, 50)
    assert red(cut) == QRect(0, 0, 100, 50)


def test_a_picture_of_nothing_stays(style: Style) -> None:
    nothing = block(QSize(40, 30), QRect())
    assert trimmed(nothing, style).size == QSize(40, 30)


@given(
    width=st.integers(20, 900),
    height=st.integers(20, 900),
    points=st.sampled_from([0, 12, 18, 28]),
    wide=st.sampled_from([0, 960, 1280]),
)
def test_a_slide_holds_all_of_a_picture_undistorted(
    width: int, height: int, points: int, wide: int
) -> None:
    style = Style(LIGHT, lookup_table(ColorMap.PAPER, LIGHT), QFont(QGuiApplication.font()))
    picture = block(QSize(1000, 1000), QRect(50, 50, width, height))
    figure = Figure(Shape.SLIDE, wide, points)
    made = compose([picture], figure, LINES, style)
    assert made.size == QSize(wide or SLIDE_WIDTH, (wide or SLIDE_WIDTH) * 9 // 16)
    place = red(made)
    assert QRect(0, 0, made.size.width(), made.size.height()).contains(place)
    assert place.width() / place.height() == pytest.approx(width / height, rel=0.15)


@pytest.mark.parametrize("size", [(300, 300), (600, 300), (900, 300)])
def test_no_fifth_of_a_slide_is_blank_across_or_down(style: Style, size: tuple[int, int]) -> None:
    picture = block(QSize(1000, 400), QRect(0, 0, *size))
    made = compose([picture], Figure(Shape.SLIDE, points=18), LINES, style)
    assert max(blank_bands(made)) < 0.2


def test_text_has_the_size_asked_for(style: Style) -> None:
    picture = block(QSize(100, 100), QRect(0, 0, 100, 100))
    small = compose([picture], Figure(points=9), LINES, style)
    large = compose([picture], Figure(points=27), LINES, style)
    assert red(large).width() == pytest.approx(3 * red(small).width(), abs=2)
    assert large.size.width() == pytest.approx(3 * small.size.width(), abs=3)


def test_a_width_is_kept(style: Style) -> None:
    picture = block(QSize(300, 100), QRect(0, 0, 300, 100))
    made = compose([picture], Figure(width=1000), LINES, style)
    assert made.size.width() == 1000
    assert red(made).width() == 1000 - 2 * 16


@pytest.mark.parametrize("shape", Shape)
def test_the_caption_is_text(style: Style, shape: Shape) -> None:
    picture = block(QSize(300, 100), QRect(0, 0, 300, 100))
    svg = to_svg(compose([picture], Figure(shape, width=1280), LINES, style)).decode("utf-8")
    for line in LINES:
        assert line in svg
    alone = compose([picture], Figure(shape, width=1280), (), style)
    assert "<text" not in to_svg(alone).decode("utf-8")


def test_the_way_that_need_not_be_made_smaller_is_taken(style: Style) -> None:
    tall = block(QSize(300, 2000), QRect(0, 0, 300, 2000))
    fitting = block(QSize(300, 200), QRect(0, 0, 300, 200))
    made = compose([tall, fitting], Figure(Shape.SLIDE, points=18), LINES, style)
    assert red(made).width() / red(made).height() == pytest.approx(1.5, rel=0.02)
