"""transformer-viz import: a model of another program as one file of ours."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.errors import UserError
from core.files import is_there


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="PATH", type=Path, help="a MarianMT folder, or a Marian model (.npz)"
    )
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, required=True)
    parser.add_argument(
        "--half", action="store_true", help="half the size: numbers in half precision"
    )


def run(args: argparse.Namespace) -> int:
    """Raises UserError if the model cannot be read, is ours already, or OUT not be written."""
    from core.checkpoints.kinds import Kind, recognise
    from core.checkpoints.opening import open_model

    if recognise(args.path)[0] is Kind.NATIVE:
        if not is_there(args.path):
            raise UserError(f"{args.path} does not exist; check the name.")
        raise UserError(
            f"{args.path} is neither a MarianMT folder nor an .npz file; a model of Transformer "
            "Viz needs no import."
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
