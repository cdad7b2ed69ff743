"""What speaks against the translation shown: in the translation, in the source, and as a whole."""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from core.checkpoints.provenance import source_language
from core.text.function_words import function_words
from core.text.seen_words import MOST_LISTED, SeenWords, UnsureWord
from core.text.tokens import TokenKind
from core.trace.doubts import DOUBTFUL, Doubts, Uptake, predicted_words, threshold_of, verdict
from core.trace.trace import Trace
from transformer_viz.engine.engine import Engine
from transformer_viz.state.session import ModelInfo, Session

LANE = "doubts"
PAUSE = 150  # ms without a newer translation before it is asked what it takes up


class SourceDoubt(StrEnum):
    """What is said of a source word."""

    UNSEEN = "unseen"  # or outside the vocabulary
    RARE = "rare"
    UNTRANSLATED = "untranslated"


class SourceMark(NamedTuple):
    """A doubt about the [start, end) characters of a trace's text, and a sentence that says it."""

    start: int
    end: int
    doubt: SourceDoubt
    about: str


class TranslationDoubts(QObject):
    """Keeps the doubts in step with the session's trace.

    Probabilities and rare words are there with the trace; which words are left untranslated takes
    the model some passes, so it is asked a moment later, and never while a translation waits.

    Attributes:
        marks: in the source text.
        verdict: one sentence about the translation as a whole; empty if nothing speaks against it.
        is_bad: whether it says that the translation is probably wrong.
        asking: whether the model is still to say what it left untranslated.
    """

    changed = Signal()

    def __init__(self, session: Session, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._seen: SeenWords | None = None
        self._function_words: frozenset[str] | None = None
        self._threshold = DOUBTFUL
        self.marks: tuple[SourceMark, ...] = ()
        self.verdict = ""
        self.is_bad = False
        self.asking = False
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self._ask)
        session.modelChanged.connect(self._on_model)
        session.traceChanged.connect(self._on_trace)
        session.sentenceChanged.connect(self._put_off)
        for changed in (session.gatesChanged, session.switchesChanged):
            changed.connect(self._put_off)
        self._on_model(session.model)

    def _on_model(self, model: ModelInfo | None) -> None:
        about = {} if model is None else model.provenance
        self._seen = SeenWords.of_model(about)
        translates = model is not None and not model.tree_labels
        self._function_words = function_words(source_language(about)) if translates else None
        self._threshold = threshold_of(about)
        self._stop()

    def _on_trace(self, trace: Trace | None) -> None:
        self._stop()
        known = self._function_words is not None and self._is_own(trace)
        self.asking = known and bool(trace and trace.predicted_tokens)
        if self.asking:
            self._pause.start()
        self._show(())

    def _put_off(self) -> None:
        """A translation that is on its way goes first; it may be the same one as before."""
        if self.asking:
            self._engine.cancel(LANE)
            self._pause.start()

    def _stop(self) -> None:
        self._pause.stop()
        self._engine.cancel(LANE)
        self.asking = False

    def _is_own(self, trace: Trace | None) -> bool:
        """Whether the model in use made it, without having seen the answers."""
        own = trace is not None and trace.has_ids and not self._session.origin
        return own and trace is not None and trace.switches.mask

    def _ask(self) -> None:
        trace, words = self._session.trace, self._function_words
        assert trace is not None
        assert words is not None
        self._engine.ask(
            LANE,
            lambda backend, context: backend.uptakes(trace, words, context),
            done=self._on_answer,
            failed=lambda _problem: self._on_answer(()),
        )

    def _on_answer(self, uptakes: tuple[Uptake, ...]) -> None:
        self.asking = False
        self._show(tuple(one for one in uptakes if one.is_untranslated))

    def _show(self, untranslated: tuple[Uptake, ...]) -> None:
        trace = self._session.trace
        own = trace if self._is_own(trace) else None
        unsure = () if own is None or self._seen is None else tuple(self._seen.unsure(own.text))
        complete = self._seen is None or self._seen.is_complete
        judged = None if trace is not None and not trace.switches.mask else trace
        doubts = Doubts.of(predicted_words(judged), unsure, [one.word for one in untranslated])
        self.marks = () if own is None else tuple(_marks(own, unsure, untranslated, complete))
        self.verdict = verdict(doubts, self._threshold, complete=complete)
        self.is_bad = bool(self.verdict) and doubts.share >= self._threshold
        self.changed.emit()


def _marks(
    trace: Trace,
    unsure: tuple[UnsureWord, ...],
    untranslated: tuple[Uptake, ...],
    complete: bool,
) -> Iterator[SourceMark]:
    for token in trace.source_tokens:
        if token.kind in (TokenKind.UNKNOWN, TokenKind.BYTE) and token.end > token.start:
            about = f"“{token.label}” is not in the vocabulary."
            yield SourceMark(token.start, token.end, SourceDoubt.UNSEEN, about)
    for word in unsure:
        rare = SourceDoubt.RARE if word.times else SourceDoubt.UNSEEN
        yield SourceMark(word.start, word.end, rare, _about(trace.text, word, complete))
    for one in untranslated:
        tokens = trace.source_tokens[one.span.start : one.span.stop]
        start, end = tokens[0].start, tokens[-1].end
        start += len(trace.text[start:end]) - len(trace.text[start:end].lstrip())
        about = (
            f"“{trace.text[start:end]}” is left untranslated: the translation is as probable "
            "without it."
        )
        yield SourceMark(start, end, SourceDoubt.UNTRANSLATED, about)


def _about(text: str, word: UnsureWord, complete: bool) -> str:
    written = f"“{text[word.start : word.end]}”"
    if word.times:
        times = "once" if word.times == 1 else f"{word.times} times"
        return f"{written} was rarely seen in training ({times})."
    if complete:
        return f"{written} was never seen in training."
    return f"{written} is not among the {MOST_LISTED:,} words seen most often in training."
