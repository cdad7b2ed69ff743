"""transformer-viz pause: pause a run, wherever it was started."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import UserError

if TYPE_CHECKING:
    from core.training.run_folder import RunFolder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="the run folder")


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError if no process is training the run."""
    from core.training.run_folder import RunFolder

    folder = RunFolder.open(args.run_folder)
    require_owner(folder)
    folder.request("pause")
    print(
        f"{folder.path} pauses after this update. "
        f"Resume it with: transformer-viz resume {folder.path}",
        file=sys.stderr,
    )
    return 0


def require_owner(folder: RunFolder) -> int:
    """Return the pid of the process that trains the run; raises UserError if there is none."""
    owner = folder.owner()
    if owner is None:
        raise UserError(
            f"No process is training {folder.path}, so there is nothing to pause or stop."
        )
    return owner
