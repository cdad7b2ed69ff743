"""Traces without a model, and the rule that a test leaves no window behind."""

import gc
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QRect
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from core.text.tokens import Token, TokenKind
from core.trace.trace import (
    AttentionKind,
    ComputedAttention,
    LayerProjections,
    StoredAttention,
    Trace,
)
from transformer_viz.drawing.images import to_array
from transformer_viz.state.session import Phase, Session, Status

SOURCE = "▁The ▁animal ▁slept ▁because ▁it ▁was ▁tired . </s>"
TARGET = "<s> ▁Das ▁Tier ▁sch lief , ▁weil ▁es ▁müde ▁war ."


@pytest.fixture(autouse=True, scope="session")
def _quick_collections() -> None:
    """The modules are there to stay: a collection need not look at them."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _no_leftover_windows() -> Iterator[None]:
    """None stays open; and none stays, because each change of the text size or the theme would go
    through those of all tests before. Those that a module shares were there before the test."""
    before = _windows()
    yield
    gc.collect()  # here, lest a worker's thread meets a timer in a cycle and cannot stop it
    app = QApplication.instance()
    if isinstance(app, QApplication):
        app.processEvents()
        assert [w for w in app.topLevelWidgets() if w.isVisible()] == []
        for window in _windows():
            if window not in before:
                window.deleteLater()
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _windows() -> list[QMainWindow]:
    every = QApplication.topLevelWidgets() if QApplication.instance() else []
    return [widget for widget in every if isinstance(widget, QMainWindow)]


def tokens(pieces: str | list[str]) -> tuple[Token, ...]:
    """Pieces as tokens; ``?x`` is an unknown "x", ``<0xE2>`` a byte, ``<s>`` a special."""
    made = []
    for index, piece in enumerate(pieces.split() if isinstance(pieces, str) else pieces):
        if piece in ("<s>", "</s>"):
            made.append(Token(piece, 2 + (piece == "</s>"), TokenKind.SPECIAL))
        elif piece.startswith("?"):
            made.append(Token("<unk>", 1, TokenKind.UNKNOWN, surface=piece[1:]))
        elif piece.startswith("<0x"):
            made.append(Token(piece, 4 + index, TokenKind.BYTE))
        else:
            made.append(Token(piece, 300 + index))
    return tuple(made)


@pytest.fixture
def make_trace() -> Callable[..., Trace]:
    def make(
        source: str | list[str] = SOURCE,
        target: str | list[str] = TARGET,
        *,
        encoder: tuple[int, ...] = (3, 3),
        decoder: tuple[int, ...] = (2, 2, 2),
        maps: dict[AttentionKind, np.ndarray] | None = None,
        seed: int = 0,
    ) -> Trace:
        """`encoder`, `decoder`: heads of each layer; `maps`: [L, H, Q, K] instead of random."""
        rng = np.random.default_rng(seed)
        sources, targets = tokens(source), tokens(target)

        def computed(heads: tuple[int, ...], queries: int, keys: int) -> tuple:
            def normal(count: int, rows: int) -> np.ndarray:
                return rng.normal(0, 1.5, (count, rows, 8)).astype(np.float32)

            return tuple(
                LayerProjections(normal(h, queries), normal(h, keys), normal(h, keys))
                for h in heads
            )

        s, t = len(sources), len(targets)
        attention = {
            AttentionKind.ENCODER_SELF: ComputedAttention(computed(encoder, s, s)),
            AttentionKind.DECODER_SELF: ComputedAttention(computed(decoder, t, t), causal=True),
            AttentionKind.CROSS: ComputedAttention(computed(decoder, t, s)),
        }
        for kind, one in (maps or {}).items():
            attention[kind] = StoredAttention(one.astype(np.float32))
        return Trace(
            source_tokens=sources,
            target_tokens=targets,
            predicted_tokens=targets[1:] + tokens("</s>"),
            attention=attention,
            log_probabilities=np.log(rng.uniform(0.2, 1, t)).astype(np.float32),
            text="The animal slept because it was tired.",
            translation="Das Tier schlief, weil es müde war.",
        )

    return make


@pytest.fixture
def trace(make_trace: Callable[..., Trace]) -> Trace:
    return make_trace()


@pytest.fixture
def session(qapp: QApplication, trace: Trace) -> Session:
    """A session that shows `trace`."""
    session = Session()
    session.set_status(Status(Phase.READY))
    session.set_trace(trace)
    return session


Show = Callable[..., QWidget]


@pytest.fixture
def show(qtbot: QtBot) -> Show:
    """Show a widget at a size and wait until it is there."""

    def show(widget: QWidget, width: int = 900, height: int = 700) -> QWidget:
        qtbot.addWidget(widget)
        widget.resize(width, height)
        widget.show()
        qtbot.waitExposed(widget)
        return widget

    return show


@pytest.fixture
def pixels() -> Callable[..., np.ndarray]:
    """What a widget shows, or a part of it, RGBA uint8 [height, width, 4], in device pixels."""

    def pixels(widget: QWidget, part: QRect | None = None) -> np.ndarray:
        image = widget.grab().toImage()
        shown = to_array(image)
        if part is None:
            return shown
        ratio = image.devicePixelRatio()
        top, left = round(part.top() * ratio), round(part.left() * ratio)
        bottom, right = round((part.bottom() + 1) * ratio), round((part.right() + 1) * ratio)
        return shown[top:bottom, left:right]

    return pixels


@pytest.fixture
def pixel(pixels) -> Callable[[QWidget, QPoint], list[int]]:
    """The colour, RGBA, that a widget shows at a point."""
    return lambda widget, point: pixels(widget, QRect(point, point))[0, 0].tolist()
