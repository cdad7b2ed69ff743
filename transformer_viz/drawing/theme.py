"""Light and dark: the colours, distances and sizes of text that pictures and widgets share.

A view draws with the tokens of a `Theme`; it never names a colour itself.
"""

import math
from dataclasses import dataclass

from PySide6.QtGui import QColor, QFont, QFontMetricsF

GRID = 4
"""Every distance in the window is a multiple of this many logical pixels."""

_USUAL_LINE = 14.0  # px, of the text that fixed widths are made for


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The colours as ``#rrggbb``, named by what each is for, never by what it looks like."""

    name: str
    dark: bool
    paper: str  # under pictures and text to edit; also the colour of weight 0
    chrome: str  # bars and panels around the paper
    raised: str  # buttons, cards, chips
    hover: str  # a raised thing under the pointer
    line: str  # hairlines between areas
    border: str  # edges of things that can be operated
    ink: str  # text
    soft: str  # labels beside values
    faint: str  # indices and other text that may be overlooked
    accent: str  # the one accent: selection, focus, bars
    accent_soft: str  # ground of a selected thing
    on_accent: str  # text on the accent
    chip: str  # ground of special tokens
    hatch: str  # lines over masked cells
    hatch_paper: str  # ground of masked cells
    warning: str  # unknown words, limits
    error: str

    def color(self, token: str) -> QColor:
        return QColor(getattr(self, token))


LIGHT = Theme(
    name="light",
    dark=False,
    paper="#ffffff",
    chrome="#f5f5f1",
    raised="#ffffff",
    hover="#eeeeea",
    line="#dededa",
    border="#c6c6c0",
    ink="#1b1c1e",
    soft="#5f6063",
    faint="#85868a",
    accent="#1d5fc1",
    accent_soft="#e3edfb",
    on_accent="#ffffff",
    chip="#ececea",
    hatch="#d9d8d3",
    hatch_paper="#f4f3ef",
    warning="#a35200",
    error="#b3261e",
)

DARK = Theme(
    name="dark",
    dark=True,
    paper="#131518",
    chrome="#1c1f23",
    raised="#24272c",
    hover="#2d3137",
    line="#30343a",
    border="#474c54",
    ink="#eaecef",
    soft="#a3a8b0",
    faint="#7b818a",
    accent="#6ea8ff",
    accent_soft="#1d3152",
    on_accent="#0b1422",
    chip="#2b2f35",
    hatch="#3d434c",
    hatch_paper="#1f2328",
    warning="#f0a95a",
    error="#ff8a80",
)


def grown(length: float, font: QFont) -> float:
    """A length that suits text of the usual size, for text of this font: longer if it is larger."""
    return length * max(1.0, QFontMetricsF(font).height() / _USUAL_LINE)


def taller(height: float, font: QFont, lines: int = 1) -> int:
    """A height that suits so many lines of usual text, for this font if it is larger."""
    return math.ceil(height + lines * max(0.0, QFontMetricsF(font).height() - _USUAL_LINE))


def scaled_font(font: QFont, factor: float, *, bold: bool = False) -> QFont:
    """The font in another size, with tabular figures so that numbers align below each other."""
    result = QFont(font)
    if font.pointSizeF() > 0:
        result.setPointSizeF(font.pointSizeF() * factor)
    else:
        result.setPixelSize(max(1, round(font.pixelSize() * factor)))
    result.setBold(bold)
    result.setFeature(QFont.Tag("tnum"), 1)
    return result


def caption_font(font: QFont) -> QFont:
    return scaled_font(font, 0.75)
