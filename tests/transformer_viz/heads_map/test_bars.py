import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from core.text.tokens import Token
from core.trace.head_map import entries
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.heads_map.bars import Bar, draw_bars, heaviest, row_height


def test_the_heaviest_come_first_and_ties_by_position() -> None:
    keys = entries([Token("▁" + text) for text in "abcd"])
    bars = heaviest(np.array([0.1, 0.4, 0.1, 0.4]), keys, 3)
    assert [(bar.key, bar.token.label) for bar in bars] == [(1, "b"), (3, "d"), (0, "a")]


def test_a_word_is_one_bar_at_all_of_its_places() -> None:
    keys = entries([Token("▁a"), Token("▁sch"), Token("lief")], merge_words=True)
    bar, _ = heaviest(np.array([0.2, 0.8]), keys, 2)
    assert (bar.key, bar.token.label, bar.place) == (2, "schlief", "2–3")


def test_a_bar_is_as_long_as_its_weight(qapp) -> None:
    row = row_height(qapp.font())
    bars = [Bar(i, Token("a"), weight, str(i + 1)) for i, weight in enumerate((1.0, 0.5, 0.0))]
    image = QImage(240, 3 * row, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(LIGHT.color("paper"))
    with QPainter(image) as painter:
        draw_bars(painter, QRectF(0, 0, 240, 3 * row), bars, LIGHT, qapp.font(), marked=None)
    accent = LIGHT.color("accent")
    is_accent = (to_array(image)[..., :3] == [accent.red(), accent.green(), accent.blue()]).all(
        axis=2
    )
    full, half, none = (is_accent[i * row + row // 2].sum() for i in range(3))
    assert full > 60
    assert abs(half - full / 2) <= 1
    assert none == 0


def test_equal_tokens_are_told_apart_by_their_places(qapp) -> None:
    row = row_height(qapp.font())

    def drawn(key: int) -> np.ndarray:
        image = QImage(240, row, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(LIGHT.color("paper"))
        with QPainter(image) as painter:
            bars = [Bar(key, Token("the"), 0.5, str(key + 1))]
            draw_bars(painter, QRectF(0, 0, 240, row), bars, LIGHT, qapp.font(), marked=None)
        return to_array(image)

    assert (drawn(0)[:, 120:] == drawn(6)[:, 120:]).all()
    assert (drawn(0) != drawn(6)).any()
