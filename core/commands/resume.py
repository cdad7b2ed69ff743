"""transformer-viz resume: go on with a run exactly where it stopped, or end its pause."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.commands.listening import run_listened
from core.training.run_folder import RunFolder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", type=Path)
    parser.add_argument("--steps", type=int, help="a new last update, to train longer")
    parser.add_argument("--json", action="store_true", help="events as JSON lines on stdout")


def run(args: argparse.Namespace) -> int:
    """Raises UserError if there is nothing to resume, and for a run that fails."""
    folder = RunFolder.open(args.run_folder)
    owner = folder.owner()
    if owner is not None and folder.wish() == "pause" and args.steps is None:
        folder.request(None)
        print(f"Process {owner} goes on with {folder.path}.", file=sys.stderr)
        return 0
    from core.training.run import resume_run

    return run_listened(
        lambda tell, should_stop, workers: resume_run(
            args.run_folder,
            steps=args.steps,
            tell=tell,
            should_stop=should_stop,
            workers=workers,
        ),
        as_json=args.json,
    )
