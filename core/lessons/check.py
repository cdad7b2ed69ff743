"""Runs a lesson without a window: every step on its model, and what cannot be done there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.checkpoints.native import Checkpoint
from core.checkpoints.opening import open_model
from core.errors import UserError
from core.heads import EVEN, Gate, Head
from core.lessons.lesson import Doing, Lesson, Step
from core.lessons.library import found_model
from core.lessons.measures import columns_of, rows_of, shown
from core.model.gates import Gates, gated
from core.model.switched import switched
from core.switches import INTACT, Switches
from core.text.seen_words import SeenWords
from core.trace.record import trace_text
from core.trace.trace import AttentionKind, Trace

_FIRST_HEAD = Head(AttentionKind.ENCODER_SELF, 0, 0)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a step does, or why it cannot: ``line`` of the file, from 1."""

    line: int
    text: str
    is_problem: bool


def check_lesson(lesson: Lesson) -> Iterator[Finding]:
    """Run every step and yield what was found: an answer for each question, each measure of the
    text, words that the model does not know, and each thing that cannot be done."""
    state = _State(lesson.path.parent)
    for step in lesson.steps:
        try:
            state.do(step.doing)
        except UserError as error:
            yield Finding(step.line, f"“{step.title}”: {error}", is_problem=True)
            continue
        yield from _told(step, state)


@dataclass(slots=True)
class _State:
    """The window's state as far as a step can change it."""

    folder: Path
    model: str | None = None
    checkpoint: Checkpoint | None = None
    text: str = ""
    trace: Trace | None = None
    head: Head = _FIRST_HEAD
    gates: Gates | None = None
    switches: Switches = INTACT

    def do(self, doing: Doing) -> None:
        """Do what a step does; raises UserError for what cannot be done."""
        if doing.model is not None and doing.model != self.model:
            self.checkpoint = open_model(found_model(doing.model, self.folder))
            self.model, self.gates, self.trace = doing.model, None, None
            self.switches = INTACT
        checkpoint = self.checkpoint
        if checkpoint is None:
            if doing != Doing():
                raise UserError("the lesson names no model; add “model: …” to its front matter.")
            return
        self.text = self.text if doing.text is None else doing.text
        if doing.off or doing.even or doing.all_on:
            closed: dict[Head, Gate] = {**dict.fromkeys(doing.off, 0.0)}
            closed |= dict.fromkeys(doing.even, EVEN)
            self.gates = Gates.of(checkpoint.config, closed)
        self.switches = doing.switched(self.switches)
        if self.text:
            self.trace = self._translated(checkpoint)
        if doing.head is not None:
            self.head = doing.head
        if self.trace is None:
            return
        if not self.trace.has(self.head):
            raise UserError(f"{self.model} has no head {self.head.name}.")
        if doing.pin is not None:
            rows_of(self.trace, self.head.kind, doing.pin.query)
            if doing.pin.key is not None:
                columns_of(self.trace, self.head.kind, doing.pin.key)

    def _translated(self, checkpoint: Checkpoint) -> Trace:
        gates = self.gates or Gates.of(checkpoint.config, {})
        with gated(checkpoint.model, gates), switched(checkpoint.model, self.switches):
            return trace_text(checkpoint.model, checkpoint.tokenizer, self.text)


def _told(step: Step, state: _State) -> Iterator[Finding]:
    trace = state.trace
    checkpoint = state.checkpoint
    if trace is None or checkpoint is None:
        if step.measures or step.question:
            problem = "it measures something, but no sentence is shown; add “text: …”."
            yield Finding(step.line, f"“{step.title}”: {problem}", is_problem=True)
        return
    if step.doing.text is not None:
        unknown = _unknown_words(state.text, checkpoint)
        if unknown:
            words = ", ".join(unknown)
            yield Finding(step.line, f"the model never saw: {words}.", is_problem=False)
    try:
        for words, measure in step.measures.items():
            value = shown(measure.value(trace, state.head))
            yield Finding(step.line, f"{{{words}}} is {value}.", is_problem=False)
        if step.question is not None:
            right = shown(step.question.right(trace, state.head))
            yield Finding(step.line, f"{step.question.text} {right}.", is_problem=False)
    except UserError as error:
        yield Finding(step.line, f"“{step.title}”: {error}", is_problem=True)


def _unknown_words(text: str, checkpoint: Checkpoint) -> list[str]:
    seen = SeenWords.of_model(checkpoint.provenance)
    if seen is None:
        return []
    return [one.word for one in seen.unsure(text) if not one.times]
