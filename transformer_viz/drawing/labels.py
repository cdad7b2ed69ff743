"""Token labels: always plain text, elided to fit, whatever characters a token holds.

Special tokens are grey chips, unknown ones are underlined, byte pieces are softer.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from core.text.tokens import WORD_START, Token, TokenKind
from transformer_viz.theme import GRID, Theme, scaled_font

ARROW = " → "
_CHIP_PADDING = GRID
_FROM_RIGHT = {"R", "AL", "AN", "RLE", "RLO", "RLI"}
_VISIBLE_SPACE = {" ": "␣", WORD_START: "␣", "\n": "⏎", "\r": "⏎", "\t": "⇥"}


def display_text(token: Token) -> str:
    """The label with everything invisible made visible: spaces, controls, lone surrogates."""
    return _visible(token.label)


@lru_cache(maxsize=16_384)
def _visible(label: str) -> str:
    text = "".join(_visible_character(character) for character in label)
    if any(unicodedata.category(character) not in {"Cf", "Mn"} for character in text):
        return text
    return " ".join(f"U+{ord(character):04X}" for character in text)


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
        return f"{text}\nnot in the vocabulary"
    if token.id >= 0:
        return f"{text}\npiece {isolated(token.piece)}, id {token.id}"
    return text


def _visible_character(character: str) -> str:
    if character in _VISIBLE_SPACE:
        return _VISIBLE_SPACE[character]
    category = unicodedata.category(character)
    if category == "Cs":
        return "\ufffd"
    if category == "Cc":
        return f"U+{ord(character):04X}"
    return "␣" if character.isspace() else character


def label_widths(font: QFont, tokens: Iterable[Token]) -> list[float]:
    """How wide each label is when it is marked, that is bold."""
    metrics = QFontMetricsF(scaled_font(font, 1.0, bold=True))
    measured: dict[tuple[str, TokenKind], float] = {}
    widths = []
    for token in tokens:
        look = display_text(token), token.kind
        if look not in measured:
            padding = 2 * _CHIP_PADDING if token.kind is TokenKind.SPECIAL else 0
            measured[look] = metrics.horizontalAdvance(look[0]) + padding
        widths.append(measured[look])
    return widths


def draw_label(
    painter: QPainter,
    rect: QRectF,
    token: Token,
    theme: Theme,
    *,
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignRight,
    strong: bool = False,
    soft: bool = False,
) -> float:
    """Draw the label inside `rect` in the painter's font; returns the width it took."""
    font = QFont(painter.font())
    if strong:
        painter.setFont(scaled_font(font, 1.0, bold=True))
    metrics = QFontMetricsF(painter.font())
    padding = _CHIP_PADDING if token.kind is TokenKind.SPECIAL else 0
    room = max(0.0, rect.width() - 2 * padding)
    text = metrics.elidedText(display_text(token), Qt.TextElideMode.ElideRight, room)
    width = min(rect.width(), metrics.horizontalAdvance(text) + 2 * padding)
    left = rect.left()
    if align & Qt.AlignmentFlag.AlignRight:
        left = rect.right() - width
    elif align & Qt.AlignmentFlag.AlignHCenter:
        left = rect.center().x() - width / 2
    box = QRectF(left, rect.top(), width, rect.height())
    if token.kind is TokenKind.SPECIAL:
        _draw_chip(painter, box, metrics.height(), theme, strong)
    painter.setPen(theme.color(_ink(token, strong, soft)))
    flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine
    painter.drawText(box, flags, text)
    if token.kind is TokenKind.UNKNOWN:
        underline = box.center().y() + metrics.height() / 2 - 1
        painter.setPen(QPen(theme.color("warning"), 1.5, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(box.left(), underline), QPointF(box.right(), underline))
    painter.setFont(font)
    return width


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
    query = min(label_widths(painter.font(), [token])[0], room * 0.4)
    width = draw_label(
        painter, rect.adjusted(query + arrow, 0, 0, 0), predicted, theme, strong=strong
    )
    rest = rect.adjusted(0, 0, -width, 0)
    painter.setPen(theme.color("accent" if strong else "faint"))
    painter.drawText(rest, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, ARROW)
    draw_label(painter, rest.adjusted(0, 0, -arrow, 0), token, theme, soft=True)


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
    )
    painter.restore()


def label_step(pitch: float, needed: float) -> int:
    """Label every n-th token so that labels `needed` pixels apart fit cells `pitch` apart.

    1, then the round numbers 2, 5, 10, 20, 50 …
    """
    step, factor = 1, 0
    while step * pitch < needed:
        step = (2, 5, 10)[factor % 3] * 10 ** (factor // 3)
        factor += 1
    return step
