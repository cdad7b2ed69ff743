"""What the gates do to the model's quality: measured on a sample, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from core.errors import UserError
from core.heads import Head, read_head, write_gate
from transformer_viz.engine.child import Child
from transformer_viz.engine.measuring import UNREADABLE, read_progress
from transformer_viz.state.gates import Gates
from transformer_viz.state.languages import TRAINED, sides
from transformer_viz.state.options import Penalty
from transformer_viz.state.session import Search, Session

PAUSE = 1_000  # ms for which the gates stand still before they are measured
LARGEST = 100_000_000
"""Parameters: a larger model is not read into memory once more before somebody asks for it."""
GRAMMAR = "grammar"
FEW, MANY = 300, 3_000  # sentences


@dataclass(frozen=True, slots=True)
class Quality:
    """How good the translations of a sample are.

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
class Sample:
    """The sentences to measure on; `corpus` is "grammar" for generated sentences or a file of
    pairs, and `sentences` the most to use."""

    corpus: str = GRAMMAR
    sentences: int = FEW

    @property
    def name(self) -> str:
        return "test sentences" if self.corpus == GRAMMAR else f"sentences of {self._file}"

    @property
    def _file(self) -> str:
        return ", ".join(Path(part).name for part in self.corpus.split(","))


@dataclass(frozen=True, slots=True)
class Effect:
    """What the gates change over a sample.

    Attributes:
        sentences: how many there were.
        before: with all heads on.
        changed: per cent of the translations that became another text.
        importance: of the heads that are gated, nats a token.
    """

    sentences: int
    before: Quality
    after: Quality
    changed: float
    importance: Mapping[Head, float]


@dataclass(frozen=True, slots=True)
class Question:
    """The factors are those of the heads that are not on."""

    model: Path
    gates: Gates
    search: Search
    sample: Sample = Sample()

    def arguments(self, kept: Path | None) -> list[str]:
        """Return the arguments of `python -m core`; `kept` is where it keeps the measurements with
        all heads on."""
        heads = [f"--head={write_gate(*gate)}" for gate in self.gates.items()]
        beam, alpha = self.search.beam, self.search.alpha
        return [
            *("ablate", "--model", str(self.model), *heads),
            *(f"--corpus={self.sample.corpus}", f"--sentences={self.sample.sentences}"),
            *(f"--beam={beam}", f"--alpha={alpha}", *self._penalty, "--json"),
            *([] if kept is None else ["--keep", str(kept)]),
        ]

    @property
    def _penalty(self) -> list[str]:
        penalty = self.search.penalty
        return [] if penalty is Penalty.MODEL else [f"--penalty={penalty}"]


