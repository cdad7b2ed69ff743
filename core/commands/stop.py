"""transformer-viz stop: end a run after its update, wherever it was started."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.commands.pause import require_owner
from core.training.run_folder import RunFolder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", type=Path)


def run(args: argparse.Namespace) -> int:
    """Raises UserError if nobody trains the run."""
    folder = RunFolder.open(args.run_folder)
    owner = require_owner(folder)
    folder.request("stop")
    print(
        f"Process {owner} saves {folder.path} after this update and ends; "
        f"go on with: transformer-viz resume {folder.path}",
        file=sys.stderr,
    )
    return 0
