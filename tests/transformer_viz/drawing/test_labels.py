import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter

from core.text.tokens import Token, TokenKind
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.labels import (
    describe,
    describe_at,
    display_text,
    draw_label,
    draw_slanted,
    draw_transition,
    isolated,
    label_step,
    label_widths,
)
from transformer_viz.drawing.theme import DARK, LIGHT, Theme

ODD = ["<b>bold</b>", "a & b", "😀", "日本語", "שלום", "مرحبا", "e\u0301", "x" * 80, "\u202e"]


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        ("▁animal", "animal"),
        ("lief", "lief"),
        ("▁", "␣"),
        ("\t", "⇥"),
        ("\n", "⏎"),
        ("\u00a0", "␣"),
        ("\x00", "U+0000"),
        ("\u200b", "U+200B"),
        ("\ud800", "\ufffd"),
        ("<b>", "<b>"),
        ("&amp;", "&amp;"),
    ],
)
def test_nothing_is_invisible_and_nothing_is_markup(piece: str, shown: str) -> None:
    assert display_text(Token(piece)) == shown


def test_an_unknown_token_shows_what_was_typed() -> None:
    assert display_text(Token("<unk>", 1, TokenKind.UNKNOWN, surface="日本")) == "日本"


@given(st.text(st.characters(codec="utf-16-be"), max_size=20))
def test_any_label_has_something_to_show(piece: str) -> None:
    shown = display_text(Token(piece))
    assert bool(shown) == bool(Token(piece).label)
    assert not any(character < " " for character in shown)


def test_bytes_are_readable_and_say_what_they_spell_together() -> None:
    euro = [Token(f"<0x{byte:02X}>", 9, TokenKind.BYTE) for byte in "€".encode()]
    tokens = [Token("▁5"), *euro, Token("▁x")]
    assert [display_text(token) for token in euro] == ["⟨E2⟩", "⟨82⟩", "⟨AC⟩"]
    assert "byte 2 of 3, together €" in describe_at(tokens, 2)
    assert describe_at(euro[:1], 0).endswith("byte 1 of 1")
    half = [Token("▁<0xE2><0x82>", kind=TokenKind.BYTE), Token("<0xAC>", kind=TokenKind.BYTE)]
    assert [display_text(token) for token in half] == ["⟨E2 82⟩", "⟨AC⟩"]
    assert "bytes 1 to 2 of 3, together €" in describe_at(half, 0)


def test_a_description_among_others_says_what_continues_a_word() -> None:
    tokens = [Token("▁sch", 7), Token("lief", 8), Token("</s>", 3, TokenKind.SPECIAL)]
    continues = ["continues" in describe_at(tokens, index) for index in range(3)]
    assert continues == [False, True, False]


def test_a_mark_stands_before_the_start_of_a_word(qapp) -> None:
    def extent(token: Token, word_mark: bool) -> np.ndarray:
        box = QRectF(40, 80, 120, 24)
        drawn = paint(lambda p: draw_label(p, box, token, LIGHT, word_mark=word_mark), LIGHT)
        return np.nonzero(drawn.any(axis=0))[0]

    start, inner = Token("▁lief"), Token("lief")
    assert extent(start, True)[0] < extent(start, False)[0] - 4
    assert (extent(inner, True) == extent(start, False)).all()
    plain, marked = (label_widths(qapp.font(), [start], word_marks=on)[0] for on in (False, True))
    assert plain < marked == pytest.approx(plain + 8)


def test_only_text_from_the_right_is_isolated() -> None:
    assert isolated("animal") == "animal"
    assert isolated("שלום") == "\u2068שלום\u2069"


def test_a_description_has_the_whole_token() -> None:
    text = describe(Token("▁" + "x" * 80, 17), 4)
    assert "x" * 80 in text
    assert text.startswith("5: ")
    assert "17" in text
    unknown = describe(Token("<unk>", 1, TokenKind.UNKNOWN, surface="日"), 0)
    assert unknown.endswith("not in the vocabulary: U+65E5")
    predicted = describe(Token("<unk>", 1, TokenKind.UNKNOWN), 0)
    assert predicted.endswith("not in the vocabulary")


def paint(draw, theme: Theme, size: int = 200) -> np.ndarray:
    """Which pixels something drawn on paper has changed."""
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(theme.color("paper"))
    blank = to_array(image)
    with QPainter(image) as painter:
        draw(painter)
    return (to_array(image) != blank).any(axis=2)


