"""transformer-viz stop: stop a run after its current update, wherever it was started."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.commands.pause import require_owner


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="the run folder")


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError if no process is training the run."""
    from core.training.run_folder import RunFolder

    folder = RunFolder.open(args.run_folder)
    owner = require_owner(folder)
    folder.request("stop")
    print(
        f"Process {owner} saves {folder.path} after this update and stops. "
        f"Resume it with: transformer-viz resume {folder.path}",
        file=sys.stderr,
    )
    return 0
