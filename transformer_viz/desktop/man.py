"""transformer-viz man: print the manual page."""

from __future__ import annotations

import argparse
import sys

from transformer_viz.desktop.man_page import man_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments; to read the page, type transformer-viz man | man -l -."""


def run(args: argparse.Namespace) -> int:
    """Write the page to stdout, in the language of man(7)."""
    sys.stdout.write(man_page())
    return 0
