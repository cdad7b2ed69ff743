"""transformer-viz corpus: print generated sentence pairs with their gold annotations."""

from __future__ import annotations

import argparse
import json

from core.corpus.grammar.draft import SPLITS, TRAIN
from core.corpus.grammar.generate import generate
from core.errors import UserError
from core.parsing.gold import gold_tree


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--count", type=int, default=20, metavar="N", help="number of sentences (default: 20)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="S",
        help="random seed; the same seed gives the same text (default: 1)",
    )
    parser.add_argument(
        "--family", metavar="F", help="use one family only (default: a mixture of all)"
    )
    parser.add_argument(
        "--split",
        default=TRAIN,
        metavar="|".join(SPLITS),
        help="use training or held-out combinations",
    )
    parser.add_argument(
        "--wide",
        action="store_true",
        help="include the words added for models that also translate ordinary text",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--trees",
        action="store_true",
        help="print the English side as bracketed trees with part-of-speech tags",
    )
    form.add_argument(
        "--jsonl",
        action="store_true",
        help="print JSON lines with words, alignment, trees and gold annotations",
    )


def run(args: argparse.Namespace) -> int:
    """Print source TAB target, a tree or a JSON object per line; raises UserError for a wrong
    value."""
    if args.count < 0:
        raise UserError(f"--count {args.count} is negative; use 0 or more.")
    families = [args.family] if args.family else None
    sentences = generate(
        args.count, seed=args.seed, split=args.split, families=families, wide=args.wide
    )
    for sentence in sentences:
        if args.jsonl:
            print(json.dumps(sentence.to_dict(), ensure_ascii=False))
        elif args.trees:
            print(gold_tree(sentence))
        else:
            print(f"{sentence.source}\t{sentence.target}")
    return 0