@pytest.mark.parametrize("text", ODD, ids=ascii)
@pytest.mark.parametrize("kind", TokenKind)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_label_is_seen_and_stays_in_its_box(qapp, text: str, kind: TokenKind, theme) -> None:
    token = Token(text, 5, kind, surface=text)
    box = QRectF(40, 80, 90, 24)
    changed = paint(lambda painter: draw_label(painter, box, token, theme), theme)
    assert changed[80:104, 40:131].any()
    changed[76:108, 38:133] = False  # a glyph may overhang by a pixel or two
    assert not changed.any()


def test_markup_is_drawn_as_text(qapp) -> None:
    token = Token("<b>x</b>")
    font = qapp.font()
    widths = []

    def draw(painter: QPainter) -> None:
        painter.setFont(font)
        widths.append(draw_label(painter, QRectF(0, 0, 200, 20), token, LIGHT))

    paint(draw, LIGHT)
    assert widths[0] == pytest.approx(QFontMetricsF(font).horizontalAdvance("<b>x</b>"))


def test_kinds_can_be_told_apart(qapp) -> None:
    def picture(kind: TokenKind) -> bytes:
        token = Token("abc", 5, kind, surface="abc")
        image = QImage(80, 24, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(LIGHT.color("paper"))
        with QPainter(image) as painter:
            draw_label(painter, QRectF(0, 0, 80, 24), token, LIGHT)
        return to_array(image).tobytes()

    assert len({picture(kind) for kind in TokenKind}) == len(TokenKind)


@pytest.mark.parametrize(
    ("align", "inside"),
    [
        (Qt.AlignmentFlag.AlignLeft, slice(0, 60)),
        (Qt.AlignmentFlag.AlignHCenter, slice(70, 130)),
        (Qt.AlignmentFlag.AlignRight, slice(140, 200)),
    ],
)
def test_a_label_keeps_to_its_side(qapp, align: Qt.AlignmentFlag, inside: slice) -> None:
    box = QRectF(0, 80, 200, 24)
    changed = paint(lambda p: draw_label(p, box, Token("word"), LIGHT, align=align), LIGHT)
    assert changed[:, inside].any()
    changed[:, inside] = False
    assert not changed.any()


def test_a_slanted_label_rises_to_the_right(qapp) -> None:
    foot = QPointF(50, 150)
    changed = paint(lambda p: draw_slanted(p, foot, 120, Token("animal"), LIGHT), LIGHT)
    y, x = np.nonzero(changed)
    assert (np.abs((x - 50) - (150 - y)) < 20).all(), "along the diagonal"
    assert x.max() > 70


@pytest.mark.parametrize("text", ["x" * 80, "日" * 40])
def test_a_slanted_label_is_at_most_as_long_as_it_may_be(qapp, text: str) -> None:
    changed = paint(lambda p: draw_slanted(p, QPointF(20, 180), 60, Token(text), LIGHT), LIGHT)
    _y, x = np.nonzero(changed)
    assert x.max() <= 20 + 60 * 0.7072 + 12


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_a_transition_stays_in_its_box(qapp, text: str) -> None:
    box = QRectF(20, 80, 150, 24)

    def draw(painter: QPainter) -> None:
        draw_transition(painter, box, Token(text), Token(text), LIGHT)

    changed = paint(draw, LIGHT)
    changed[76:108, 18:173] = False
    assert not changed.any()


def test_measured_labels_fit_what_is_measured_for_them(qapp) -> None:
    tokens = [Token(text, 5, kind) for text in ODD for kind in TokenKind]
    for token, width in zip(tokens, label_widths(qapp.font(), tokens), strict=True):
        for strong in (False, True):

            def draw(painter: QPainter, token=token, width=width, strong=strong) -> None:
                painter.setFont(qapp.font())
                taken = draw_label(painter, QRectF(0, 0, 2000, 20), token, LIGHT, strong=strong)
                assert taken <= width + 0.01

            paint(draw, LIGHT, 10)


@given(st.floats(0.01, 200), st.floats(1, 50))
def test_steps_are_round_and_no_larger_than_needed(pitch: float, needed: float) -> None:
    step = label_step(pitch, needed)
    assert step * pitch >= needed
    assert str(step).rstrip("0") in {"1", "2", "5"}
    smaller = {"1": step // 2, "2": step // 2, "5": step * 2 // 5}[str(step)[0]]
    assert step == 1 or smaller * pitch < needed
