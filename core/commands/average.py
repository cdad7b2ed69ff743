"""transformer-viz average: average the last checkpoints of a run into one model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.counted import counted
from core.errors import UserError
from core.files import is_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="the run folder")
    parser.add_argument(
        "--last",
        type=int,
        default=5,
        metavar="N",
        help="number of checkpoints to average (default: 5)",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", type=Path, required=True, help="the model file to write"
    )
    parser.add_argument(
        "--half", action="store_true", help="save the weights as float16, at half the size"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for too few checkpoints or an unwritable OUT."""
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
