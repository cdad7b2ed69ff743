"""What ``test_workers`` starts as two processes, with a folder that holds config.json.

Each writes what it found as RANK.json.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from core.errors import UserError
from core.training.config import RunConfig
from core.training.run import resume_run, start_run
from core.training.signals import StopRequest
from core.training.workers import ToldElsewhereError, Workers, joined


def exchange(workers: Workers) -> dict[str, Any]:
    return {
        "sum": workers.sum(workers.rank + 1, 0.5),
        "any": [workers.any(workers.rank == 1), workers.any(False)],
        "gathered": workers.gather({"rank": workers.rank}),
        "broadcast": workers.broadcast(workers.first),
        "agreed": [failure(partial(fail_from, rank, workers)) for rank in (0, 1, 2)],
        "same": failure(lambda: workers.require_same("this", "data")),
        "other": failure(lambda: workers.require_same(workers.rank, "data")),
    }


def failure(call: Callable[[], None]) -> tuple[str, str] | None:
    try:
        call()
    except UserError as error:
        return type(error).__name__, str(error)
    return None


def fail_from(rank: int, workers: Workers) -> None:
    with workers.agreed():
        if workers.rank >= rank:
            raise UserError(f"{workers.rank} failed")


def train(folder: Path, workers: Workers) -> None:
    """A whole run; and the same one, stopped at the wish of the second worker, and resumed."""
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config = RunConfig.from_dict(values)

    def run(name: str, should_stop: Callable[[], bool]) -> None:
        start_run(
            folder / name,
            config,
            command="",
            tell=lambda event: None,
            should_stop=should_stop,
            workers=workers,
        )

    run("whole", lambda: False)
    updates = itertools.count(1)
    run("parts", lambda: next(updates) >= 5 and workers.rank == 1)
    if workers.first:
        (folder / "stopped.json").write_bytes((folder / "parts" / "metrics.jsonl").read_bytes())
    resume_run(
        folder / "parts",
        steps=None,
        tell=lambda event: None,
        should_stop=lambda: False,
        workers=workers,
    )


def main(folder: Path) -> None:
    found: dict[str, Any] = {}
    try:
        with StopRequest(), joined() as workers:
            found |= exchange(workers)
            train(folder, workers)
            keep(folder, found)
            if workers.rank == 1:
                os._exit(3)
            workers.sum(1)
    except ToldElsewhereError:
        raise
    except UserError as error:
        keep(folder, found | {"lost": str(error)})


def keep(folder: Path, found: dict[str, Any]) -> None:
    (folder / f"{os.environ['RANK']}.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
