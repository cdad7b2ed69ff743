"""The real window, pointed at and walked through, then 144 heads in two ways; prints seconds as
JSON.

bench_heads_map runs it. The arguments are those of the application.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pyqtgraph
from PySide6.QtCore import QCoreApplication, QEventLoop, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QGridLayout, QWidget

from core.text.tokens import Token
from core.trace.trace import AttentionKind, ComputedAttention, LayerProjections, Trace
from tests.benchmarks.app_child import run_window
from tests.benchmarks.startup_child import LOOK
from tests.transformer_viz.answers import quantities_of
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.engine.stream import Stream
from transformer_viz.heads_map.atlas import thumbnails
from transformer_viz.heads_map.atlas_view import AtlasView
from transformer_viz.heads_map.measured_heads import MeasuredHeads
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.startup import app
from transformer_viz.state.linking import Place
from transformer_viz.state.options import ColorMap
from transformer_viz.state.session import Phase, Session
from transformer_viz.widgets.spotlight import Spotlight

SENTENCE = "The old animal in front of the house didn't cross the street because it was too tired."
LAYERS, HEADS, TOKENS, WIDTH = 6, 8, 128, 64
ROUNDS = 60
PLOT_ROUNDS = 10
SIZE = (480, 900)


class WatchedWindow(app.Window):
    """Is measured when it first shows the sentence, and then closes."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self._look = QTimer(self, interval=LOOK)
        self._look.timeout.connect(self._begin)
        self._look.start()

    def _begin(self) -> None:
        trace = self._session.trace
        if self._session.text != SENTENCE:
            self.show_text(SENTENCE)
        ready = self._session.status.phase is Phase.READY and not self.is_painting()
        if trace is None or trace.text != SENTENCE or not ready:
            return
        self._look.stop()
        tokens = len(trace.source_tokens)
        seconds = {"hover": self._hover(), "switch": self._switch()}
        large = large_trace()
        seconds |= heads_map(large)
        build, seconds["plots"] = plots(large)
        print(json.dumps({"tokens": tokens, "build": build, "seconds": seconds}), flush=True)
        self.close()

    def _hover(self) -> list[float]:
        """From a move of the pointer to another cell until everything that follows is painted."""
        canvas = self.stage.of(Heatmap).canvas
        cells = [canvas.cell_rect(i % 14, (i * 5) % 14).center().toPoint() for i in range(ROUNDS)]
        return [_timed(partial(QTest.mouseMove, canvas, cell)) for cell in cells]

    def _switch(self) -> list[float]:
        """From an arrow key in the heads map until everything that follows is painted."""
        picture = self.heads_map.picture
        picture.setFocus()
        keys = [Qt.Key.Key_Left] * (ROUNDS // 2) + [Qt.Key.Key_Right] * (ROUNDS // 2)
        return [_timed(partial(QTest.keyClick, picture, key)) for key in keys]


def large_trace() -> Trace:
    rng = np.random.default_rng(0)

    def layer() -> LayerProjections:
        shape = (HEADS, TOKENS, WIDTH)
        return LayerProjections(*(rng.standard_normal(shape, np.float32) for _ in range(3)))

    tokens = tuple(Token(f"▁{number}") for number in range(TOKENS))
    attention = {
        kind: ComputedAttention(
            tuple(layer() for _ in range(LAYERS)), causal=kind is AttentionKind.DECODER_SELF
        )
        for kind in AttentionKind
    }
    return Trace(source_tokens=tokens, target_tokens=tokens, attention=attention)


def heads_map(trace: Trace) -> dict[str, list[float]]:
    session = Session()
    session.set_trace(trace)
    quantities = quantities_of(session)
    view = AtlasView(session, quantities, MeasuredHeads(session), Spotlight(session))
    view.resize(*SIZE)
    view.show()
    while any(stream.running for stream in view.findChildren(Stream)):
        _settle()
    themes = [(LIGHT, DARK)[number % 2] for number in range(ROUNDS)]
    redraw = [_timed(partial(view.apply_theme, theme)) for theme in themes]
    places = [Place("target", number) for number in range(ROUNDS)]
    point = [_timed(partial(session.point, place)) for place in places]
    view.close()
    return {"redraw": redraw, "point": point}


def plots(trace: Trace) -> tuple[float, list[float]]:
    """Seconds to build a plot widget per head, and of each redraw with other colours."""
    pictures = [codes for _head, codes in thumbnails(trace)]
    tables = [lookup_table(ColorMap.PAPER, theme) for theme in (LIGHT, DARK)]
    start = time.perf_counter()
    window = QWidget()
    grid = QGridLayout(window)
    images = []
    for number, codes in enumerate(pictures):
        widget, image = pyqtgraph.PlotWidget(), pyqtgraph.ImageItem(codes)
        widget.addItem(image)
        grid.addWidget(widget, number // HEADS, number % HEADS)
        images.append(image)
    window.resize(*SIZE)
    window.show()
    _settle()
    build = time.perf_counter() - start

    def recolor(table: np.ndarray) -> None:
        for image in images:
            image.setLookupTable(table)

    seconds = [_timed(partial(recolor, tables[number % 2])) for number in range(PLOT_ROUNDS)]
    window.close()
    return build, seconds


def _timed(change: Callable[[], object]) -> float:
    """Seconds from a change until the event loop has painted all that follows from it."""
    start = time.perf_counter()
    change()
    _settle()
    return time.perf_counter() - start


def _settle() -> None:
    QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents)


if __name__ == "__main__":
    sys.exit(run_window(WatchedWindow))
