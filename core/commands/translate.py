"""transformer-viz translate: translate line by line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.bundled import model_path
from core.commands.counting import Counting
from core.commands.sentences import piped, within
from core.errors import UserError
from core.fields import require
from core.model.product_choice import AUTO, WISHES

if TYPE_CHECKING:
    from core.checkpoints.native import Checkpoint
    from core.decoding.config import SearchConfig
    from core.decoding.translate import Translation

CHUNK = 1_000
LONGEST = 1_000  # tokens of a sentence: far beyond what any was trained on, and still seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "text",
        nargs="*",
        default=[],
        metavar="TEXT",
        help="sentences to translate (default: the lines of stdin)",
    )
    what.add_argument("--file", type=Path, metavar="F", help="translate the lines of a file")
    add_search_arguments(parser)
    add_speed_arguments(parser)
    parser.add_argument(
        "--longest",
        type=int,
        default=LONGEST,
        metavar="TOKENS",
        help=f"refuse sentences of more than this many tokens (default: {LONGEST:,})",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object per line, and progress as JSON lines on stderr",
    )


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that all commands which translate share."""
    parser.add_argument(
        "--model", metavar="M", help="a model file or a bundled model (default: the first)"
    )
    parser.add_argument(
        "--beam",
        type=int,
        metavar="N",
        help="beam size; 1 is greedy search (default: the imported model's own, or 4)",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        metavar="A",
        help="exponent of the length penalty (default: the imported model's own, or 0.6)",
    )


def add_speed_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that ``set_speed`` reads, and --int8."""
    parser.add_argument(
        "--int8",
        action="store_true",
        help="compute in 8 bits: faster, but slightly less exact",
    )
    parser.add_argument(
        "--product",
        choices=WISHES,
        default=AUTO,
        help="kernel for matrix products (auto: the fastest, measured once)",
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
    """Return the search settings; raises UserError for a value that is not allowed."""
    from core.decoding.config import PAPER, SearchConfig

    return SearchConfig.of_model(provenance, beam=args.beam, alpha=args.alpha, usual=PAPER)


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for an unreadable model or an untranslatable line."""
    require(args.longest >= 1, "--longest", args.longest, "1 or more")
    given = _given(args)
    from core.checkpoints.opening import open_model

    set_speed(args)
    checkpoint = open_model(model_path(args.model))
    if args.int8:
        from core.model.int8 import to_int8

        to_int8(checkpoint.model)
    search = chosen_search(args, checkpoint.provenance)
    tokenizer, longest = checkpoint.tokenizer, args.longest
    if given is not None:
        where = "the arguments" if args.file is None else str(args.file)
        chunks = iter(list(within(_chunks(given), where, tokenizer, longest)))
        _answer(chunks, checkpoint, search, len(given), as_json=args.json)
    else:
        chunks = within(piped(sys.stdin.buffer), "standard input", tokenizer, longest)
        _answer(chunks, checkpoint, search, None, as_json=args.json)
    return 0


def _given(args: argparse.Namespace) -> list[str] | None:
    """Return the sentences, or None if they come through standard input."""
    if args.file is not None:
        from core.corpus.aligned import read_lines

        return read_lines(args.file)
    for number, text in enumerate(args.text, start=1):
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise UserError(f"Sentence {number:,} of the arguments is not valid UTF-8; correct it.")
    return args.text or None


def _chunks(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), CHUNK):
        yield texts[start : start + CHUNK]


def _answer(
    chunks: Iterator[list[str]],
    checkpoint: Checkpoint,
    search: SearchConfig,
    total: int | None,
    *,
    as_json: bool,
) -> None:
    """Print a line for each sentence as soon as its chunk is translated."""
    from core.decoding.translate import translate

    tell = Counting(total, sys.stderr, as_json=as_json)
    answered = 0
    try:
        for chunk in chunks:
            before = answered
            found = translate(
                checkpoint.model,
                checkpoint.tokenizer,
                chunk,
                search,
                progress=lambda done, before=before: tell(before + done),  # type: ignore[misc]
            )
            answered += len(chunk)
            tell.end()
            for source, best in zip(chunk, found, strict=True):
                print(_as_json(source, best, checkpoint) if as_json else one_line(best.text))
            sys.stdout.flush()
    finally:
        tell.end()


def one_line(text: str) -> str:
    """Return a translation without line ends, which byte pieces of a vocabulary can spell."""
    return text.replace("\r", " ").replace("\n", " ")


def _as_json(source: str, best: Translation, checkpoint: Checkpoint) -> str:
    target = checkpoint.tokenizer.target
    result = {
        "source": source,
        "translation": best.text,
        "log_probability": best.log_probability,
        "score": best.score,
        "tokens": [target.token(id).piece for id in best.ids],
    }
    return json.dumps(result, ensure_ascii=False)
