"""transformer-viz import: convert a model of another program to one file of ours."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.errors import UserError
from core.files import is_there


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="PATH", type=Path, help="a MarianMT folder or a Marian model (.npz)"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", type=Path, required=True, help="the model file to write"
    )
    parser.add_argument(
        "--half", action="store_true", help="save the weights as float16, at half the size"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for an unreadable or native model, or an unwritable OUT."""
    from core.checkpoints.kinds import Kind, recognise
    from core.checkpoints.opening import open_model

    if recognise(args.path)[0] is Kind.NATIVE:
        if not is_there(args.path):
            raise UserError(f"{args.path} does not exist; check the name.")
        raise UserError(
            f"{args.path} is neither a MarianMT folder nor an .npz file; models of Transformer "
            "Viz need no import, so open it directly."
        )
    import torch

    from core.checkpoints.native import save_checkpoint

    checkpoint = open_model(args.path)
    dtype = torch.float16 if args.half else torch.float32
    save_checkpoint(
        args.output, checkpoint.model, checkpoint.tokenizer, checkpoint.provenance, dtype
    )
    count = checkpoint.model.parameter_count()
    print(f"{args.output}: {count:,} parameters", file=sys.stderr)
    return 0
