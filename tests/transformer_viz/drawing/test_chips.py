from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from core.text.tokens import Token, TokenKind
from transformer_viz.drawing.chips import COMPACT, NORMAL, draw_chip, lay_out_chips
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import LIGHT

pieces = st.lists(st.sampled_from(["▁Das", "▁Tier", "lief", ",", "▁" + "x" * 200]), max_size=30)


@given(pieces, st.integers(50, 900))
def test_chips_do_not_overlap_and_lines_break_between_words(
    qapp, texts: list[str], width: int
) -> None:
    tokens = [Token(text) for text in texts]
    rects = lay_out_chips(tokens, width, qapp.font()).rects
    assert len(rects) == len(tokens)
    assert all(rect.right() <= width or rect.left() == 0 for rect in rects)
    for index in range(1, len(rects)):
        before, rect = rects[index - 1], rects[index]
        if rect.top() == before.top():
            gap = rect.left() - before.right()
            assert gap == 0 if not tokens[index].starts_word else gap > 0
        else:
            assert tokens[index].starts_word or word_width(tokens, rects, index) > width
            assert rect.left() == 0
            assert rect.top() > before.bottom()


@given(pieces, st.integers(50, 400), st.integers(-50, 400), st.integers(0, 100))
def test_a_band_of_the_flow_touches_exactly_its_chips(
    qapp, texts: list[str], width: int, top: int, height: int
) -> None:
    layout = lay_out_chips([Token(text) for text in texts], width, qapp.font())
    touched = [
        index
        for index, rect in enumerate(layout.rects)
        if rect.bottom() >= top and rect.top() <= top + height
    ]
    assert list(layout.between(top, top + height)) == touched


def test_compact_chips_take_less_room(qapp) -> None:
    tokens = [Token("▁Tier")] * 20
    normal = lay_out_chips(tokens, 300, qapp.font())
    compact = lay_out_chips(tokens, 300, qapp.font(), COMPACT)
    assert compact.height < 0.7 * normal.height


def word_width(tokens: list[Token], rects: tuple[QRectF, ...], index: int) -> float:
    """Of the word that a token is a piece of."""
    first = last = index
    while first > 0 and not tokens[first].starts_word:
        first -= 1
    while last + 1 < len(tokens) and not tokens[last + 1].starts_word:
        last += 1
    return sum(rect.width() for rect in rects[first : last + 1])


def test_a_special_token_never_joins_a_word(qapp) -> None:
    tokens = [
        Token("<s>", 2, TokenKind.SPECIAL),
        Token("lief"),
        Token("</s>", 3, TokenKind.SPECIAL),
    ]
    rects = lay_out_chips(tokens, 900, qapp.font()).rects
    assert all(a.right() < b.left() for a, b in pairwise(rects))


def picture(**look: object) -> np.ndarray:
    image = QImage(80, 40, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(LIGHT.color("chrome"))
    with QPainter(image) as painter:
        options = {"chosen": False, "hovered": False, "log_probability": None} | look
        draw_chip(painter, QRectF(4, 4, 60, NORMAL.height), Token("es"), LIGHT, **options)
    return to_array(image)


def test_the_chosen_and_the_hovered_chip_look_different(qapp) -> None:
    looks = {picture(**look).tobytes() for look in ({}, {"chosen": True}, {"hovered": True})}
    assert len(looks) == 3


def test_the_bar_is_as_long_as_the_token_is_probable(qapp) -> None:
    blank = picture()

    def length(probability: float) -> int:
        drawn = picture(log_probability=float(np.log(probability)))
        return int((drawn != blank).any(axis=2).any(axis=0).sum())

    assert abs(length(1.0) - 52) <= 1
    assert length(0.5) == length(1.0), "what is missing is seen as a track"


def pixels_of(color: str, drawn: np.ndarray) -> int:
    wanted = LIGHT.color(color)
    rgb = np.array([wanted.red(), wanted.green(), wanted.blue()])
    return int((drawn[..., :3] == rgb).all(axis=-1).sum())


@pytest.mark.parametrize("probability", [1.0, 0.5, 0.0])
def test_the_bar_is_as_much_of_its_track_as_the_token_is_probable(qapp, probability: float) -> None:
    drawn = picture(log_probability=float(np.log(max(probability, 1e-9))))
    full = pixels_of("soft", picture(log_probability=0.0))
    assert pixels_of("soft", drawn) == pytest.approx(probability * full, abs=3)


def test_a_guess_is_told_by_shape_and_not_by_colour_alone(qapp) -> None:
    sure = picture(log_probability=-0.1).mean(axis=2)
    guess = picture(log_probability=-0.1, guess=True, asked=True).mean(axis=2)
    edge = guess[4, 8:40]  # along the upper edge, in grey
    assert len(np.unique(np.abs(np.diff(np.sign(edge - np.median(edge)))))) > 1, "dashes"
    assert np.abs(sure[4, 8:40] - np.median(sure[4, 8:40])).max() < 1
    corner = (slice(6, 18), slice(48, 62))
    assert np.abs(sure[corner] - guess[corner]).max() > 100, "a disc with its mark"


def test_a_chip_leaves_room_for_its_question_mark(qapp) -> None:
    tokens = [Token("▁es"), Token("▁es")]
    plain, asked = lay_out_chips(tokens, 900, qapp.font(), asked={1}).rects
    assert asked.width() > plain.width()
