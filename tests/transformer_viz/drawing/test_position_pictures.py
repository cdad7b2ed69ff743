"""Where things lie in the pictures of positions, and that they say what is there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont, QImage, QPainter

from transformer_viz.drawing.diverging import diverging_table, encode_signed
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.scales import Legend
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.positions.extent import Extent, regions
from transformer_viz.positions.number_map import NumberMap, lay_out_map, map_image
from transformer_viz.positions.rotation import TurnedPair, draw_pair, face_size

pytestmark = pytest.mark.usefixtures("qapp")


def extent(
    shown: int = 60, end: int | None = None, trained: int | None = 40, sentence: int = 5
) -> Extent:
    return Extent(shown=shown, end=end, trained=trained, sentence=sentence)


def test_what_a_picture_shows_of_the_positions() -> None:
    assert regions(extent()) == [(0, 40), (40, 60)]
    assert regions(extent(end=50)) == [(0, 40), (40, 50), (50, 60)]
    assert regions(extent(trained=None)) == [(0, 60)]
    assert regions(extent(trained=100)) == [(0, 60)]
    assert extent(end=50).present == 50
    assert extent(shown=30, end=50).present == 30
    assert [mark.position for mark in extent(end=50).marks()] == [5, 40, 50]
    assert [mark.position for mark in extent(end=60, sentence=0).marks()] == [40]


@pytest.mark.parametrize(
    ("about", "words"),
    [
        (extent(), "the angles continue"),
        (extent(end=50), "kept their random initial values; after position 49"),
        (extent(end=50, trained=None), "After position 49 the table ends"),
        (extent(end=40), "After position 39 the table ends"),
    ],
)
def test_what_lies_beyond_is_said(about: Extent, words: str) -> None:
    assert words in about.sentence_about_end()


@given(
    rows=st.integers(1, 700),
    columns=st.integers(1, 700),
    square=st.booleans(),
    row=st.floats(0, 0.999),
    column=st.floats(0, 0.999),
)
def test_the_cell_drawn_is_the_cell_read(
    rows: int, columns: int, square: bool, row: float, column: float
) -> None:
    rect = QRectF(0, 0, 690, 400)
    layout = lay_out_map(rect, (rows, columns), square, QFont())
    cell = int(row * rows), int(column * columns)
    assert layout.cell_at(layout.cell_rect(*cell).center()) == cell
    assert rect.contains(layout.cells)
    assert layout.cell_at(layout.cells.topLeft() - QPointF(1, 1)) is None
    assert layout.cell_at(layout.cells.bottomRight() + QPointF(1, 1)) is None
    if square:
        assert layout.width == pytest.approx(layout.height)


@pytest.mark.parametrize("shape", [(4, 3), (90, 4), (191, 16)])
def test_every_cell_has_its_own_colour(shape: tuple[int, int]) -> None:
    """Also where rows take no whole number of pixels and columns many: nothing runs together."""
    values = np.random.default_rng(0).choice([-1.0, 1.0], size=shape)
    shown = extent(shown=shape[0])
    picture = NumberMap(encode_signed(values, 1), shown, False, "dimension", Legend((), ()))
    layout = lay_out_map(QRectF(0, 0, 690, 400), shape, False, QFont())
    pixels = to_array(map_image(picture, layout, diverging_table(LIGHT), 2.0)).astype(int)
    for row in range(shape[0]):
        for column in range(shape[1]):
            center = layout.cell_rect(row, column).center() - layout.cells.topLeft()
            red, _, blue, _ = pixels[int(2 * center.y()), int(2 * center.x())]
            assert (blue > red) == (values[row, column] > 0)


def test_more_cells_than_pixels_give_their_mean() -> None:
    values = np.tile([1.0, -1.0], (2000, 1000))
    shown = extent(shown=2000)
    picture = NumberMap(encode_signed(values, 1), shown, False, "dimension", Legend((), ()))
    layout = lay_out_map(QRectF(0, 0, 690, 400), values.shape, False, QFont())
    table = diverging_table(LIGHT)
    pixels = to_array(map_image(picture, layout, table, 1.0))[..., :3].astype(float)
    mean = (table[255, :3].astype(float) + table[1, :3]) / 2
    assert np.abs(pixels.mean(axis=(0, 1)) - mean).max() < 3


def test_the_point_turned_lies_where_the_ring_is() -> None:
    pair = TurnedPair("dims 0, 1", "", np.pi / 2, 1 + 0j, 1j, 1j)
    size = QSizeF(200, 260)
    image = QImage(200, 260, QImage.Format.Format_ARGB32)
    image.fill(LIGHT.color("paper"))
    with QPainter(image) as painter:
        draw_pair(painter, QRectF(QPointF(0, 0), size), pair, 1.0, LIGHT, QFont())
    side = face_size(size, QFont())
    center = QPointF(100, side / 2)

    def near(point: QPointF, token: str) -> bool:
        color = LIGHT.color(token).getRgb()[:3]
        x, y = round(point.x()), round(point.y())
        area = to_array(image)[max(0, y - 4) : y + 5, max(0, x - 4) : x + 5, :3].astype(int)
        return bool((np.abs(area - color).max(axis=-1) < 40).any())

    reach = side / 2 - 12
    assert near(center + QPointF(0, -reach), "accent"), "a quarter turn points upwards"
    assert near(center + QPointF(reach, 0), "soft"), "from the right"
    assert not near(center + QPointF(0, reach), "accent")
