"""A run's progress for people: one live line on a terminal, an occasional line elsewhere."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import TextIO

from core.counted import counted
from core.training.events import (
    CheckpointSaved,
    Continued,
    Event,
    Failed,
    Finished,
    Interrupted,
    Paused,
    Preparing,
    Started,
    Step,
    Validation,
)

SECONDS_BETWEEN_LINES = 15.0
BAR_CELLS = 20


class Progress:
    """A listener that writes to ``stream``, which is stderr for a command.

    On a terminal the bar is redrawn in place; in a log file or a pipe it would be noise, so there
    a plain line appears every ``SECONDS_BETWEEN_LINES``.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream: TextIO | None = stream
        self._live = stream.isatty()
        self._clock = clock
        self._total = 0
        self._first_step = 0
        self._began = clock()
        self._last_line = clock()

    def __call__(self, event: Event) -> None:
        match event:
            case Preparing():
                share = event.done / max(1, event.total)
                self._show(f"{_bar(share)}  {event.what}")
            case Started():
                self._total, self._first_step = event.steps, event.step
                self._began = self._last_line = self._clock()
                for line in [*_resumption(event), *event.data]:
                    self._write(line)
                self._write(
                    f"{event.parameters:,} parameters, {event.vocabulary:,} pieces, "
                    f"{event.pairs_per_epoch:,} pairs per epoch, {event.device}, "
                    f"{event.precision}"
                )
                if event.products:
                    threads = counted(event.threads, "thread")
                    self._write(f"matrix products on {threads}: {event.products}")
            case Step():
                self._show(self._line(event))
            case Validation():
                self._write(
                    f"step {event.step:,}: validation loss {event.valid_loss:.3f}, "
                    f"perplexity {event.perplexity:.2f}, BLEU {event.bleu:.1f}, "
                    f"chrF {event.chrf:.1f}"
                )
            case Finished():
                early = ", because validations stopped improving" if event.stopped_early else ""
                self._write(
                    f"Finished after {event.step:,} updates in {duration(event.seconds)}{early}: "
                    f"validation loss {event.valid_loss:.3f}, BLEU {event.bleu:.1f}, "
                    f"chrF {event.chrf:.1f}. Model: {event.path}"
                )
            case Interrupted(run=None):
                self._write("Stopped while reading the data; nothing was written.")
            case Interrupted():
                self._write(
                    f"Stopped after update {event.step:,}; the state is saved. Resume with: "
                    f"transformer-viz resume {event.run}"
                )
            case Paused():
                self._write(
                    f"Paused after update {event.step:,}; the state is saved. Resume with: "
                    f"transformer-viz resume {event.run}"
                )
            case Continued():
                self._first_step = event.step  # what is left is estimated anew
                self._began = self._last_line = self._clock()
                self._write(f"Resuming after update {event.step:,}.")
            case CheckpointSaved() | Failed():
                pass  # checkpoints are frequent; a failure is printed by the command line itself

    def _show(self, line: str) -> None:
        now = self._clock()
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            self._write("\r" + line[:width] + "\x1b[K", end="")
        elif now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            self._write(line)

    def _line(self, event: Step) -> str:
        done = event.step - self._first_step
        seconds = self._clock() - self._began
        left = (self._total - event.step) * seconds / done if done else 0.0
        return (
            f"{_bar(event.step / self._total)}  "
            f"{event.step:,}/{self._total:,}  loss {event.train_loss:.3f}  "
            f"{event.tokens_per_second:,.0f} tokens/s  {duration(left)} left"
        )

    def _write(self, text: str, end: str = "\n") -> None:
        """A terminal that went away does not stop a run."""
        if self._stream is None:
            return
        clear = "\r\x1b[K" if self._live and end == "\n" else ""
        try:
            self._stream.write(clear + text + end)
            self._stream.flush()
        except OSError:
            self._stream = None


def _resumption(event: Started) -> list[str]:
    """What somebody who resumes a run should know about the end before."""
    found = []
    if event.unexpected_end:
        again = (
            f"Updates {event.step + 1:,} to {event.step + event.repeated:,} were logged but not "
            "saved, so they are repeated."
            if event.repeated
            else f"It continues from the state saved after update {event.step:,}."
        )
        found.append(f"The run ended unexpectedly. {again}")
    if event.odd_lines:
        found.append(f"Ignored {counted(event.odd_lines, 'invalid line')} in the run's files.")
    return found


def _bar(share: float) -> str:
    filled = round(share * BAR_CELLS)
    return f"{'█' * filled}{'░' * (BAR_CELLS - filled)} {share:4.0%}"


def duration(seconds: float) -> str:
    """Format seconds as "0:42", "12:05" or "3:10:00"."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
