import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF
from PySide6.QtGui import QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication

from core.text.tokens import Token
from transformer_viz.drawing.axes import (
    LONGEST,
    Axis,
    column_under,
    columns_height,
    columns_room,
    draw_columns,
    draw_rows,
    rows_room,
)
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import LIGHT


@st.composite
def axes(draw: st.DrawFn) -> Axis:
    count = draw(st.integers(1, 300))
    return Axis(
        tokens=[Token("x")] * count,
        origin=draw(st.floats(-500, 100)),
        pitch=draw(st.floats(0.2, 90)),
        start=100.0,
        end=draw(st.floats(101, 800)),
    )


@given(axes())
def test_visible_tokens_are_those_with_a_pixel_in_sight(axis: Axis) -> None:
    for index in range(len(axis.tokens)):
        left, right = axis.origin + index * axis.pitch, axis.origin + (index + 1) * axis.pitch
        if right > axis.start + 1e-3 and left < axis.end - 1e-3:
            assert index in axis.visible()
        elif right < axis.start - 1e-3 or left > axis.end + 1e-3:
            assert index not in axis.visible()


@given(axes(), st.floats(5, 30), st.one_of(st.none(), st.integers(0, 299)))
def test_labels_keep_their_distance_and_the_marked_one_is_there(
    axis: Axis, needed: float, marked: int | None
) -> None:
    labelled = list(axis.labelled(needed, marked))
    assert (np.diff(labelled) * axis.pitch >= needed - 1e-6).all()
    assert (marked in axis.visible()) == (marked in labelled)


def test_a_short_text_is_labelled_whole() -> None:
    axis = Axis([Token("x")] * 15, origin=10, pitch=32, start=10, end=10 + 15 * 32)
    assert list(axis.labelled(16, None)) == list(range(15))


def test_long_tokens_do_not_eat_the_picture(qapp) -> None:
    token = Token("x" * 500)
    assert columns_room(qapp.font(), [token]) == LONGEST
    assert rows_room(qapp.font(), [token], ()) == LONGEST
    assert rows_room(qapp.font(), [token], [token]) < 2.5 * LONGEST


def draw(paint) -> np.ndarray:
    image = QImage(400, 300, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(LIGHT.color("paper"))
    blank = to_array(image)
    with QPainter(image) as painter:
        paint(painter)
    return (to_array(image) != blank).any(axis=2)


def test_row_labels_are_beside_their_rows(qapp) -> None:
    tokens = [Token("▁"), Token("animal"), Token("▁")]
    font = qapp.font()
    axis = Axis(tokens, origin=50, pitch=60, start=50, end=230)
    changed = draw(
        lambda p: draw_rows(p, axis, (), left=10, right=200, font=font, theme=LIGHT, marked=None)
    )
    assert changed[110:170, 120:200].sum() > changed[50:110, 120:200].sum()
    assert changed[:, 10:20].any(), "numbers on the left"
    assert not changed[:, 202:].any()


def test_a_column_is_found_under_its_label(qapp) -> None:
    font = qapp.font()
    tokens = [Token(".") for _ in range(6)]
    tokens[3] = Token("animal")
    room = columns_room(font, tokens)
    bottom = 200
    assert columns_height(font, room) < bottom
    axis = Axis(tokens, origin=40, pitch=30, start=40, end=220)
    with_word = draw(
        lambda p: draw_columns(
            p, axis, bottom=bottom, room=room, font=font, theme=LIGHT, marked=None
        )
    )
    tokens[3] = Token(".")
    without = draw(
        lambda p: draw_columns(
            p, axis, bottom=bottom, room=room, font=font, theme=LIGHT, marked=None
        )
    )
    y, x = np.nonzero(with_word & ~without)
    found = [
        column_under(axis, QPointF(px + 0.5, py + 0.5), bottom, font)
        for px, py in zip(x, y, strict=True)
    ]
    assert found.count(3) > 0.8 * len(found)
    assert not with_word[bottom + 1 :].any()


def test_no_column_lies_beyond_the_ends(qapp) -> None:
    axis = Axis([Token("a")] * 3, origin=40, pitch=30, start=40, end=130)
    assert column_under(axis, QPointF(20, 190), 200, qapp.font()) is None
    assert column_under(axis, QPointF(399, 190), 200, qapp.font()) is None


@pytest.mark.parametrize(("share", "labelled"), [(1.0, 8), (0.75, 8), (0.5, 4)])
def test_small_rows_have_small_labels_before_any_is_left_out(
    qapp: QApplication, share: float, labelled: int
) -> None:
    font = qapp.font()
    pitch = share * QFontMetricsF(font).height()
    axis = Axis([Token("it")] * 8, origin=20, pitch=pitch, start=20, end=20 + 8 * pitch)
    changed = draw(
        lambda p: draw_rows(p, axis, (), left=0, right=200, font=font, theme=LIGHT, marked=None)
    )
    inked = changed[:, 150:].any(axis=1).astype(int)  # beyond the numbers
    assert (np.diff(inked, prepend=0) == 1).sum() == labelled
