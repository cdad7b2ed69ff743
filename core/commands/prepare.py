"""transformer-viz prepare: corpora made ready for training, as a recipe says."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="RECIPE.json", type=Path)
    parser.add_argument(
        "--corpora",
        metavar="FOLDER",
        type=Path,
        required=True,
        help="where the files lie that the recipe names and that are not beside it",
    )
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, required=True, help="for a TSV file of each source"
    )


def run(args: argparse.Namespace) -> int:
    """Print a line on each file. Raises UserError for a wrong recipe and an unreadable corpus."""
    from core.corpus.recipe.prepare import prepare
    from core.corpus.recipe.recipe import read_recipe

    recipe = read_recipe(args.recipe)
    for prepared in prepare(recipe, [args.recipe.parent, args.corpora], args.out):
        print(prepared.summary())
    return 0
