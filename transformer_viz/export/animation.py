"""The decoding as an animated GIF: one frame a step, the map growing row by row.

Nothing in here touches a widget: it runs in any thread.
"""

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image
from PySide6.QtCore import QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter

from core.errors import UserError
from core.text.tokens import Token
from core.trace.trace import AttentionKind
from transformer_viz.drawing.labels import display_text
from transformer_viz.drawing.matrix import (
    MatrixPicture,
    Style,
    fit_matrix,
    matrix_image,
    paint_matrix,
)
from transformer_viz.drawing.theme import GRID, scaled_font

MOST_STEPS = 200
STEP_MS, LAST_MS = 700, 2500
COLORS = 256
BAND = 64  # lines of an image, or colours, that are worked on at once
TABLE_STEP = 2  # every second colour of the table is in the palette
SIZE = QSize(200 * GRID, 160 * GRID)  # at most; what a small map leaves free is cut off
_LEAST_HEIGHT = 60 * GRID
_HEADER = 16 * GRID


@dataclass(frozen=True, slots=True, eq=False)
class Decoding:
    """The complete map of a decoder head, which is animated, and the name of that head."""

    title: str
    kind: AttentionKind
    picture: MatrixPicture

    @property
    def steps(self) -> int:
        return len(self.picture.rows)


def to_gif(
    decoding: Decoding, style: Style, scale: int, progress: Callable[[int, int], None]
) -> bytes:
    """Encode the decoding as an animated GIF.

    Raises:
        UserError: the decoding has more steps than anyone would watch.
    """
    steps = decoding.steps
    if steps > MOST_STEPS:
        raise UserError(
            f"This decoding has {steps:,} steps and an animation may have {MOST_STEPS}; "
            "shorten the text."
        )

    ends = [paint_step(decoding, step, style, scale=1) for step in (0, steps - 1)]
    palette = _Palette(ends, style.table)
    frames = []
    for step in range(steps):
        progress(step, steps)
        frames.append(palette.reduce(paint_step(decoding, step, style, scale)))
    first, *rest = frames
    data = io.BytesIO()
    first.save(
        data,
        "GIF",
        save_all=True,
        append_images=rest,
        duration=[STEP_MS] * (steps - 1) + [LAST_MS],
        loop=0,
    )
    return data.getvalue()


