"""transformer-viz corpus: print generated sentence pairs with their gold annotations."""

from __future__ import annotations

import argparse
import json

from core.corpus.grammar.draft import SPLITS, TRAIN
from core.corpus.grammar.generate import generate
from core.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=20, metavar="N", help="how many sentences")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="same seed, same text")
    parser.add_argument("--family", metavar="F", help="one family only (default: all, mixed)")
    parser.add_argument(
        "--split", default=TRAIN, metavar="|".join(SPLITS), help="train or held-out combinations"
    )
    parser.add_argument(
        "--wide",
        action="store_true",
        help="with the words added for models that translate ordinary text as well",
    )
    parser.add_argument("--jsonl", action="store_true", help="with words, alignment, trees, gold")


def run(args: argparse.Namespace) -> int:
    """Print source TAB target, or a JSON object per line. Raises UserError for wrong values."""
    if args.count < 0:
        raise UserError(f"--count {args.count} is negative; give 0 or more sentences")
    families = [args.family] if args.family else None
    sentences = generate(
        args.count, seed=args.seed, split=args.split, families=families, wide=args.wide
    )
    for sentence in sentences:
        if args.jsonl:
            print(json.dumps(sentence.to_dict(), ensure_ascii=False))
        else:
            print(f"{sentence.source}\t{sentence.target}")
    return 0
