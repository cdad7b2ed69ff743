"""The model's positions, and what the sentence looks like without them or in another order."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal

from core.trace.positions import PositionTable
from core.trace.variant import Variant
from transformer_viz.engine.engine import Engine
from transformer_viz.state.session import Search, Session

PAUSE = 150
"""ms without a newer sentence before the variant of it is computed."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What to change; `seed` is the shuffle's, None leaves the order as it is."""

    positions: bool = True
    seed: int | None = None

    @property
    def nothing(self) -> bool:
        return self.positions and self.seed is None


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
                text, search, wish.positions, wish.seed, context
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
