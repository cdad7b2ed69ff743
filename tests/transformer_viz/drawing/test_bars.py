import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from core.text.tokens import Token
from transformer_viz.drawing.bars import ROW, Bar, draw_bars, heaviest
from transformer_viz.drawing.images import to_array
from transformer_viz.theme import LIGHT


def test_the_heaviest_come_first_and_ties_by_position() -> None:
    tokens = [Token(text) for text in "abcd"]
    bars = heaviest(np.array([0.1, 0.4, 0.1, 0.4]), tokens, 3)
    assert [(bar.key, bar.token.label) for bar in bars] == [(1, "b"), (3, "d"), (0, "a")]


def test_a_bar_is_as_long_as_its_weight(qapp) -> None:
    bars = [Bar(0, Token("a"), 1.0), Bar(1, Token("b"), 0.5), Bar(2, Token("c"), 0.0)]
    image = QImage(240, 3 * ROW, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(LIGHT.color("paper"))
    with QPainter(image) as painter:
        draw_bars(painter, QRectF(0, 0, 240, 3 * ROW), bars, LIGHT, qapp.font(), marked=None)
    accent = LIGHT.color("accent")
    is_accent = (to_array(image)[..., :3] == [accent.red(), accent.green(), accent.blue()]).all(
        axis=2
    )
    full, half, none = (is_accent[i * ROW + ROW // 2].sum() for i in range(3))
    assert full > 60
    assert abs(half - full / 2) <= 1
    assert none == 0


def test_equal_tokens_are_told_apart_by_their_places(qapp) -> None:
    def drawn(key: int) -> np.ndarray:
        image = QImage(240, ROW, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(LIGHT.color("paper"))
        with QPainter(image) as painter:
            bars = [Bar(key, Token("the"), 0.5)]
            draw_bars(painter, QRectF(0, 0, 240, ROW), bars, LIGHT, qapp.font(), marked=None)
        return to_array(image)

    assert (drawn(0)[:, 120:] == drawn(6)[:, 120:]).all()
    assert (drawn(0) != drawn(6)).any()
