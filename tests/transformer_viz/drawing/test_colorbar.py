import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QImage, QPainter

from transformer_viz.drawing.colorbar import MOST, WIDTH, draw_color_bar
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.scales import Legend, legend
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.state.options import ColorMap, Scale

TABLE = lookup_table(ColorMap.VIRIDIS, LIGHT)
LEFT, TOP = 10, 10


def draw(words: Legend, *, masked: bool = False, height: int = 400) -> np.ndarray:
    image = QImage(140, height + 20, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(LIGHT.color("paper"))
    with QPainter(image) as painter:
        rect = QRectF(LEFT, TOP, 120, height)
        draw_color_bar(painter, rect, TABLE, LIGHT, QFont(), legend=words, masked=masked)
    return to_array(image)


def bar(pixels: np.ndarray) -> np.ndarray:
    """The colours down the middle of the bar."""
    return pixels[TOP : TOP + MOST, LEFT + WIDTH // 2]


def test_the_bar_runs_from_the_last_colour_to_the_first(qapp) -> None:
    colors = bar(draw(legend(Scale.ABSOLUTE, 1)))
    assert np.abs(colors[2].astype(int) - TABLE[255]).max() < 10
    assert np.abs(colors[-3].astype(int) - TABLE[1]).max() < 10


def test_below_the_threshold_the_bar_is_blank(qapp) -> None:
    colors = bar(draw(legend(Scale.ABSOLUTE, 1, 0.25)))
    paper = (colors == LIGHT.color("paper").getRgb()).all(axis=1)
    assert paper[1:-1].mean() == pytest.approx(0.25, abs=0.02)
    assert not paper[: len(paper) // 2].any()


def test_scales_threshold_and_mask_are_written_below(qapp) -> None:
    pictures = [
        draw(legend(Scale.ABSOLUTE, 1)),
        draw(legend(Scale.LOG, 1)),
        draw(legend(Scale.ROW, 1)),
        draw(legend(Scale.ROW, 1, 0.1)),
        draw(legend(Scale.ROW, 1), masked=True),
    ]
    assert len({picture[TOP + MOST + 8 :].tobytes() for picture in pictures}) == len(pictures)


def test_where_there_is_no_room_for_the_bar_its_scale_is_still_named(qapp) -> None:
    pixels = draw(legend(Scale.ABSOLUTE, 1), height=60)
    assert (pixels != LIGHT.color("paper").getRgb()).any()
    assert not (bar(pixels)[:60] == TABLE[255]).all(axis=1).any()
