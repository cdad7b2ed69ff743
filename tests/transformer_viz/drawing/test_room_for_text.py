"""What stands beside a picture has room for its words, however large the system's text is."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont, QFontMetricsF

from core.trace.trace import AttentionKind, Head
from transformer_viz.drawing import colorbar, share_bars
from transformer_viz.drawing.axes import NUMBER_SIZE
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.theme import GRID, scaled_font
from transformer_viz.drawing.word_rows import WordColumns
from transformer_viz.heads.head_grid import GridLayout
from transformer_viz.reach import probe_curves
from transformer_viz.words.statistics import head_label
from transformer_viz.words.wording import head_name

pytestmark = pytest.mark.usefixtures("qapp")

HEAD = Head(AttentionKind.DECODER_SELF, 5, 7)
SIZES = pytest.mark.parametrize("points", [9, 12, 16, 24])


def advance(text: str, font: QFont, factor: float) -> float:
    return QFontMetricsF(scaled_font(font, factor)).horizontalAdvance(text)


@SIZES
def test_names_beside_rows_of_words(points: int) -> None:
    font = QFont("Sans Serif", points)
    columns = WordColumns(1200, 12, font)
    line = QFontMetricsF(scaled_font(font, 1.0)).height()
    assert columns.names >= 3 * GRID + advance(head_label(HEAD), font, 1.0)
    assert columns.score - 2 * GRID >= advance("both right", font, 0.9)
    assert columns.line >= line
    assert columns.words >= 2 * QFontMetricsF(scaled_font(font, 0.9)).height()
    assert columns.left == columns.names + columns.sides


@SIZES
def test_names_beside_curves(points: int) -> None:
    font = QFont("Sans Serif", points)
    room = probe_curves.gutter(font) - probe_curves.MARGIN
    assert room >= advance(head_name(HEAD), font, 0.9)


@SIZES
def test_captions_of_colour_bars_and_shares(points: int) -> None:
    font = QFont("Sans Serif", points)
    assert colorbar.room(font) >= advance("absolute 0–1", font, 0.85)
    beside = share_bars.room(font) - share_bars.BAR - 3 * GRID
    assert beside >= advance(percent(1.0), font, NUMBER_SIZE)


def test_a_map_of_heads_leaves_more_room_beside_it_for_larger_text() -> None:
    heads = [Head(AttentionKind.CROSS, layer, head) for layer in range(4) for head in range(8)]
    usual, large = (
        GridLayout([heads], 400, 600, QFont("Sans Serif", points)) for points in (9, 24)
    )
    assert large.right < usual.right
