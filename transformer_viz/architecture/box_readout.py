"""Below the diagram: what the chosen box is, and what it holds for the chosen token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.text.tokens import Token
from core.trace.states import most_active
from transformer_viz.architecture.box_values import BoxValues
from transformer_viz.drawing.diverging import diverging_table
from transformer_viz.drawing.numbers import compact
from transformer_viz.drawing.strips import cell_rect, draw_hatch, draw_strip
from transformer_viz.drawing.theme import GRID, LIGHT, Theme, scaled_font
from transformer_viz.words.wording import token_name

_MARGIN = 4 * GRID
_STRIP = 4 * GRID
_FADED = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class BoxReport:
    """What is said of a box.

    Attributes:
        title: which box it is.
        size: its shape and its parameters.
        token: for which token its numbers are; empty where there is none.
        note: why there are no numbers, or what they say in short.
        values: the numbers.
        stale: whether newer ones are on their way.
    """

    title: str
    size: str
    token: str
    note: str
    values: BoxValues | None = None
    stale: bool = False


def values_in_words(values: BoxValues, keys: Sequence[Token], head: int | None) -> str:
    """Say what a vector is, how long it is, and where it is largest."""
    numbers = values.numbers
    said = values.noun if head is None else f"head {head + 1}: {values.noun}"
    if not numbers.size:
        return f"{said}: none"
    if values.over_keys:
        top = int(np.nanargmax(np.where(np.isfinite(values.vector), values.vector, np.nan)))
        largest = f"largest {compact(float(values.vector[top]))} at “{token_name(keys[top])}”"
        hidden = len(values.vector) - len(numbers)
        masked = f" · {hidden} masked" if hidden else ""
        return f"{said} · {largest} · {len(values.vector)} keys{masked}"
    if values.noun == "active units":
        units = ", ".join(
            f"{unit.number + 1} ({compact(unit.activation)})"
            for unit in most_active(values.vector, 3)
        )
        active = int(np.count_nonzero(values.vector > 0))
        return f"{active:,} of {len(numbers):,} units are above 0 · most active: {units}"
    low, high = compact(float(numbers.min())), compact(float(numbers.max()))
    return f"{said} · norm {compact(values.norm)} · {len(numbers):,} numbers, {low} to {high}"


def readout_height(font: QFont) -> int:
    """Return the height of a readout in a font."""
    return round(3 * 1.35 * QFontMetricsF(font).height() + _STRIP + 4 * GRID)


def draw_readout(
    painter: QPainter, rect: QRectF, report: BoxReport, theme: Theme, font: QFont
) -> None:
    """Draw the readout into `rect`, on any device."""
    line = 1.35 * QFontMetricsF(font).height()
    inner = rect.adjusted(_MARGIN, 2 * GRID, -_MARGIN, -GRID)
    painter.setPen(theme.color("line"))
    painter.drawLine(rect.topLeft(), rect.topRight())
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    left = Qt.AlignmentFlag.AlignVCenter
    row = QRectF(inner.left(), inner.top(), inner.width(), line)
    token_width = _put(painter, row, report.token, font, theme, "accent", right)
    title = row.adjusted(0, 0, -token_width - 4 * GRID, 0)
    _put(painter, title, report.title, scaled_font(font, 1.0, bold=True), theme, "ink", left)
    row.translate(0, line)
    _put(painter, row, report.size, font, theme, "soft", left)
    row.translate(0, line)
    strip = QRectF(inner.left(), row.top() + GRID, inner.width(), _STRIP)
    if report.values is not None and report.values.numbers.size:
        _draw_values(painter, strip, report.values, theme)
        row.translate(0, _STRIP + 1.5 * GRID)
    _put(painter, row, report.note, font, theme, "ink", left)
    if report.stale:
        veil = theme.color("paper")
        veil.setAlphaF(_FADED)
        painter.fillRect(strip.united(row), veil)


def _put(
    painter: QPainter,
    rect: QRectF,
    text: str,
    font: QFont,
    theme: Theme,
    color: str,
    align: Qt.AlignmentFlag,
) -> float:
    """Draw a line, elided where it has no room; returns its width."""
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    painter.setPen(theme.color(color))
    elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, align, elided)
    return metrics.horizontalAdvance(elided)


def _draw_values(painter: QPainter, rect: QRectF, values: BoxValues, theme: Theme) -> None:
    finite = np.isfinite(values.vector)
    shown = np.where(finite, values.vector, 0)
    limit = float(np.abs(values.numbers).max())
    draw_strip(painter, rect, shown, limit, diverging_table(theme), theme)
    for index in np.flatnonzero(~finite):
        cell = cell_rect(rect, int(index), len(shown))
        painter.fillRect(cell, theme.color("hatch_paper"))
        draw_hatch(painter, cell, theme)


class BoxReadout(QWidget):
    """The readout in the window."""

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme = LIGHT
        self._report: BoxReport | None = None
        self.setAccessibleName("The chosen box")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def report(self) -> BoxReport | None:
        """What is said now."""
        return self._report

    def show_report(self, report: BoxReport | None, theme: Theme) -> None:
        """Show another report."""
        self._report, self.theme = report, theme
        self.setAccessibleDescription("" if report is None else report_in_words(report))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(80 * GRID, readout_height(self.font()))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._report is not None:
            with QPainter(self) as painter:
                painter.fillRect(event.rect(), self.theme.color("paper"))
                draw_readout(painter, QRectF(self.rect()), self._report, self.theme, self.font())


def report_in_words(report: BoxReport) -> str:
    """Return a report as one text, for screen readers."""
    return ". ".join(
        part.rstrip(".") for part in (report.title, report.size, report.token, report.note) if part
    )
