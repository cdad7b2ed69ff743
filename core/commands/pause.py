"""transformer-viz pause: let a run wait, wherever it was started."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.errors import UserError
from core.training.run_folder import RunFolder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", type=Path)


def run(args: argparse.Namespace) -> int:
    """Raises UserError if nobody trains the run."""
    folder = RunFolder.open(args.run_folder)
    require_owner(folder)
    folder.request("pause")
    print(
        f"{folder.path} waits after this update; go on with: transformer-viz resume {folder.path}",
        file=sys.stderr,
    )
    return 0


def require_owner(folder: RunFolder) -> int:
    """The pid of the process that trains the run. Raises UserError if there is none."""
    owner = folder.owner()
    if owner is None:
        raise UserError(f"No process trains {folder.path}, so there is nothing to pause or stop.")
    return owner
