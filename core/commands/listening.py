"""How train and resume report a run, and what they answer to signals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.errors import UserError
from core.training.events import Event, Failed, Interrupted, JsonLines
from core.training.progress import Progress
from core.training.signals import StopRequest

if TYPE_CHECKING:
    from core.training.workers import Workers

Tell = Callable[[Event], None]
ShouldStop = Callable[[], bool]


def run_listened(train: Callable[[Tell, ShouldStop, Workers], None], *, as_json: bool) -> int:
    """Call ``train`` with a listener, a stop request and the workers that torchrun started.

    Of these the first reports: progress goes to stderr and, ``as_json``, events to stdout. A
    failure becomes an event before it goes on.

    Returns:
        0, or 130 if the run was stopped by a signal, or 1 for a failure that is told elsewhere.
    """
    from core.training.workers import ToldElsewhereError, joined, leave

    listeners: list[Tell] = []
    heard: list[Event] = []

    def tell(event: Event) -> None:
        heard[:] = [event]
        for listener in listeners:
            listener(event)

    with StopRequest() as should_stop:
        try:
            with joined() as workers:
                if workers.first:
                    listeners.append(Progress(sys.stderr))
                if workers.first and as_json:
                    listeners.append(JsonLines(sys.stdout))
                train(tell, should_stop, workers)
        except ToldElsewhereError:
            return 1
        except UserError as error:
            tell(Failed(step=heard[0].step if heard else 0, message=str(error)))
            raise
    code = 130 if isinstance(heard[0], Interrupted) else 0
    if workers.count > 1:
        leave(code)
    return code
