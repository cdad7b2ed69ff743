"""transformer-viz resume: resume a run exactly where it stopped, or end its pause."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.commands.listening import run_listened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="the run folder")
    parser.add_argument(
        "--steps", type=int, help="a larger number of updates in all, to train longer"
    )
    parser.add_argument("--json", action="store_true", help="print events as JSON lines on stdout")


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError if there is nothing to resume, and if the run fails."""
    from core.training.run_folder import RunFolder

    folder = RunFolder.open(args.run_folder)
    owner = folder.owner()
    if owner is not None and folder.wish() == "pause" and args.steps is None:
        folder.request(None)
        print(f"Process {owner} resumes {folder.path}.", file=sys.stderr)
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
