"""transformer-viz average: average the last checkpoints of a run into one model, or compare how
many to average."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from core.counted import counted
from core.errors import UserError
from core.files import is_file

_COUNTS = (1, 2, 5, 10, 20)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="the run folder")
    parser.add_argument(
        "--last",
        type=int,
        default=5,
        metavar="N",
        help="number of checkpoints to average (default: 5)",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-o", "--output", metavar="OUT", type=Path, help="the model file to write")
    what.add_argument(
        "--compare",
        type=int,
        nargs="*",
        metavar="N",
        help="write nothing, and score the mean of the last N checkpoints on the run's validation "
        "sentences, for each N (default: 1 2 5 10 20)",
    )
    parser.add_argument(
        "--half", action="store_true", help="save the weights as float16, at half the size"
    )
    parser.add_argument(
        "--json", action="store_true", help="with --compare: print one JSON object per line"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for too few checkpoints, an unwritable OUT, or data that
    have changed since the run began."""
    if args.compare is not None:
        return _compare(args)
    import torch

    from core.checkpoints.header import read_header
    from core.checkpoints.native import save_checkpoint
    from core.training.averaging import average_checkpoints
    from core.training.run_folder import RunFolder

    if args.last < 1:
        raise UserError(f"--last {args.last} is not possible; allowed: 1 or more.")
    folder = RunFolder.open(args.run_folder)
    checkpoints = folder.checkpoints()
    if len(checkpoints) < args.last:
        raise UserError(
            f"{args.run_folder} has {counted(len(checkpoints), 'checkpoint')}, fewer than "
            f"{args.last}; choose a smaller --last."
        )
    average = average_checkpoints(checkpoints[-args.last :])
    provenance = {**average.provenance, "averaged": args.last}
    if is_file(folder.model):
        of_run = read_header(folder.model).provenance
        if all(of_run.get(key) == provenance[key] for key in ("step", "averaged")):
            provenance = dict(of_run)  # the same weights, already scored
    dtype = torch.float16 if args.half else torch.float32
    save_checkpoint(args.output, average.model, average.tokenizer, provenance, dtype)
    first, last = checkpoints[-args.last].stem, checkpoints[-1].stem
    print(f"{args.output}: the mean of {first} … {last}", file=sys.stderr)
    return 0


def _compare(args: argparse.Namespace) -> int:
    """Print the scores of each average as soon as they are there."""
    from core.training.average_scores import average_scores
    from core.training.run_folder import RunFolder

    folder = RunFolder.open(args.run_folder)
    there = len(folder.checkpoints())
    counts = args.compare or [count for count in _COUNTS if count <= there]
    for count in counts:
        if not 1 <= count <= there:
            raise UserError(
                f"{args.run_folder} has {counted(there, 'checkpoint')}; {count} of them cannot be "
                "averaged. Choose other numbers."
            )
    if not args.json:
        print(f"{'averaged':>8}{'loss':>9}{'perplexity':>12}{'BLEU':>8}{'chrF':>8}")
    for count, result in average_scores(folder, counts):
        scores = result.scores
        if args.json:
            values = {"averaged": count, "validation_loss": result.loss, **scores.to_dict()}
            print(json.dumps(values | {"perplexity": result.perplexity}), flush=True)
        else:
            print(
                f"{count:>8}{result.loss:>9.4f}{result.perplexity:>12.3f}{scores.bleu:>8.2f}"
                f"{scores.chrf:>8.2f}",
                flush=True,
            )
    return 0
