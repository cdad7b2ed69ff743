"""The application with a window that is measured; an error ends the process with its traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType

from transformer_viz.shell.window import Window
from transformer_viz.startup import app, launch


def run_window(window: type[Window], arguments: Sequence[str] | None = None) -> int:
    """Start the application with this class of window.

    The application shows an error in a slot as a dialog and lives on; here nobody would read it,
    and the event loop would never end.
    """
    app.Window = window  # type: ignore[misc]
    app._errors_shown = _errors_end_it
    given = sys.argv[1:] if arguments is None else arguments
    # On any screen the same size, so that figures can be compared.
    return launch.main(["--size", "1440x900", *given])


@contextmanager
def _errors_end_it() -> Iterator[None]:
    def end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        traceback.print_exception(kind, error, trace)
        sys.stderr.flush()
        os._exit(1)  # the engine's thread still runs

    before, sys.excepthook = sys.excepthook, end
    try:
        yield
    finally:
        sys.excepthook = before
