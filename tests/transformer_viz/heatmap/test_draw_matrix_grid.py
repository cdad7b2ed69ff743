import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont

from tests.transformer_viz.drawing.test_matrix import picture
from transformer_viz.heatmap.draw_matrix_grid import fit_grid

SIZE = QSizeF(700, 500)


@given(st.integers(1, 16), st.integers(1, 60), st.integers(1, 60))
def test_maps_lie_apart_and_in_sight(qapp, count: int, rows: int, columns: int) -> None:
    layout = fit_grid(picture(rows, columns), count, SIZE, QFont(), 1.0)
    rects = [tile.matrix.united(layout.caption(index)) for index, tile in enumerate(layout.tiles)]
    assert len(rects) == count
    for index, rect in enumerate(rects):
        assert QRectF(QPointF(), SIZE).contains(rect)
        assert not any(rect.intersects(other) for other in rects[:index])
    assert len({tile.cell for tile in layout.tiles}) == 1


@given(st.integers(1, 16), st.integers(1, 30), st.integers(1, 30), st.data())
def test_every_map_knows_its_cells(
    qapp, count: int, rows: int, columns: int, data: st.DataObject
) -> None:
    layout = fit_grid(picture(rows, columns), count, SIZE, QFont(), 1.0)
    index = data.draw(st.integers(0, count - 1))
    cell = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    point = layout.tiles[index].cell_rect(*cell).center()
    assert layout.cell_at(point) == cell
    assert layout.tile_at(point) == index


def test_a_caption_belongs_to_its_map_and_to_no_cell(qapp) -> None:
    layout = fit_grid(picture(5, 5), 3, SIZE, QFont(), 1.0)
    point = layout.caption(2).center()
    assert layout.tile_at(point) == 2
    assert layout.cell_at(point) == (None, None)
    assert layout.tile_at(QPointF(1, 1)) is None


@pytest.mark.parametrize(("count", "across"), [(1, 1), (2, 2), (4, 2)])
def test_maps_are_as_large_as_the_picture_allows(qapp, count: int, across: int) -> None:
    assert fit_grid(picture(16, 16), count, SIZE, QFont(), 1.0).across == across
