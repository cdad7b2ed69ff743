"""Processes that are measured from outside: one that fails or hangs ends the benchmark."""

from __future__ import annotations

import subprocess
import sys

MOST_SECONDS = 900


def output_of(module: str, *arguments: str, environment: dict[str, str] | None = None) -> bytes:
    """What ``python -m tests.benchmarks.MODULE`` prints.

    Raises:
        CalledProcessError, TimeoutExpired: it failed, with its traceback on stderr, or did not
            end.
    """
    command = [sys.executable, "-m", f"tests.benchmarks.{module}", *arguments]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, check=True, env=environment, timeout=MOST_SECONDS
    )
    return done.stdout
