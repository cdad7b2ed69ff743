"""How train and resume report a run, and what they answer to signals."""

from __future__ import annotations

import sys
from collections.abc import Callable

from core.errors import UserError
from core.training.events import Event, Failed, Interrupted, JsonLines
from core.training.progress import Progress
from core.training.signals import StopRequest

Tell = Callable[[Event], None]


def run_listened(train: Callable[[Tell, Callable[[], bool]], None], *, as_json: bool) -> int:
    """Call ``train`` with a listener and a stop request.

    Progress goes to stderr and, ``as_json``, events to stdout. A failure becomes an event before
    it goes on.

    Returns:
        0, or 130 if the run was stopped by a signal.
    """
    listeners: list[Tell] = [Progress(sys.stderr)]
    if as_json:
        listeners.append(JsonLines(sys.stdout))
    heard: list[Event] = []

    def tell(event: Event) -> None:
        heard[:] = [event]
        for listener in listeners:
            listener(event)

    with StopRequest() as should_stop:
        try:
            train(tell, should_stop)
        except UserError as error:
            tell(Failed(step=heard[0].step if heard else 0, message=str(error)))
            raise
    return 130 if isinstance(heard[0], Interrupted) else 0
