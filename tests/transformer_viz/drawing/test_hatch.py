import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QPainter

from transformer_viz.drawing.hatch import PERIOD, hatch, hatch_brush
from transformer_viz.drawing.images import to_array, to_image
from transformer_viz.drawing.theme import DARK, LIGHT


def test_the_pattern_tiles_seamlessly() -> None:
    one = hatch(PERIOD, PERIOD, LIGHT)
    assert (np.tile(one, (3, 2, 1)) == hatch(3 * PERIOD, 2 * PERIOD, LIGHT)).all()


def test_lines_have_another_colour_than_their_ground() -> None:
    for theme in (LIGHT, DARK):
        assert len(np.unique(hatch(12, 12, theme).reshape(-1, 4), axis=0)) == 2


@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_the_brush_paints_the_pattern_from_its_origin(qapp, ratio: float) -> None:
    image = QImage(int(40 * ratio), int(40 * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    with QPainter(image) as painter:
        painter.fillRect(QRectF(0, 0, 40, 40), hatch_brush(LIGHT, QPointF(5, 3), ratio))
    period = round(PERIOD * ratio)
    expected = hatch(4 * period, 4 * period, LIGHT, period=period, thickness=round(ratio))
    top, left = int(3 * ratio), int(5 * ratio)
    found = to_array(image)[top : top + 4 * period, left : left + 4 * period]
    assert (found == expected).all()


def test_pixels_survive_the_way_to_an_image_and_back() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 4), dtype=np.uint8)
    pixels[..., 3] = 255
    assert (to_array(to_image(pixels)) == pixels).all()


def test_only_rgba_becomes_an_image() -> None:
    with pytest.raises(ValueError, match="RGBA"):
        to_image(np.zeros((2, 2, 3), np.uint8))
