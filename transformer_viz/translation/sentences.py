"""A text as sentences, of which one is shown with its attention; the others are translated too."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from core.checkpoints.provenance import source_language
from core.heads import Gate, Head
from core.switches import Switches
from core.text.passage import Passage
from core.trace.trace import Trace
from transformer_viz.engine.engine import Engine
from transformer_viz.state.session import MAX_CHARACTERS, ModelInfo, Search, Session
from transformer_viz.state.settings import Settings

T = TypeVar("T")

LANE = "sentences"
BATCH = 4
"""Sentences of one question: other lanes wait for no more."""
MOST_KEPT = 10_000
"""Translations; the oldest go first. No text that is accepted has so many sentences."""
MOST_TRACES = 8

_Key = tuple[str, Search, frozenset[tuple[Head, Gate]], Switches]


@dataclass(frozen=True, slots=True)
class Answer:
    """A translation, or in one sentence why there is none."""

    translation: str = ""
    problem: str = ""


class Sentences(QObject):
    """Keeps what the model answered, and asks for the sentences that are not shown.

    `add` says what the one shown became. `go_on` then asks for the others, the nearest first and a
    few at a time, until another sentence, text or setting is wanted. Nothing is asked for a text of
    one sentence.

    Attributes:
        whole_text: this text is one sentence, however many it has.
        asking: whether translations are on their way.
    """

    changed = Signal()  # some answer, of which sentences they are, or which one is shown

    def __init__(
        self,
        session: Session,
        engine: Engine,
        settings: Callable[[], Settings],
        parent: QObject | None = None,
    ) -> None:
        """`settings`: as they are at the moment; the search and `keep_whole` are read from them."""
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._settings = settings
        self._answers: dict[_Key, Answer] = {}
        self._traces: dict[_Key, Trace] = {}
        self._batch = BATCH
        self.whole_text = ""
        self.asking = False
        session.passageChanged.connect(self._on_passage)
        for changed in (session.gatesChanged, session.switchesChanged):
            changed.connect(self._on_passage)
        session.modelChanged.connect(self._on_model)

    def split(self, text: str, model: ModelInfo | None = None) -> Passage:
        """The sentences of a text, as this model reads them, or else the one in use."""
        model = model or self._session.model
        too_long = len(text) > MAX_CHARACTERS
        if self._settings().keep_whole or too_long or text == self.whole_text:
            return Passage.whole(text)
        provenance, languages = ({}, ()) if model is None else (model.provenance, model.languages)
        return Passage.of(text, source_language(provenance), languages)

    @property
    def answers(self) -> tuple[Answer | None, ...]:
        """Of each sentence of the text; None while it is not known."""
        return tuple(map(self._answers.get, self._keys()))

    def trace(self) -> Trace | None:
        """Of the sentence shown, if it is one of several and was shown a short time ago."""
        session = self._session
        several = len(session.passage.spans) > 1
        return self._traces.get(self._key(session.sentence)) if several else None

    def add(self, trace: Trace) -> None:
        """Keep the model's own answer to the sentence shown."""
        if len(self._session.passage.spans) > 1:
            key = self._key(trace.text)
            _keep(self._traces, key, trace, MOST_TRACES)
            self._learn([key], [Answer(trace.translation)])

    def fail(self, problem: str) -> None:
        """Keep why the sentence shown has no translation."""
        if len(self._session.passage.spans) > 1:
            self._learn([self._key(self._session.sentence)], [Answer(problem=problem)])

    def go_on(self) -> None:
        """Ask for what is not known yet."""
        missing = self._missing()
        self.asking = bool(missing)
        if not missing:
            return
        keys = missing[: self._batch]
        questions = [question for question, *_ in keys]
        search = self._search()
        self._engine.ask(
            LANE,
            lambda backend, context: backend.translate(questions, search, context),
            done=lambda found: self._on_found(keys, found),
            failed=lambda problem: self._on_failed(keys, problem),
        )

    def _missing(self) -> list[_Key]:
        """Each once, those near the one shown first."""
        session, keys = self._session, self._keys()
        if session.model is None or len(keys) < 2:
            return []
        order = sorted(range(len(keys)), key=lambda index: abs(index - session.index))
        wanted = (keys[index] for index in order)
        return list(dict.fromkeys(key for key in wanted if key not in self._answers))

    def _search(self) -> Search:
        settings = self._settings()
        return Search(settings.beam, settings.alpha, settings.penalty)

    def _keys(self) -> list[_Key]:
        return [self._key(question) for question in self._session.passage.questions]

    def _key(self, question: str) -> _Key:
        session = self._session
        return question, self._search(), frozenset(session.gates.items()), session.switches

    def _on_found(self, keys: Sequence[_Key], found: Sequence[str]) -> None:
        self._learn(keys, [Answer(translation) for translation in found])
        self.go_on()

    def _on_failed(self, keys: Sequence[_Key], problem: str) -> None:
        """One of several: they are asked for one by one."""
        if len(keys) == 1:
            self._learn(keys, [Answer(problem=problem)])
        self._batch = 1
        self.go_on()

    def _learn(self, keys: Sequence[_Key], answers: Sequence[Answer]) -> None:
        for key, answer in zip(keys, answers, strict=True):
            _keep(self._answers, key, answer, MOST_KEPT)
        self.changed.emit()

    def _on_passage(self) -> None:
        self._engine.cancel(LANE)
        self.asking, self._batch = False, BATCH
        self.changed.emit()

    def _on_model(self) -> None:
        self._answers.clear()
        self._traces.clear()
        self._on_passage()


def _keep(kept: dict[_Key, T], key: _Key, value: T, most: int) -> None:
    """As the newest; the oldest goes where there are too many."""
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]
