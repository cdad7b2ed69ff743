"""Quantities without an engine and a model."""

from collections.abc import Callable

from tests.transformer_viz.stage import FakeBackend
from transformer_viz.engine.quantities import Answer, Quantities
from transformer_viz.engine.worker import Context
from transformer_viz.state.session import Session


class Answers:
    """An engine that answers at once, or, once `held`, when it is told to."""

    def __init__(self) -> None:
        self.held = False
        self.problem = ""
        self._waiting: list[Callable[[], None]] = []

    def ask(self, lane: str, question, *, done: Callable[[Answer], None], failed) -> None:
        context = Context(stale=lambda: False, report=lambda text: None)

        def answer() -> None:
            if self.problem:
                failed(self.problem)
            else:
                done(question(FakeBackend(), context))

        self._waiting = [answer]
        if not self.held:
            self.release()

    def cancel(self, lane: str) -> None:
        self._waiting.clear()

    def release(self) -> None:
        while self._waiting:
            self._waiting.pop()()


def quantities_of(session: Session, answers: Answers | None = None) -> Quantities:
    engine = answers or Answers()
    return Quantities(session, engine.ask, engine.cancel, session)