class GateEffect(QObject):
    """Follows the gates of the session: once they stand still they are measured on a few test
    sentences, or, for a model of other languages, on a file that was chosen for it; on more, or on
    others, when it is asked for. Other gates give it up, and what was measured before is known
    again when its gates come back.

    Attributes:
        effect: of the gates that are set, measured last; None if it was not measured.
        sample: what it was measured on, or is measured on now.
        share: how much of it is done, 0 to 1, while it is measured.
        problem: why the last measuring gave nothing, in one sentence.
    """

    changed = Signal()

    def __init__(
        self, session: Session, folder: Path | None, parent: QObject | None = None
    ) -> None:
        """Measure; `folder` is where the measurements with all heads on are kept, and None keeps
        nothing."""
        super().__init__(parent)
        self._session = session
        self._folder = folder
        self._search = Search()
        self._file = ""  # chosen for this model
        self._known: list[tuple[Question, Effect]] = []
        self._asked: Question | None = None
        self._child = Child(self, polite=True)
        self._start = QTimer(self, singleShot=True, interval=PAUSE)
        self.effect: Effect | None = None
        self.sample = Sample()
        self.share = 0.0
        self.problem = ""
        self._start.timeout.connect(lambda: self.measure(self.sample))
        self._child.progressed.connect(self._on_progress)
        self._child.finished.connect(self._on_answer)
        self._child.failed.connect(self._end)
        session.modelChanged.connect(self._on_model)
        for changed in (session.gatesChanged, session.switchesChanged):
            changed.connect(self._follow)

    @property
    def running(self) -> bool:
        """Whether it is measuring, or about to."""
        return self._asked is not None or self._start.isActive()

    @property
    def has_sentences(self) -> bool:
        """Whether there are some in the languages of the model."""
        return bool(self._corpus)

    @property
    def next_sample(self) -> Sample:
        """A few of them, or many if a few have been measured."""
        return Sample(self._corpus, FEW if self.effect is None else MANY)

    @property
    def complete(self) -> bool:
        """Whether the next sample would have nothing more than what has been measured."""
        effect, sample = self.effect, self.sample
        if effect is None or sample.corpus != self._corpus:
            return False
        return sample == self.next_sample or effect.sentences < sample.sentences

    @property
    def _corpus(self) -> str:
        model = self._session.model
        trained = model is not None and sides(model) == TRAINED and not model.languages
        return GRAMMAR if trained else self._file

    def measure(self, sample: Sample) -> None:
        question = self._question(sample)
        if question is None or question == self._asked:
            return
        self._start.stop()
        if sample.corpus != GRAMMAR:
            self._file = sample.corpus
        self._asked, self.sample = question, sample
        self.share, self.problem = 0.0, ""
        self._child.run(question.arguments(self._folder))
        self.changed.emit()

    def cancel(self) -> None:
        if self.running:
            self._start.stop()
            self._child.cancel()
            self._end()

    def set_search(self, search: Search) -> None:
        """How the translations are found."""
        self._search = search
        self._follow()

    def _question(self, sample: Sample) -> Question | None:
        model, gates = self._session.model, self._session.gates
        if model is None or not gates or not self._session.switches.intact:
            return None
        return Question(model.path, gates, self._search, sample)

    def _on_model(self) -> None:
        self._known.clear()  # a file of the same name may hold another model
        self._file = ""
        self._give_up()
        self._follow()

    def _follow(self) -> None:
        """Give up what is measured for other gates; show what is known of these, or find out."""
        if self._asked is not None and self._asked == self._question(self.sample):
            return
        self._give_up()
        self.problem = ""
        self._recall()
        model = self._session.model
        small = model is not None and model.parameters <= LARGEST
        gated = self._question(self.sample) is not None
        if gated and self.effect is None and small and self.has_sentences:
            self.sample, self.share = self.next_sample, 0.0
            self._start.start()
        self.changed.emit()

    def _recall(self) -> None:
        """What was measured last of the gates that are set."""
        self.effect = None
        for question, effect in self._known:
            if question == self._question(question.sample):
                self.effect, self.sample = effect, question.sample

    def _give_up(self) -> None:
        self._start.stop()
        if self._asked is not None:
            self._child.cancel()
            self._asked = None

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
            self._end()

    def _end(self, problem: str = "") -> None:
        self._asked, self.problem = None, problem
        self._recall()
        self.changed.emit()


def read_effect(answer: Any) -> Effect:
    """Read the JSON of `ablate` for its only setting. Raises ValueError if it is not as
    documented."""
    try:
        [setting] = answer["settings"]
        return Effect(
            int(answer["sentences"]),
            _quality(answer["before"]),
            _quality(setting["after"]),
            float(setting["changed"]),
            {read_head(code): float(answer["importance"][code]) for code in setting["gates"]},
        )
    except (KeyError, TypeError, UserError) as error:
        raise ValueError(f"not the effect of gates: {error}") from error


def _quality(values: Mapping[str, Any]) -> Quality:
    pronoun = values["pronoun"]
    loss, bleu, chrf, exact = (float(values[name]) for name in ("loss", "bleu", "chrf", "exact"))
    return Quality(loss, bleu, chrf, exact, None if pronoun is None else float(pronoun["both"]))
