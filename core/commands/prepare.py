"""transformer-viz prepare: prepare corpora for training by a recipe."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="RECIPE.json", type=Path, help="the recipe to follow")
    parser.add_argument(
        "--corpora",
        metavar="FOLDER",
        type=Path,
        required=True,
        help="where to look for files of the recipe that are not next to it",
    )
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        type=Path,
        required=True,
        help="where to write one TSV file per source",
    )


def run(args: argparse.Namespace) -> int:
    """Print a line per file; raises UserError for an invalid recipe and an unreadable corpus."""
    from core.corpus.recipe.prepare import prepare
    from core.corpus.recipe.recipe import read_recipe

    recipe = read_recipe(args.recipe)
    for prepared in prepare(recipe, [args.recipe.parent, args.corpora], args.out):
        print(prepared.summary())
    return 0
