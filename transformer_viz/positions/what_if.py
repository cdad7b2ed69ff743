"""The model's positions, and what the sentence looks like without them or in another order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal

from core.trace.positions import PositionTable
from core.trace.variant import Variant, words_of
from transformer_viz.engine.engine import Engine
from transformer_viz.state.session import Search, Session

PAUSE = 150
"""ms without a newer sentence before the variant of it is computed."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What to change.

    Attributes:
        seed: of the shuffle; None if the words are not shuffled.
        words: the order of the words as it was chosen, by their places; None if it was not.
    """

    positions: bool = True
    seed: int | None = None
    words: tuple[int, ...] | None = None

    @property
    def order(self) -> int | tuple[int, ...] | None:
        return self.seed if self.words is None else self.words

    @property
    def nothing(self) -> bool:
        return self.positions and self.order is None


class WhatIf(QObject):
    """What becomes of the sentence in another order or without positions; `table` and `variant`
    always belong to the model and the sentence of the session.

    Attributes:
        table: the model's positions; None until they are there, or with `table_problem`, one
            sentence.
        wish: what is to be changed.
        variant: the sentence so changed; None while there is none.
        asking: whether a variant is on its way.
        problem: why there is no variant, in one sentence.
        watched: whether somebody looks; only then is the variant computed.
    """

    tableChanged = Signal()  # table or table_problem
    changed = Signal()  # wish, variant, asking or problem

    def __init__(
        self,
        session: Session,
        engine: Engine,
        search: Callable[[], Search],
        parent: QObject | None = None,
    ) -> None:
        """Follow the session; `search` tells how translations are found at the moment."""
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._search = search
        self.table: PositionTable | None = None
        self.table_problem = ""
        self.wish = Wish()
        self.variant: Variant | None = None
        self.asking = False
        self.problem = ""
        self.watched = False
        self._text = ""  # of the trace shown last
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self._ask)
        session.modelChanged.connect(self._on_model)
        session.sentenceChanged.connect(self._on_sentence)
        session.traceChanged.connect(self._on_trace)

    def change(self, **changes: object) -> None:
        """Change fields of the wish; the variant follows at once."""
        wish = replace(self.wish, **changes)  # type: ignore[arg-type]
        if wish != self.wish:
            self.wish = wish
            self._drop()
            self._ask()

    @property
    def order_shown(self) -> tuple[int, ...]:
        """The places of the words in the order that is wished for and known: as the sentence has
        them until a shuffle has its answer."""
        trace, variant = self._session.trace, self.variant
        if trace is None:
            return ()
        words = words_of(trace.source_tokens[:-1])
        if self.wish.words is not None:
            return self.wish.words
        if variant is None or not variant.shuffled:
            return tuple(range(len(words)))
        place = {word[0]: number for number, word in enumerate(words)}
        return tuple(place[index] for index in variant.order if index in place)

    def swap(self, first: int, second: int) -> None:
        """Let the words at two places of the order shown change places."""
        order = list(self.order_shown)
        order[first], order[second] = order[second], order[first]
        self.arrange(order)

    def arrange(self, order: Sequence[int]) -> None:
        """Put the words in this order; their own order is none."""
        own = list(order) == sorted(order)
        self.change(seed=None, words=None if own else tuple(order))

    def watch(self, watched: bool) -> None:
        self.watched = watched
        if watched and self.variant is None and not self.asking:
            self._ask()

    def _on_model(self) -> None:
        self._drop()
        self.table, self.table_problem = None, ""
        self.tableChanged.emit()
        if self._session.model is not None:
            self._engine.ask(
                "positions",
                lambda backend, context: backend.positions(context),
                done=self._show_table,
                failed=self._show_table_problem,
            )

    def _on_sentence(self) -> None:
        """The sentence typed must not wait for the variant of the one before; what is shown
        belongs to the session's trace and stays with it."""
        if self.variant is None:
            self._drop()
            self._pause.start()

    def _on_trace(self) -> None:
        """An order of words belongs to the sentence that it was chosen for."""
        trace, words = self._session.trace, self.wish.words
        text = "" if trace is None else trace.text
        if words is not None and text != self._text:
            self.wish = replace(self.wish, words=None)
        self._text = text
        self._drop()
        self._pause.start()

    def _drop(self) -> None:
        """Forget the variant, and the question that waits for one."""
        self._pause.stop()
        self._engine.cancel("what_if")
        self.variant, self.asking, self.problem = None, False, ""
        self.changed.emit()

    def _ask(self) -> None:
        trace, wish, search = self._session.trace, self.wish, self._search()
        if trace is None or not trace.has_ids or wish.nothing or not self.watched:
            return
        text = trace.text
        self.asking = True
        self._engine.ask(
            "what_if",
            lambda backend, context: backend.what_if(
                text, search, wish.positions, wish.order, context
            ),
            done=self._show_variant,
            failed=self._show_problem,
        )
        self.changed.emit()

    def _show_table(self, table: PositionTable) -> None:
        self.table = table
        self.tableChanged.emit()

    def _show_table_problem(self, problem: str) -> None:
        self.table_problem = problem
        self.tableChanged.emit()

    def _show_variant(self, variant: Variant) -> None:
        self.variant, self.asking = variant, False
        self.changed.emit()

    def _show_problem(self, problem: str) -> None:
        self.problem, self.asking = problem, False
        self.changed.emit()
