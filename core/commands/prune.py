"""transformer-viz prune: make a smaller model file by removing heads."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core.bundled import model_path
from core.heads import read_head

if TYPE_CHECKING:
    import torch

    from core.model.transformer import Transformer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="M", help="a model file or a bundled model (default: the first)"
    )
    parser.add_argument(
        "--head",
        metavar="HEAD",
        action="append",
        required=True,
        help="head to remove: encoder:4.1 for layer 4, head 1, or decoder:… or cross:…; can be "
        "repeated",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", type=Path, required=True, help="the model file to write"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for a missing head, and if OUT cannot be written."""
    from core.analysis.pruning import prune
    from core.checkpoints.native import save_checkpoint
    from core.checkpoints.opening import open_model

    path = model_path(args.model)
    checkpoint = open_model(path)
    heads = [read_head(name) for name in args.head]
    smaller = prune(checkpoint.model, heads)
    # The scores were the whole model's.
    provenance = {key: value for key, value in checkpoint.provenance.items() if key != "scores"}
    provenance["pruned_from"] = path.stem
    dtype = _smallest_dtype(smaller)
    save_checkpoint(args.output, smaller, checkpoint.tokenizer, provenance, dtype)
    before, after = checkpoint.model.parameter_count(), smaller.parameter_count()
    print(f"{args.output}: {after:,} parameters, {before:,} before", file=sys.stderr)
    return 0


def _smallest_dtype(model: Transformer) -> torch.dtype:
    """Return float16 if it holds every number exactly, as from a float16 file, else float32."""
    import torch

    exact = all(torch.equal(p.half().to(p), p) for p in model.parameters())
    return torch.float16 if exact else torch.float32
