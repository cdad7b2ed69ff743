"""The map of the decoder as it grows: what is drawn after a step and what is not."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QSizeF
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication

from core.trace.trace import AttentionKind, Trace
from transformer_viz.decoding.draw_growing_matrix import (
    GrowingLayout,
    GrowingPicture,
    growing_image,
    lay_out_growing,
    paint_growing,
)
from transformer_viz.drawing.colormap import encode, lookup_table
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.matrix import Style
from transformer_viz.drawing.pooling import Pyramid
from transformer_viz.drawing.scales import legend
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.state.options import ColorMap, Scale

SIZE = QSizeF(600, 480)


def picture_of(trace: Trace) -> GrowingPicture:
    kind = AttentionKind.DECODER_SELF
    return GrowingPicture(
        pyramid=Pyramid(encode(trace.weights(kind, 0, 0), trace.allowed(kind))),
        fed=trace.target_tokens,
        predicted=trace.predicted_tokens,
        log_probabilities=trace.log_probabilities,
        legend=legend(Scale.ABSOLUTE, None),
    )


def painted(picture: GrowingPicture, step: int) -> tuple[np.ndarray, GrowingLayout]:
    style = Style(LIGHT, lookup_table(ColorMap.PAPER, LIGHT), QFont())
    layout = lay_out_growing(picture, SIZE, style.font, 1.0)
    image = QImage(SIZE.toSize(), QImage.Format.Format_RGB32)
    image.fill(LIGHT.color("paper"))
    with QPainter(image) as painter:
        cells = growing_image(picture, layout, style, 1.0)
        paint_growing(painter, picture, layout, cells, step, style)
    return to_array(image), layout


@pytest.mark.parametrize("step", [0, 3, 10])
def test_after_a_step_the_row_is_there_and_the_next_is_not(
    qapp: QApplication, trace: Trace, step: int
) -> None:
    pixels, layout = painted(picture_of(trace), step)
    table = lookup_table(ColorMap.PAPER, LIGHT)
    codes = picture_of(trace).pyramid.levels[0]
    for row in range(len(codes)):
        center = layout.row_rect(row).center()
        x = round(layout.matrix.left() + layout.cell * (min(row, step) + 0.5))
        found = pixels[int(center.y()), x, :3].tolist()
        if row <= step:
            assert found == table[codes[row, min(row, step)], :3].tolist()
    pending = layout.row_rect(step + 1).adjusted(4, 4, -4, -4)
    if step + 1 < len(codes):
        chrome = list(LIGHT.color("chrome").getRgb()[:3])
        assert pixels[int(pending.top()), int(pending.left()), :3].tolist() == chrome


def test_the_future_is_hatched(qapp: QApplication, trace: Trace) -> None:
    pixels, layout = painted(picture_of(trace), 4)
    row = layout.row_rect(1).adjusted(2 * layout.cell + 3, 3, -3, -3).toRect()
    part = pixels[row.top() : row.bottom(), row.left() : row.right(), :3]
    colors = {tuple(color) for color in np.unique(part.reshape(-1, 3), axis=0).tolist()}
    tokens = ("hatch", "hatch_paper")
    assert colors == {tuple(LIGHT.color(token).getRgb()[:3]) for token in tokens}


def test_rows_are_found_by_height(qapp: QApplication, trace: Trace) -> None:
    picture = picture_of(trace)
    layout = lay_out_growing(picture, SIZE, QFont(), 1.0)
    for step in range(picture.steps):
        center = layout.row_rect(step).center()
        assert layout.step_at(QPointF(5, center.y()), picture.steps) == step
    assert layout.step_at(layout.matrix.topLeft() - QPointF(0, 2), picture.steps) is None
    assert layout.step_at(layout.matrix.bottomLeft() + QPointF(0, 2), picture.steps) is None


def test_cells_are_square_whole_pixels_and_fit(
    qapp: QApplication, make_trace: Callable[..., Trace]
) -> None:
    for pieces in (["<s>"], ["<s>", *["▁Wort"] * 12], ["<s>", *["▁Wort"] * 199]):
        picture = picture_of(make_trace(target=pieces))
        layout = lay_out_growing(picture, SIZE, QFont(), 1.0)
        matrix = layout.matrix
        assert matrix.width() == pytest.approx(matrix.height())
        assert matrix.right() < SIZE.width()
        assert matrix.bottom() <= SIZE.height()
        assert layout.cell < 8 or layout.cell == int(layout.cell)


def test_labels_shrink_where_rows_are_low(
    qapp: QApplication, make_trace: Callable[..., Trace]
) -> None:
    font = QFont()
    line = QFontMetricsF(font).height()
    low = lay_out_growing(picture_of(make_trace(target=["<s>"] * 40)), SIZE, font, 1.0)
    high = lay_out_growing(picture_of(make_trace(target=["<s>"] * 4)), SIZE, font, 1.0)
    assert high.cell >= line
    assert QFontMetricsF(high.font).height() == line
    assert QFontMetricsF(low.font).height() < line


def test_a_trace_without_probabilities_is_drawn(
    qapp: QApplication, make_trace: Callable[..., Trace]
) -> None:
    picture = picture_of(make_trace())
    without = GrowingPicture(picture.pyramid, picture.fed, picture.predicted, None, picture.legend)
    pixels, layout = painted(without, 5)
    beside = pixels[:, int(layout.matrix.right()) + 4 :, :3]
    assert (beside == LIGHT.color("paper").getRgb()[:3]).all()


def test_bars_have_only_the_room_that_cells_leave(qapp: QApplication, trace: Trace) -> None:
    picture = picture_of(trace)
    wide = lay_out_growing(picture, QSizeF(900, 300), QFont(), 1.0)
    narrow = lay_out_growing(picture, QSizeF(360, 900), QFont(), 1.0)
    assert wide.bars > 0
    assert narrow.bars == 0
    assert narrow.matrix.right() < 360
    unknown = replace(picture, log_probabilities=None)
    assert lay_out_growing(unknown, QSizeF(360, 900), QFont(), 1.0).cell > narrow.cell
