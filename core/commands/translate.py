"""transformer-viz translate: one line in, one line out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.bundled import model_path
from core.errors import UserError
from core.files import read_problem
from core.model.product_choice import AUTO, WISHES

if TYPE_CHECKING:
    from core.decoding.config import SearchConfig

CHUNK = 1_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "text", nargs="*", default=[], metavar="TEXT", help="default: the lines of stdin"
    )
    what.add_argument("--file", type=Path, metavar="F", help="the lines of a file instead")
    add_search_arguments(parser)
    add_speed_arguments(parser)
    parser.add_argument("--json", action="store_true", help="a JSON object for each line")


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """What the commands that translate have in common."""
    parser.add_argument(
        "--model", metavar="M", help="a file or a bundled model (default: the first)"
    )
    parser.add_argument(
        "--beam", type=int, metavar="N", help="1 is greedy search (as an imported model says, or 4)"
    )
    parser.add_argument(
        "--alpha",
        type=float,
        metavar="A",
        help="of the length penalty (as an imported model says, or 0.6)",
    )


def add_speed_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``set_speed`` reads, and --int8."""
    parser.add_argument(
        "--int8",
        action="store_true",
        help="compute in 8 bits: faster, and a little less exact",
    )
    parser.add_argument(
        "--product",
        choices=WISHES,
        default=AUTO,
        help="the kernel of matrix products (auto: the fastest, measured once)",
    )


def set_speed(args: argparse.Namespace) -> None:
    """Choose kernels and threads, before the model is opened.

    Raises:
        UserError: this build of torch lacks the kernel.
    """
    import torch

    from core.model.measuring import use_best

    choice = use_best(args.product)
    if choice.threads is not None:
        torch.set_num_threads(choice.threads)


def chosen_search(args: argparse.Namespace, provenance: Mapping[str, Any]) -> SearchConfig:
    """Raises UserError for a value that is not possible."""
    from core.decoding.config import PAPER, SearchConfig

    return SearchConfig.of_model(provenance, beam=args.beam, alpha=args.alpha, usual=PAPER)


def run(args: argparse.Namespace) -> int:
    """Raises UserError if the model or the file cannot be read."""
    lines = iter(args.text) if args.text else _lines(args.file)
    somebody_types = not args.text and args.file is None and sys.stdin.isatty()
    chunk_size = 1 if somebody_types else CHUNK
    from core.checkpoints.opening import open_model
    from core.decoding.translate import translate

    set_speed(args)
    checkpoint = open_model(model_path(args.model))
    if args.int8:
        from core.model.int8 import to_int8

        to_int8(checkpoint.model)
    search = chosen_search(args, checkpoint.provenance)
    while chunk := list(islice(lines, chunk_size)):
        for source, best in zip(
            chunk,
            translate(checkpoint.model, checkpoint.tokenizer, chunk, search),
            strict=True,
        ):
            if args.json:
                result = {
                    "source": source,
                    "translation": best.text,
                    "log_probability": best.log_probability,
                    "score": best.score,
                    "tokens": [checkpoint.tokenizer.target.token(id).piece for id in best.ids],
                }
                print(json.dumps(result, ensure_ascii=False))
            else:
                print(best.text)
    return 0


def _lines(path: Path | None) -> Iterator[str]:
    """Lines end at \\n alone; bytes that are no UTF-8 show as replacement characters."""
    try:
        with sys.stdin.buffer if path is None else path.open("rb") as file:
            for line in file:
                yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")
    except OSError as error:
        raise UserError(read_problem(path or "the standard input", error)) from error