def paint_step(decoding: Decoding, step: int, style: Style, scale: int) -> QImage:
    """The map as it stands when row `step` has been computed: later rows are empty, and their
    tokens not yet known."""
    picture = decoding.picture
    layout = fit_matrix(picture, QSizeF(SIZE) - QSizeF(0, _HEADER), style.font, scale)
    height = max(math.ceil(layout.matrix.bottom()) + 4 * GRID, _LEAST_HEIGHT)
    image = QImage(SIZE.width() * scale, (_HEADER + height) * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(style.theme.color("paper"))
    cells = matrix_image(picture, layout, style, scale)
    done = round((step + 1) * layout.cell * scale)
    with QPainter(cells) as painter:
        painter.fillRect(0, done, cells.width(), cells.height(), style.theme.color("chrome"))
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _draw_header(painter, decoding, step, style)
        painter.translate(0, _HEADER)
        so_far = _until(decoding, step)
        paint_matrix(painter, layout, so_far, style, cells, height, (step, None))
    return image


def _until(decoding: Decoding, step: int) -> MatrixPicture:
    """The picture with no more labels than tokens are there."""
    picture, end = decoding.picture, step + 1
    columns_end = end if decoding.kind is AttentionKind.DECODER_SELF else len(picture.columns)
    return replace(
        picture,
        rows=picture.rows[:end],
        row_numbers=picture.row_numbers[:end],
        predicted=picture.predicted[:end],
        columns=picture.columns[:columns_end],
        column_numbers=picture.column_numbers[:columns_end],
        hidden=None if picture.hidden is None else picture.hidden[:end],
    )


def _draw_header(painter: QPainter, decoding: Decoding, step: int, style: Style) -> None:
    """The head and the step, and below them the translation so far."""
    left, width = 4 * GRID, SIZE.width() - 8 * GRID
    line = _HEADER / 2
    middle = Qt.AlignmentFlag.AlignVCenter
    bold = scaled_font(style.font, 1.0, bold=True)
    painter.setFont(bold)
    painter.setPen(style.theme.color("ink"))
    metrics = QFontMetricsF(style.font)
    count = f"step {step + 1} of {decoding.steps}"
    room = width - metrics.horizontalAdvance(count) - 4 * GRID
    title = QFontMetricsF(bold).elidedText(decoding.title, Qt.TextElideMode.ElideRight, room)
    painter.drawText(QRectF(left, 2 * GRID, width, line), middle, title)
    painter.setFont(style.font)
    painter.setPen(style.theme.color("soft"))
    right = Qt.AlignmentFlag.AlignRight | middle
    painter.drawText(QRectF(left, 2 * GRID, width, line), right, count)
    said = _text(decoding.picture.predicted[: step + 1])
    shown = metrics.elidedText(said, Qt.TextElideMode.ElideLeft, width)
    painter.setPen(style.theme.color("ink"))
    painter.drawText(QRectF(left, GRID + line, width, line), middle, shown)


def _text(tokens: Sequence[Token]) -> str:
    words = (
        " " * (token.starts_word and number > 0) + display_text(token)
        for number, token in enumerate(tokens)
    )
    return "".join(words)


class _Palette:
    """The colours that all frames share: some of the colour table, and the most frequent ones of
    `images`. So paper, text and most cells keep theirs exactly; Pillow's own reduction rounds."""

    def __init__(self, images: Sequence[QImage], table: np.ndarray) -> None:
        pixels = np.concatenate([_packed(image).ravel() for image in images])
        colors, counts = np.unique(pixels, return_counts=True)
        frequent = colors[np.argsort(counts)[::-1]]
        red, green, blue = table[1::TABLE_STEP, :3].astype(np.uint32).T
        steps = red << 16 | green << 8 | blue
        kept = list(dict.fromkeys([*steps.tolist(), *frequent.tolist()]))[:COLORS]
        self._colors = _unpacked(np.array(kept, np.uint32))  # [COLORS, 3]
        self._nearest = np.zeros(1 << 24, np.uint8)
        self._known = np.zeros(1 << 24, np.bool_)

    def reduce(self, image: QImage) -> Image.Image:
        """Band by band, so that the thread of the window never waits long for this one."""
        packed = _packed(image)
        bands = [self._reduced(band) for band in np.array_split(packed, len(packed) // BAND + 1)]
        reduced = Image.fromarray(np.concatenate(bands))
        reduced.putpalette(self._colors.astype(np.uint8).tobytes())
        return reduced

    def _reduced(self, packed: np.ndarray) -> np.ndarray:
        """Each colour's place in the palette, uint8 of the same shape."""
        new = np.unique(packed[~self._known[packed]])
        for part in np.array_split(new, len(new) // BAND + 1):
            distances = _unpacked(part)[:, None] - self._colors  # [part, COLORS, 3]
            self._nearest[part] = np.argmin((distances**2).sum(axis=-1), axis=-1)
        self._known[new] = True
        return self._nearest[packed]


def _packed(image: QImage) -> np.ndarray:
    """The colours of an image of Format_RGB32 as uint32 [height, width], 0x00RRGGBB."""
    pixels = np.frombuffer(image.constBits(), np.uint32)
    return pixels.reshape(image.height(), image.width()) & 0xFFFFFF


def _unpacked(colors: np.ndarray) -> np.ndarray:
    """int32 [..., 3] of packed colours."""
    return (colors[..., None] >> np.array([16, 8, 0], np.uint32) & 255).astype(np.int32)
