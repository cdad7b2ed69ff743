"""transformer-viz trace: save the attention of every layer and head on one sentence as .npz."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.bundled import model_path
from core.commands.translate import add_search_arguments, chosen_search


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text",
        metavar="TEXT",
        help="the sentence to translate; a text of several is translated as one",
    )
    parser.add_argument(
        "-o", "--out", type=Path, required=True, metavar="OUT.npz", help="the trace file to write"
    )
    add_search_arguments(parser)
    parser.add_argument(
        "--target", metavar="T", help="a translation to record instead of the model's own"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for an unreadable model, an empty text or a bad OUT."""
    from core.checkpoints.opening import open_model
    from core.trace.npz import save_npz
    from core.trace.record import trace_text

    checkpoint = open_model(model_path(args.model))
    search = chosen_search(args, checkpoint.provenance)
    trace = trace_text(
        checkpoint.model, checkpoint.tokenizer, args.text, target=args.target, search=search
    )
    save_npz(trace, args.out)
    print(f"{trace.translation}", file=sys.stderr)
    print(args.out)
    return 0
