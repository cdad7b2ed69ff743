"""Token labels: always plain text, elided to fit, whatever characters a token holds.

Special tokens are grey chips, unknown ones are underlined, byte pieces are softer and read ⟨E2⟩.
On an axis a faint low line before a label is the ▁ of the vocabulary: a word starts here. A label
without it continues the word before.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from core.text.tokens import BYTE_PIECES, WORD_START, Token, TokenKind
from core.text.words import written
from transformer_viz.drawing.theme import GRID, Theme, scaled_font

ARROW = " → "
_ONE_LINE = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine
_MIDDLE_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_CHIP_PADDING = GRID
_MARK_ROOM = 2 * GRID  # before a label, for the mark that a word starts
_MOST_CODES = 8
_FROM_RIGHT = {"R", "AL", "AN", "RLE", "RLO", "RLI"}
_VISIBLE_SPACE = {" ": "␣", WORD_START: "␣", "\n": "⏎", "\r": "⏎", "\t": "⇥"}


def display_text(token: Token) -> str:
    """The label with everything invisible made visible: spaces, controls, lone surrogates."""
    shown = _visible(token.label)
    return BYTE_PIECES.sub(_hexadecimal, shown) if token.kind is TokenKind.BYTE else shown


def _hexadecimal(pieces: re.Match[str]) -> str:
    """As in ⟨E2 80⟩ for ``<0xE2><0x80>``."""
    return f"⟨{pieces[0].replace('><0x', ' ')[3:-1]}⟩"


@lru_cache(maxsize=16_384)
def _visible(label: str) -> str:
    text = "".join(_visible_character(character) for character in label)
    if any(unicodedata.category(character) not in {"Cf", "Mn"} for character in text):
        return text
    return _code_points(text)


def _code_points(text: str) -> str:
    """As in "U+52D5 U+7269": readable even where no font has the characters."""
    codes = [f"U+{ord(character):04X}" for character in text]
    if len(codes) > _MOST_CODES:
        codes[_MOST_CODES:] = ["…"]
    return " ".join(codes)


def isolated(text: str) -> str:
    """The text so that it cannot reorder a sentence around it: between Unicode isolates if some
    of it is written from the right."""
    if any(unicodedata.bidirectional(character) in _FROM_RIGHT for character in text):
        return f"\u2068{text}\u2069"
    return text


def describe(token: Token, index: int) -> str:
    """A token in full, for tooltips: position, text, piece and id."""
    text = f"{index + 1}: {isolated(display_text(token))}"
    if token.kind is TokenKind.UNKNOWN:
        characters = f": {_code_points(token.surface)}" if token.surface else ""
        return f"{text}\nnot in the vocabulary{characters}"
    if token.id >= 0:
        return f"{text}\npiece {isolated(token.piece)}, id {token.id}"
    return text


def describe_at(tokens: Sequence[Token], index: int) -> str:
    """Describe a token among others: what the bytes around it spell, and whether it goes on with
    the word before."""
    text = describe(tokens[index], index)
    if tokens[index].kind is TokenKind.BYTE:
        first, last = index, index + 1
        while first > 0 and tokens[first - 1].kind is TokenKind.BYTE:
            first -= 1
        while last < len(tokens) and tokens[last].kind is TokenKind.BYTE:
            last += 1
        spelled = isolated(_visible(written(tokens[first:last])))
        sizes = [len(token.data.lstrip(b" ")) for token in tokens[first:last]]
        before = sum(sizes[: index - first])
        upto = before + sizes[index - first]
        which = f"byte {upto}" if upto == before + 1 else f"bytes {before + 1} to {upto}"
        place = f"{which} of {sum(sizes)}"
        return f"{text}\n{place}" + (f", together {spelled}" if last - first > 1 else "")
    if index > 0 and not tokens[index].starts_word:
        return f"{text}\ncontinues the previous word"
    return text


def _visible_character(character: str) -> str:
    if character in _VISIBLE_SPACE:
        return _VISIBLE_SPACE[character]
    category = unicodedata.category(character)
    if category == "Cs":
        return "\ufffd"
    if category == "Cc":
        return _code_points(character)
    return "␣" if character.isspace() else character


def label_widths(font: QFont, tokens: Iterable[Token], *, word_marks: bool = False) -> list[float]:
    """How wide each label is when it is marked, that is bold."""
    metrics = QFontMetricsF(scaled_font(font, 1.0, bold=True))
    measured: dict[tuple[str, TokenKind, str], float] = {}
    widths = []
    for token in tokens:
        seen = look(token)
        if seen not in measured:
            padding = 2 * _CHIP_PADDING if token.kind is TokenKind.SPECIAL else 0
            padding += _MARK_ROOM if word_marks and _has_word_mark(token) else 0
            measured[seen] = metrics.horizontalAdvance(display_text(token)) + padding
        widths.append(measured[seen])
    return widths


def look(token: Token) -> tuple[str, TokenKind, str]:
    """Return all that a label depends on: long texts repeat their tokens."""
    return token.piece, token.kind, token.surface


def _has_word_mark(token: Token) -> bool:
    return token.piece.startswith(WORD_START) and token.label != WORD_START


def draw_label(
    painter: QPainter,
    rect: QRectF,
    token: Token,
    theme: Theme,
    *,
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignRight,
    strong: bool = False,
    soft: bool = False,
    word_mark: bool = False,
) -> float:
    """Draw the label inside `rect` in the painter's font; returns the width it took. `align`: to
    the left, right or middle."""
    if word_mark and _has_word_mark(token):
        return _draw_marked_label(painter, rect, token, theme, align, strong, soft)
    font = QFont(painter.font())
    if strong:
        painter.setFont(scaled_font(font, 1.0, bold=True))
    metrics = QFontMetricsF(painter.font())
    padding = _CHIP_PADDING if token.kind is TokenKind.SPECIAL else 0
    room = max(0.0, rect.width() - 2 * padding)
    text = display_text(token)
    width = metrics.horizontalAdvance(text)
    if width > room:
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        width = metrics.horizontalAdvance(text)
    width = min(rect.width(), width + 2 * padding)
    left = rect.left()
    if align is Qt.AlignmentFlag.AlignRight:
        left = rect.right() - width
    elif align is Qt.AlignmentFlag.AlignHCenter:
        left = rect.center().x() - width / 2
    box = QRectF(left, rect.top(), width, rect.height())
    if token.kind is TokenKind.SPECIAL:
        _draw_chip(painter, box, metrics.height(), theme, strong)
    painter.setPen(theme.color(_ink(token, strong, soft)))
    painter.drawText(box, _ONE_LINE, text)
    if token.kind is TokenKind.UNKNOWN:
        underline = box.center().y() + metrics.height() / 2 - 1
        painter.setPen(QPen(theme.color("warning"), 1.5, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(box.left(), underline), QPointF(box.right(), underline))
    if strong:
        painter.setFont(font)
    return width


def _draw_marked_label(
    painter: QPainter,
    rect: QRectF,
    token: Token,
    theme: Theme,
    align: Qt.AlignmentFlag,
    strong: bool,
    soft: bool,
) -> float:
    """The label after a low line, which is drawn, since fonts differ in their ▁."""
    inner = rect.adjusted(_MARK_ROOM, 0, 0, 0)
    width = draw_label(painter, inner, token, theme, align=align, strong=strong, soft=soft)
    left = inner.right() - width if align is Qt.AlignmentFlag.AlignRight else inner.left()
    metrics = QFontMetricsF(painter.font())
    y = rect.center().y() - metrics.height() / 2 + metrics.ascent() + 1.5
    painter.setPen(QPen(theme.color("border"), 1))
    painter.drawLine(QPointF(left - _MARK_ROOM + 1, y), QPointF(left - 2, y))
    return width + _MARK_ROOM


def _draw_chip(painter: QPainter, box: QRectF, height: float, theme: Theme, strong: bool) -> None:
    chip = QRectF(box.left(), box.center().y() - height / 2, box.width(), height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("accent_soft" if strong else "chip"))
    painter.drawRoundedRect(chip, GRID - 1, GRID - 1)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _ink(token: Token, strong: bool, soft: bool) -> str:
    if strong:
        return "accent"
    if token.kind is TokenKind.UNKNOWN:
        return "warning"
    return "soft" if soft or token.kind in (TokenKind.SPECIAL, TokenKind.BYTE) else "ink"


def draw_transition(
    painter: QPainter,
    rect: QRectF,
    token: Token,
    predicted: Token,
    theme: Theme,
    *,
    strong: bool = False,
) -> None:
    """A decoder row, right-aligned: the token that asks, an arrow, the token it predicts."""
    room = rect.width()
    arrow = QFontMetricsF(painter.font()).horizontalAdvance(ARROW)
    query = min(label_widths(painter.font(), [token], word_marks=True)[0], room * 0.4)
    right = rect.adjusted(query + arrow, 0, 0, 0)
    width = draw_label(painter, right, predicted, theme, strong=strong, word_mark=True)
    rest = rect.adjusted(0, 0, -width, 0)
    painter.setPen(theme.color("accent" if strong else "faint"))
    painter.drawText(rest, _MIDDLE_RIGHT, ARROW)
    draw_label(painter, rest.adjusted(0, 0, -arrow, 0), token, theme, soft=True, word_mark=True)


def draw_slanted(
    painter: QPainter,
    foot: QPointF,
    length: float,
    token: Token,
    theme: Theme,
    *,
    strong: bool = False,
) -> None:
    """A label that rises at 45° from `foot`, at most `length` long."""
    height = QFontMetricsF(painter.font()).height()
    painter.save()
    painter.translate(foot)
    painter.rotate(-45)
    draw_label(
        painter,
        QRectF(0, -height / 2, length, height),
        token,
        theme,
        align=Qt.AlignmentFlag.AlignLeft,
        strong=strong,
        word_mark=True,
    )
    painter.restore()


def label_step(pitch: float, needed: float) -> int:
    """Return n so that labelling every n-th token fits labels `needed` pixels apart into cells
    `pitch` apart.

    1, then the round numbers 2, 5, 10, 20, 50 …
    """
    step, factor = 1, 0
    while step * pitch < needed:
        step = (2, 5, 10)[factor % 3] * 10 ** (factor // 3)
        factor += 1
    return step
