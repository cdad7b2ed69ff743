"""transformer-viz install-desktop: add the program to a Linux desktop, or remove it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from transformer_viz.desktop.installation import Installation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--remove", action="store_true", help="remove what was added")
    parser.add_argument(
        "--prefix",
        type=Path,
        metavar="DIR",
        help="for packagers: install below DIR/share instead of the user's own folder, with a "
        "command that is found by its name, and update no caches",
    )


def run(args: argparse.Namespace) -> int:
    """Print each file that was written or removed; raises UserError for other systems."""
    installation = Installation.for_user() if args.prefix is None else Installation.at(args.prefix)
    if args.remove:
        for path in installation.remove():
            print(f"removed {path}")
    else:
        for path in installation.write():
            print(path)
    for sentence in installation.update_caches() if args.prefix is None else []:
        print(f"transformer-viz install-desktop: {sentence}", file=sys.stderr)
    return 0
