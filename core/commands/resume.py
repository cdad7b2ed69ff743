"""transformer-viz resume: go on with a run exactly where it stopped."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.listening import run_listened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", type=Path)
    parser.add_argument("--steps", type=int, help="a new last update, to train longer")
    parser.add_argument("--json", action="store_true", help="events as JSON lines on stdout")


def run(args: argparse.Namespace) -> int:
    """Raises UserError if there is nothing to resume, and for a run that fails."""
    from core.training.run import resume_run

    return run_listened(
        lambda tell, should_stop: resume_run(
            args.run_folder, steps=args.steps, tell=tell, should_stop=should_stop
        ),
        as_json=args.json,
    )
