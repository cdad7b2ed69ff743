"""PE(pos + k) as one rotation of PE(pos), the same for every position."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QSlider,
    QVBoxLayout,
)

from core.trace.positions import Complexes, PositionTable, Shift, rotation, shift
from transformer_viz.drawing.diverging import diverging_table
from transformer_viz.drawing.numbers import share
from transformer_viz.drawing.strips import HEIGHT as STRIP
from transformer_viz.drawing.strips import draw_strip
from transformer_viz.drawing.theme import GRID, LIGHT, Theme, scaled_font, taller
from transformer_viz.positions.position_page import PositionPage, PositionState
from transformer_viz.positions.rotation import TurnedPair, draw_pair, draw_rotation, face_size
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.number_boxes import WholeBox
from transformer_viz.widgets.picture import Picture
from transformer_viz.widgets.text_line import label

MOST_PAIRS = 4
MARGIN = 4 * GRID
_FIXED = "R_k, the same at every position"
_NEAREST = "R_k, best fit for all positions"
_STRIPS = (("PE(pos)", "soft"), ("R_k · PE(pos)", "accent"), ("PE(pos + k)", "warning"))
_TURNED = (("turned to pos", "soft"), ("R_k · that", "accent"), ("turned to pos + k", "warning"))


@dataclass(frozen=True, slots=True)
class ShiftPicture:
    """What the page shows; `vectors`: PE(pos), R_k PE(pos) and PE(pos + k), [3, D], `matrix`,
    `columns` and `title`: R_k on the pairs drawn."""

    pairs: tuple[TurnedPair, ...]
    vectors: np.ndarray
    matrix: np.ndarray
    columns: tuple[int, ...]
    title: str
    rotary: bool


class ShiftCanvas(Picture):
    """The picture of a shift: left, pairs as clock faces; right, the part of R_k that turns them;
    below, whole vectors."""

    def __init__(self) -> None:
        super().__init__("Shift as a rotation")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.shown: ShiftPicture | None = None

    def minimumSizeHint(self) -> QSize:
        return QSize(60 * GRID, 48 * GRID)

    def show_picture(self, picture: ShiftPicture, theme: Theme) -> None:
        self.shown, self.theme = picture, theme
        self.update()

    def frame(self) -> QRectF | None:
        return None

    def paint(self, painter: QPainter) -> None:
        if self.shown is None:
            return
        inside = QRectF(self.rect()).adjusted(MARGIN, GRID, -MARGIN, -GRID)
        pitch = taller(STRIP + 2 * GRID, scaled_font(self.font(), 0.85))
        strips = inside.adjusted(0, inside.height() - 3 * pitch - GRID, 0, 0)
        above = inside.adjusted(0, 0, 0, -strips.height() - 3 * GRID)
        side = min(0.42 * inside.width(), above.height(), 76 * GRID)
        self._draw_matrix(painter, QRectF(above.right() - side, above.top(), side, side))
        self._draw_pairs(painter, above.adjusted(0, 0, -side - 4 * GRID, 0))
        self._draw_strips(painter, strips, pitch)

    def _draw_pairs(self, painter: QPainter, rect: QRectF) -> None:
        assert self.shown is not None
        pairs = self.shown.pairs
        columns = max(
            range(1, len(pairs) + 1),
            key=lambda count: face_size(
                QSizeF(rect.width() / count, rect.height() / -(-len(pairs) // count)), self.font()
            ),
        )
        rows = -(-len(pairs) // columns)
        width, height = rect.width() / columns, rect.height() / rows
        radius = max((abs(p) for pair in pairs for p in (pair.start, pair.target)), default=1.0)
        for index, pair in enumerate(pairs):
            left = rect.left() + index % columns * width
            top = rect.top() + index // columns * height
            cell = QRectF(left, top, width, height)
            draw_pair(painter, cell, pair, radius or 1.0, self.theme, self.font())

    def _draw_matrix(self, painter: QPainter, rect: QRectF) -> None:
        assert self.shown is not None
        small = scaled_font(self.font(), 0.85)
        line = QFontMetricsF(small).height()
        painter.setFont(small)
        painter.setPen(self.theme.color("ink"))
        title = QRectF(rect.left(), rect.top(), rect.width(), line)
        painter.drawText(title, 0, self.shown.title)
        draw_rotation(
            painter,
            rect.adjusted(0, line + GRID, 0, 0),
            self.shown.matrix,
            self.shown.columns,
            diverging_table(self.theme),
            self.theme,
            self.font(),
        )

    def _draw_strips(self, painter: QPainter, rect: QRectF, pitch: float) -> None:
        assert self.shown is not None
        table = diverging_table(self.theme)
        strips = _TURNED if self.shown.rotary else _STRIPS
        painter.setFont(scaled_font(self.font(), 0.85))
        names = 2 * GRID + max(
            QFontMetricsF(painter.font()).horizontalAdvance(name) for name, _ in strips
        )
        limit = float(np.abs(self.shown.vectors).max()) or 1.0
        for row, ((name, token), values) in enumerate(zip(strips, self.shown.vectors, strict=True)):
            top = rect.top() + row * pitch
            painter.setPen(self.theme.color(token))
            painter.drawText(
                QRectF(rect.left(), top, names, pitch), Qt.AlignmentFlag.AlignVCenter, name
            )
            strip = QRectF(
                rect.left() + names, top + (pitch - STRIP) / 2, rect.width() - names, STRIP
            )
            draw_strip(painter, strip, values, limit, table, self.theme)


class PositionShift(PositionPage):
    def __init__(self) -> None:
        super().__init__()
        self._state: PositionState | None = None
        self._theme = LIGHT
        self._points: Complexes | None = None  # of the table shown
        self._shift: Shift | None = None
        self.k = Amount("k", "Shift by k positions", 5)
        self.position = Amount("pos", "Position", 0)
        self.canvas = ShiftCanvas()
        self.statement = label("title", wrap=True)
        self.statement.setContentsMargins(MARGIN, 0, MARGIN, 0)
        controls = QGridLayout()
        controls.setContentsMargins(MARGIN, 0, MARGIN, GRID)
        controls.setHorizontalSpacing(2 * GRID)
        controls.setColumnStretch(1, 1)
        for row, amount in enumerate((self.k, self.position)):
            for column, part in enumerate((amount.name, amount.slider, amount.box)):
                controls.addWidget(part, row, column)
            amount.box.valueChanged.connect(self._refresh)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 2 * GRID)
        rows.addLayout(controls)
        rows.addWidget(self.canvas, 1)
        rows.addWidget(self.statement)

    def picture(self) -> Picture:
        return self.canvas

    def show_state(self, state: PositionState, theme: Theme) -> None:
        if self._state is None or self._state.table is not state.table:
            self._points, self._shift = state.table.points, None
        self._state, self._theme = state, theme
        last = len(state.table.values) - 1
        self.k.set_maximum(last // 2)
        self.position.set_maximum(last - last // 2)
        self._refresh()

    def _refresh(self) -> None:
        if self._state is None or self._points is None:
            return
        table, k = self._state.table, self.k.box.value()
        if self._shift is None or self._shift.k != k:
            self._shift = shift(self._points, k, table.frequencies)
        position = self.position.box.value()
        pairs = _chosen_pairs(table, self._state.dimensions)
        picture = shift_picture(table, self._points, self._shift, position, pairs)
        self.canvas.show_picture(picture, self._theme)
        self.statement.setText(shift_statement(table, self._shift))
        turns = ", ".join(f"{pair.name} by {pair.angle:.2f} rad" for pair in picture.pairs)
        announce(self.canvas, f"Position {position} shifted by {k}: {turns}")


class Amount:
    """A slider and a box for the same whole number."""

    def __init__(self, name: str, description: str, value: int) -> None:
        self.name = QLabel(name)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setValue(value)
        self.box = WholeBox(value=value)
        for part in (self.slider, self.box):
            part.setAccessibleName(description)
            part.setToolTip(description)
        self.slider.valueChanged.connect(self.box.setValue)
        self.box.valueChanged.connect(self.slider.setValue)

    def set_maximum(self, maximum: int) -> None:
        self.slider.setMaximum(maximum)
        self.box.setMaximum(maximum)


def _chosen_pairs(table: PositionTable, dimensions: tuple[int, ...]) -> list[int]:
    """The pairs of the chosen dimensions, each once, as many as can be drawn."""
    pairs = dict.fromkeys(table.pair_of(dimension)[0] for dimension in dimensions)
    return list(pairs)[:MOST_PAIRS]


def shift_picture(
    table: PositionTable, points: Complexes, one: Shift, position: int, pairs: list[int]
) -> ShiftPicture:
    """Make the picture; `points` are those of the table."""
    start, target = points[position], points[position + one.k]  # [D/2]
    three = np.stack([start, start * np.exp(1j * one.angles), target])
    vectors = np.empty((3, table.d_model))
    sine, cosine = table.pairs.T
    vectors[:, sine], vectors[:, cosine] = three.imag, three.real
    wavelengths = table.wavelengths
    turned = [
        TurnedPair(
            name="dims " + ", ".join(map(str, sorted(table.pairs[pair].tolist()))),
            note="" if wavelengths is None else f"wavelength {wavelengths[pair]:,.1f}",
            angle=float(one.angles[pair]),
            start=complex(three[0, pair]),
            turned=complex(three[1, pair]),
            target=complex(three[2, pair]),
        )
        for pair in pairs
    ]
    blocks = np.arange(2 * len(pairs)).reshape(-1, 2)
    return ShiftPicture(
        pairs=tuple(turned),
        vectors=vectors,
        matrix=rotation(one.angles[pairs], blocks),
        columns=tuple(int(column) for column in table.pairs[pairs].ravel()),
        title=_NEAREST if table.learned else _FIXED,
        rotary=table.rotary,
    )


def shift_statement(table: PositionTable, one: Shift) -> str:
    if table.learned:
        largest = float(np.abs(table.values).max())
        return (
            "No fixed rotation maps a learned PE(pos) to PE(pos + k): the best fit, pair by "
            f"pair, is off by up to {share(one.error)}; entries are as large as {share(largest)}."
        )
    if table.rotary:
        return (
            "A key k positions further on is turned by R_k more, wherever it is, so q · k depends "
            "on the distance alone: the largest difference over all "
            f"{len(table.values) - one.k} positions and {table.d_model} dimensions is "
            f"{share(one.error)}."
        )
    return (
        "PE(pos + k) = R_k · PE(pos), with the same R_k for every position: the largest "
        f"difference over all {len(table.values) - one.k} positions and {table.d_model} "
        f"dimensions is {share(one.error)}."
    )
