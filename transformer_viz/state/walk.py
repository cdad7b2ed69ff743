"""Where in the decoding one looks: a step, which follows the selected decoder row and leads it."""

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from core.trace.trace import AttentionKind
from transformer_viz.state.linking import Place, is_quick, looked_across
from transformer_viz.state.session import Session

SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Steps a second."""

DECODER_KINDS = (AttentionKind.CROSS, AttentionKind.DECODER_SELF)


class Walk(QObject):
    """Step t is the decoder row that produced token t: the selected one, else the one that looks
    most at the selected source token, else the last."""

    moved = Signal(int)  # step; also sent when the number of steps has changed
    playingChanged = Signal(bool)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._play_on)
        self._step = 0
        self.set_speed(1.0)
        session.traceChanged.connect(self._on_trace)
        session.selectionChanged.connect(self._on_selection)
        self._on_trace()

    @property
    def step(self) -> int:
        return max(0, min(self._step, self.count - 1))

    @property
    def count(self) -> int:
        trace = self._session.trace
        has_decoder = trace is not None and any(kind in trace.kinds for kind in DECODER_KINDS)
        return len(trace.target_tokens) if trace is not None and has_decoder else 0

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    @property
    def speed(self) -> float:
        return self._speed

    def set_speed(self, steps_per_second: float) -> None:
        self._speed = steps_per_second
        self._timer.setInterval(round(1000 / steps_per_second))

    def go_to(self, step: int) -> None:
        """Select the decoder row of a step; from an encoder map that of cross-attention."""
        trace = self._session.trace
        if trace is None or not self.count:
            return
        kinds = (self._session.selection.kind, *DECODER_KINDS)
        kind = next(kind for kind in kinds if kind in DECODER_KINDS and kind in trace.kinds)
        step = max(0, min(step, self.count - 1))
        self._session.set_hover(None, None)
        self._session.select(kind=kind, query=step, key=None)

    def move(self, steps: int) -> None:
        self.go_to(self.step + steps)

    def play(self) -> None:
        """Step by step to the end; from the end it begins anew."""
        if self.count and not self.playing:
            if self.step == self.count - 1:
                self.go_to(0)
            self._timer.start()
            self.playingChanged.emit(True)

    def pause(self) -> None:
        if self.playing:
            self._timer.stop()
            self.playingChanged.emit(False)

    def toggle(self) -> None:
        if self.playing:
            self.pause()
        else:
            self.play()

    def _play_on(self) -> None:
        self.move(1)
        if self.step >= self.count - 1:
            self.pause()

    def _on_trace(self) -> None:
        self.pause()
        row = self._row_in_focus()
        self._step = self.count - 1 if row is None else row
        self.moved.emit(self.step)

    def _on_selection(self) -> None:
        row = self._row_in_focus()
        if row is None:
            self.pause()  # Esc released the row
        elif row != self._step:
            self._step = row
            self.moved.emit(row)

    def _row_in_focus(self) -> int | None:
        trace, selection = self._session.trace, self._session.selection
        if selection.query is None or selection.kind in DECODER_KINDS:
            return selection.query
        place = Place("source", selection.query)
        if trace is None or not is_quick(trace, selection, place):
            return None
        across = looked_across(trace, selection, place)
        return None if across is None else int(np.argmax(across))
