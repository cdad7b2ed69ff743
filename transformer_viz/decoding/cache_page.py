"""What decoding keeps: the bytes of the cache, the comparisons, and the time of a step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QHideEvent, QPainter, QShowEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from core.analysis.work import (
    FLOAT32,
    cache_size,
    comparisons,
    comparisons_without_cache,
)
from core.config import ModelConfig
from core.counted import counted
from transformer_viz.decoding.step_clock import StepClock
from transformer_viz.drawing.lines import Line, Mark, Plot
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.state.session import Session
from transformer_viz.widgets.line_plot import LinePlot
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel, label

LONG = (1_000, 10_000)
NO_SHAPE = "The shape of this model is not known, so its cache cannot be computed."
_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


class CachePage(QWidget):
    """The page Cache of the Decoding view; it follows the steps."""

    def __init__(self, session: Session, clock: StepClock) -> None:
        super().__init__()
        self._session = session
        self._clock = clock
        self._step: tuple[int, int] | None = None  # from 1, and of how many
        self.bytes = label("", wrap=True)
        self.compared = label("", wrap=True)
        self.state = label("soft", wrap=True)
        self.plot = LinePlot("Time of a decoding step", of="Target tokens")
        self._table = QWidget()
        self._table.setAccessibleName("Bytes of the cache by layer")
        self._grid = QGridLayout(self._table)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(6 * GRID)
        self._grid.setVerticalSpacing(GRID)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        for part in (self.bytes, self._table, self.compared, self.state):
            column.addWidget(part)
        column.addWidget(self.plot, 1)
        clock.changed.connect(self._show_times)

    def apply_theme(self, theme: Theme) -> None:
        self.plot.apply_theme(theme)

    def show_step(self, step: int, count: int) -> None:
        """Show the step of this number, from 0, of so many."""
        self._step = step + 1, count
        model, trace = self._session.model, self._session.trace
        config = None if model is None else model.config
        known = config is not None and trace is not None and trace.has_ids
        self._table.setVisible(known)
        self.compared.setVisible(known)
        if config is None or trace is None or not known:
            self.bytes.setText(NO_SHAPE)
            return
        source = len(trace.source_tokens)
        self.bytes.setText(cache_in_words(config, source))
        self._fill(config, source, step + 1, count)
        self.compared.setText(comparisons_in_words(step + 1, count))
        self._show_times()

    def _fill(self, config: ModelConfig, source: int, step: int, count: int) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            cell = item.widget()
            if cell is not None:
                cell.deleteLater()
        for row, texts in enumerate(cache_rows(config, source, step, count)):
            for column, text in enumerate(texts):
                cell = PlainLabel()
                cell.setText(text)
                set_role(cell, "soft" if row == 0 or column == 0 else "")
                side = Qt.AlignmentFlag.AlignLeft if column == 0 else Qt.AlignmentFlag.AlignRight
                self._grid.addWidget(cell, row, column, side)
        self._grid.setColumnStretch(5, 1)

    def _show_times(self) -> None:
        clock = self._clock
        lengths = sorted(clock.times)
        if clock.problem:
            self.state.setText(clock.problem)
        elif clock.running:
            self.state.setText("Measuring the time of a step on this machine…")
        else:
            self.state.setText("Time of a step on this machine, the fastest of three:")
        self.state.setVisible(bool(clock.running or lengths or clock.problem))
        self.plot.setVisible(bool(lengths))
        if lengths:
            self.plot.show_plot(times_plot(clock.times, self._step[1] if self._step else None))

    def export_size(self) -> QSize:
        return self.plot.size()

    def paint_export(self, painter: QPainter, rect: QRectF) -> None:
        painter.save()
        painter.translate(rect.topLeft())
        self.plot.paint(painter)
        painter.restore()

    @property
    def has_picture(self) -> bool:
        return bool(self._clock.times)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._clock.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.watch(False)


def in_bytes(count: int) -> str:
    """Format bytes: "960 bytes", "24 KiB", "1.5 MiB"."""
    for size, unit in _UNITS:
        if count >= size:
            return f"{count / size:,.1f}".removesuffix(".0") + f" {unit}"
    return counted(count, "byte")


def cache_in_words(config: ModelConfig, source: int) -> str:
    """What the cache holds, for each target token and once for the source."""
    cache = cache_size(config)
    own, crossed = sum(cache.own), sum(cache.cross)
    width = config.decoder_d_k + config.decoder_d_v
    keys = own * config.decoder_d_k // width
    return (
        f"Each target token adds {own:,} bytes to the cache: {keys:,} of keys and "
        f"{own - keys:,} of values, in {counted(config.decoder_layers, 'layer')} of "
        f"{counted(config.decoder_heads, 'head')}, {FLOAT32} bytes a number. The keys and values "
        f"of the {source} source tokens, for cross-attention, are kept once: "
        f"{in_bytes(crossed * source)}."
    )


def cache_rows(
    config: ModelConfig, source: int, step: int, count: int
) -> Iterator[tuple[str, ...]]:
    """Yield the head of the table, a row for each layer, and their sum."""
    cache = cache_size(config)
    lengths = (step, count, *LONG)
    names = (f"step {step}", f"the end, {count}", *(f"{long:,} tokens" for long in LONG))
    yield ("keys and values after", *names)
    for layer in range(config.decoder_layers):
        sizes = (cache.of_layer(layer, source, length) for length in lengths)
        yield (f"decoder layer {layer + 1}", *map(in_bytes, sizes))
    yield ("all layers", *(in_bytes(cache.of(source, length)) for length in lengths))


def comparisons_in_words(step: int, count: int) -> str:
    """How many keys a head of the decoder's self-attention compares its queries with."""
    so_far, without = comparisons(step), comparisons_without_cache(step)
    sum_of = "1" if step == 1 else "1 + 2" if step == 2 else f"1 + 2 + … + {step}"
    return (
        f"At step {step}, a self-attention head compares one query with {counted(step, 'key')}; in "
        f"all steps so far, {so_far:,} ({sum_of}), and {comparisons(count):,} at the end. Without "
        f"the cache, every step compares all rows anew: {without:,} so far, "
        f"{comparisons_without_cache(count):,} at the end."
    )


def times_plot(times: dict[int, tuple[float, float]], count: int | None) -> Plot:
    """The curves of both times, in milliseconds, and where this translation ends."""
    lengths = np.array(sorted(times), dtype=float)
    values = 1000 * np.array([times[int(length)] for length in lengths])
    within = count is not None and count <= lengths[-1]
    return Plot(
        tuple(
            Line(lengths, values[:, number], name, token, dots=True, suffix=" ms")
            for number, (name, token) in enumerate(
                (("with the cache", "accent"), ("without", "warning"))
            )
        ),
        (Mark(float(count), "this translation", True, "soft"),) if within and count else (),
        x_title="target tokens",
        y_title="ms per step",
        y_range=(0.0, 1.1 * float(values.max())),
    )
