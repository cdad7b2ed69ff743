"""The attention on a probe sentence at every recorded step of a run, shown in the explorer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from core.errors import UserError
from core.trace.npz import load_npz
from core.trace.trace import Head, Trace
from core.training.probe import Probe
from transformer_viz.engine.stream import Stream
from transformer_viz.state.explorer import Explorer
from transformer_viz.state.selection import Selection, carried
from transformer_viz.state.selection import changed as with_changes
from transformer_viz.state.session import Session
from transformer_viz.training.run import Run

POINTS_PER_SECOND = 3
_HEADS = ("kind", "layer", "head", "others")  # of a selection
_NAME = re.compile(r"step-(\d+)-(\d+)\.npz")  # step, sentence


@dataclass(frozen=True, slots=True)
class _Own:
    """What the explorer showed before: the user's own text, or a trace from a file."""

    text: str
    sentence_start: int
    selection: Selection
    trace: Trace | None
    file: Path | None


class Replay(QObject):
    """Replays the attention of a run. While `active`, the session shows the trace of `step`, with
    the user's selection in it; a pinned word that is missing at one step is pinned again where it
    comes back.

    `close` brings back what was shown before, with the heads selected last. Editing the text or
    opening something else ends the replay too, and that stays. The model is never changed.

    Attributes:
        active: whether the explorer shows a probe.
        problem: why a step cannot be shown, in one sentence.
        best_head: shown first instead of what is selected, where the run has no such head.
    """

    changed = Signal()  # anything of this

    def __init__(self, session: Session, explorer: Explorer, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._explorer = explorer
        self._run: Run | None = None
        self._files: dict[int, dict[int, Path]] = {}  # by sentence, then by step
        self._sentence = 0
        self._index = 0
        self._traces: dict[Path, Trace] = {}  # of the sentence
        self._own: _Own | None = None
        self._chosen: tuple[Selection, Trace | None] = (Selection(), None)  # in which trace
        self._showing = False
        self.problem = ""
        self.best_head: Head | None = None
        self._reader = Stream(self)
        self._reader.arrived.connect(self._on_read)
        self._timer = QTimer(self, interval=round(1000 / POINTS_PER_SECOND))
        self._timer.timeout.connect(self._play_on)
        session.selectionChanged.connect(self._on_selection)
        session.textChanged.connect(self._on_other)
        session.traceChanged.connect(self._on_other)
        explorer.closing.connect(self.close)

    @property
    def run(self) -> Run | None:
        return self._run

    @property
    def active(self) -> bool:
        return self._own is not None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The probes that have been recorded."""
        config = self._run.config if self._run is not None else None
        probes = config.training.probes if config is not None else ()
        texts = [Probe.parse(text).source for text in probes]
        return tuple(
            texts[number] if number < len(texts) else f"sentence {number + 1}"
            for number in sorted(self._files)
        )

    @property
    def sentence(self) -> int:
        """The index of the sentence that is replayed."""
        return self._sentence

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps at which it was recorded."""
        return tuple(self._recorded)

    @property
    def index(self) -> int:
        """The index of the step that is shown, or would be."""
        return self._index

    @property
    def step(self) -> int | None:
        return self.steps[self._index] if self.steps else None

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    def show_run(self, run: Run | None) -> None:
        """Show another run, which ends the replay."""
        if run is self._run:
            return
        self.close()
        if self._run is not None:
            self._run.probesChanged.disconnect(self._on_probes)
        self._run = run
        self._traces, self._sentence = {}, 0
        if run is not None:
            run.probesChanged.connect(self._on_probes)
        self._look()
        self._index = max(0, len(self.steps) - 1)
        self.changed.emit()

    def choose_sentence(self, number: int) -> None:
        """Show another sentence at the step shown now."""
        if number == self._sentence:
            return
        step = self.step
        self._sentence, self._traces = number, {}
        if step is not None:
            self._index = self._nearest(step)
        if self.active:
            self._read()
        self.changed.emit()

    def go_to(self, index: int) -> None:
        """Show a recorded step; this begins the replay."""
        if not self.steps:
            return
        self._index = max(0, min(index, len(self.steps) - 1))
        if not self.active:
            self._begin()
        self._show()
        self.changed.emit()

    def go_to_step(self, step: float) -> None:
        """The recorded step closest to this one."""
        if self.steps:
            self.go_to(self._nearest(step))

    def toggle(self) -> None:
        """Play to the newest step, from the first one if the newest is shown; or pause."""
        if self.playing:
            self._timer.stop()
            self.changed.emit()
        elif self.steps:
            self._timer.start()
            self.go_to(0 if self._index == len(self.steps) - 1 else self._index)

    def close(self) -> None:
        """Bring back what the explorer showed before."""
        own = self._own
        if own is None:
            return
        heads = {name: getattr(self._session.selection, name) for name in _HEADS}
        selection = with_changes(own.selection, **heads)
        self._leave()
        if own.file is not None and own.trace is not None:
            self._explorer.show_trace(own.trace, own.file, selection)
        elif own.trace is not None:
            # another model may have been opened meanwhile
            self._explorer.translate(own.text, at=own.sentence_start)
            self._session.set_trace(own.trace, selection)
        else:
            self._explorer.translate(own.text, selection, at=own.sentence_start)

    # Beginning and ending

    def _begin(self) -> None:
        session = self._session
        selection, trace = session.selection, session.trace
        start, file = session.sentence_start, self._explorer.trace_file
        self._own = _Own(session.text, start, selection, trace, file)
        self._chosen = selection, trace
        best = self.best_head
        if best is not None:
            selection = with_changes(
                selection, kind=best.kind, layer=best.layer, head=best.head, others=()
            )
            self._chosen = selection, None
        self._read()

    def _leave(self) -> None:
        self._own = None
        self._timer.stop()
        self._reader.stop()
        self.changed.emit()

    def _on_other(self, *_changed: object) -> None:
        if self.active and not self._showing:
            self._leave()

    def _on_selection(self, selection: Selection) -> None:
        if self.active and not self._showing:
            self._chosen = selection, self._session.trace

    # Files and traces

    @property
    def _recorded(self) -> dict[int, Path]:
        return self._files.get(self._sentence, {})

    def _on_probes(self) -> None:
        """More has been recorded, or a resumed run has taken steps back."""
        step, newest = self.step, self._index == len(self.steps) - 1
        self._look()
        if step is not None and not (newest and not self.active):
            self._index = self._nearest(step)
        else:
            self._index = max(0, len(self.steps) - 1)
        if self.active:
            self._read()
        self.changed.emit()

    def _look(self) -> None:
        self._files = {}
        for path in self._run.probes() if self._run is not None else ():
            if match := _NAME.fullmatch(path.name):
                self._files.setdefault(int(match[2]), {})[int(match[1])] = path

    def _nearest(self, step: float) -> int:
        distances = [abs(one - step) for one in self.steps]
        return distances.index(min(distances)) if distances else 0

    def _read(self) -> None:
        """All traces of the sentence that are not there yet, those close to the step first."""
        paths = list(self._recorded.values())
        order = sorted(range(len(paths)), key=lambda index: abs(index - self._index))
        missing = [paths[index] for index in order if paths[index] not in self._traces]
        if missing:
            self._reader.start(_load(missing))

    def _on_read(self, item: tuple[Path, Trace | str]) -> None:
        path, result = item
        if isinstance(result, Trace):
            self._traces[path] = result
            if self.active and path == self._wanted and self._explorer.trace_file != path:
                self._show()
                self.changed.emit()
        elif path == self._wanted:
            self.problem = result
            self.changed.emit()

    @property
    def _wanted(self) -> Path | None:
        step = self.step
        return None if step is None else self._recorded[step]

    def _show(self) -> None:
        """Once the trace has been read."""
        path = self._wanted
        trace = self._traces.get(path) if path is not None else None
        if path is None or trace is None:
            return
        self.problem = ""
        selection, origin = self._chosen
        if origin is not None:
            selection = carried(selection, origin, trace)
        self._showing = True
        try:
            self._explorer.show_trace(trace, path, selection, self._about())
        finally:
            self._showing = False

    def _about(self) -> str:
        assert self._run is not None
        return f"run {self._run.name} at step {self.step:,}"

    def _play_on(self) -> None:
        if self._index >= len(self.steps) - 1:
            self._timer.stop()
            self.changed.emit()
        else:
            self.go_to(self._index + 1)


def _load(paths: Iterable[Path]) -> Iterator[tuple[Path, Trace | str]]:
    """Traces, or why one cannot be read."""
    for path in paths:
        try:
            yield path, load_npz(path)
        except UserError as error:
            yield path, str(error)
