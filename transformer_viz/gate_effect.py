"""What the gates do to the model's quality: measured on a sample, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from transformer_viz.gates import Gates
from transformer_viz.measuring import UNREADABLE, read_progress
from transformer_viz.session import Search, Session
from transformer_viz.training.child import Child

SENTENCES = 300


@dataclass(frozen=True, slots=True)
class Quality:
    """
    Attributes:
        loss: nats a token of the references.
        bleu, chrf: 0 to 100.
        exact: per cent of the translations that are their reference.
        pronoun: per cent of minimal pairs in which "it" is translated right in both sentences;
            None for a sample without them.
    """

    loss: float
    bleu: float
    chrf: float
    exact: float
    pronoun: float | None


@dataclass(frozen=True, slots=True)
class Effect:
    """On `sentences`; `changed`: per cent of their translations that became another text."""

    sentences: int
    before: Quality
    after: Quality
    changed: float


@dataclass(frozen=True, slots=True)
class Question:
    """The factors are those of the heads that are not on."""

    model: Path
    gates: Gates
    search: Search

    def arguments(self) -> list[str]:
        """Of `python -m core`."""
        heads = [f"--head={head.code}={factor!r}" for head, factor in self.gates.items()]
        beam, alpha = self.search.beam, self.search.alpha
        return [
            *("ablate", "--model", str(self.model), *heads, f"--sentences={SENTENCES}"),
            *(f"--beam={beam}", f"--alpha={alpha}", "--json"),
        ]


class GateEffect(QObject):
    """Follows the gates of the session. Measuring starts only when it is asked for; other gates
    give it up, and what was measured before is known again when its gates come back.

    Attributes:
        effect: of the gates that are set; None if it was not measured.
        share: how much of it is done, 0 to 1, while it is measured.
        problem: why the last measuring gave nothing, in one sentence.
    """

    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._search = Search()
        self._known: list[tuple[Question, Effect]] = []
        self._asked: Question | None = None
        self._child = Child(self)
        self.effect: Effect | None = None
        self.share = 0.0
        self.problem = ""
        self._child.progressed.connect(self._on_progress)
        self._child.finished.connect(self._on_answer)
        self._child.failed.connect(self._end)
        session.modelChanged.connect(self._on_model)
        session.gatesChanged.connect(self._follow)

    @property
    def running(self) -> bool:
        return self._asked is not None

    def measure(self) -> None:
        question = self._question()
        if question is None or question == self._asked:
            return
        self._asked = question
        self.share, self.problem = 0.0, ""
        self._child.run(question.arguments())
        self.changed.emit()

    def cancel(self) -> None:
        if self.running:
            self._child.cancel()
            self._end()

    def set_search(self, search: Search) -> None:
        """How the translations are found."""
        self._search = search
        self._follow()

    def _question(self) -> Question | None:
        model, gates = self._session.model, self._session.gates
        return Question(model.path, gates, self._search) if model is not None and gates else None

    def _on_model(self) -> None:
        self._known.clear()  # a file of the same name may hold another model
        self._follow()

    def _follow(self) -> None:
        """Give up what is measured for other gates; show what is known of these."""
        question = self._question()
        if self.running and question != self._asked:
            self._child.cancel()
            self._asked = None
        self.problem = ""
        self.effect = next((effect for known, effect in self._known if known == question), None)
        self.changed.emit()

    def _on_progress(self, line: str) -> None:
        progress = read_progress(line)
        if progress is not None:
            self.share = progress.share
            self.changed.emit()

    def _on_answer(self, answer: Any) -> None:
        assert self._asked is not None
        try:
            effect = read_effect(answer)
        except ValueError:
            self._end(UNREADABLE)
        else:
            self._known.append((self._asked, effect))
            self.effect = effect
            self._end()

    def _end(self, problem: str = "") -> None:
        self._asked, self.problem = None, problem
        self.changed.emit()


def read_effect(answer: Any) -> Effect:
    """From the JSON of `ablate`. Raises ValueError if it is not as documented."""
    try:
        return Effect(
            int(answer["sentences"]),
            _quality(answer["before"]),
            _quality(answer["after"]),
            float(answer["changed"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not the effect of gates: {error}") from error


def _quality(values: Mapping[str, Any]) -> Quality:
    pronoun = values["pronoun"]
    loss, bleu, chrf, exact = (float(values[name]) for name in ("loss", "bleu", "chrf", "exact"))
    return Quality(loss, bleu, chrf, exact, None if pronoun is None else float(pronoun["both"]))
