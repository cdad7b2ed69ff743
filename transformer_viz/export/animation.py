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
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.labels import display_text
from transformer_viz.drawing.matrix import (
    MatrixPicture,
    Style,
    fit_matrix,
    matrix_image,
    paint_matrix,
)
from transformer_viz.theme import GRID, scaled_font

MOST_STEPS = 200
STEP_MS, LAST_MS = 700, 2500
COLORS = 256
SIZE = QSize(200 * GRID, 160 * GRID)  # at most; what a small map leaves free is cut off
_LEAST_HEIGHT = 60 * GRID
_HEADER = 16 * GRID


@dataclass(frozen=True, slots=True, eq=False)
class Decoding:
    """What is animated: the map of a decoder head, whole, and the name of that head."""

    title: str
    kind: AttentionKind
    picture: MatrixPicture

    @property
    def steps(self) -> int:
        return len(self.picture.rows)


def to_gif(
    decoding: Decoding, style: Style, scale: int, progress: Callable[[int, int], None]
) -> bytes:
    """
    Raises:
        UserError: the decoding has more steps than anyone would watch.
    """
    steps = decoding.steps
    if steps > MOST_STEPS:
        raise UserError(
            f"This decoding has {steps:,} steps and an animation may have {MOST_STEPS}; "
            "shorten the text."
        )

    palette = _palette(paint_step(decoding, steps - 1, style, scale))
    frames = []
    for step in range(steps):
        progress(step, steps)
        pixels = _pixels(paint_step(decoding, step, style, scale))
        frame = Image.fromarray(np.ascontiguousarray(pixels))
        frames.append(frame.quantize(palette=palette, dither=Image.Dither.NONE))
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
    painter.drawText(QRectF(left, 2 * GRID, width, line), middle, decoding.title)
    painter.setFont(style.font)
    painter.setPen(style.theme.color("soft"))
    count = f"step {step + 1} of {decoding.steps}"
    right = Qt.AlignmentFlag.AlignRight | middle
    painter.drawText(QRectF(left, 2 * GRID, width, line), right, count)
    metrics = QFontMetricsF(style.font)
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


def _palette(image: QImage) -> Image.Image:
    """The most frequent colours of a frame, exactly: paper and cells keep theirs, and what gets
    the nearest one is the rest of the smooth edges of letters."""
    wide = _pixels(image).astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    colors, counts = np.unique(wide, return_counts=True)
    kept = colors[np.argsort(counts)[::-1][:COLORS]]
    palette = Image.new("P", (1, 1))
    palette.putpalette([value >> shift & 255 for value in kept.tolist() for shift in (16, 8, 0)])
    return palette


def _pixels(image: QImage) -> np.ndarray:
    """RGB uint8 [height, width, 3]."""
    return to_array(image)[..., :3]
