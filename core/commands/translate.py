"""transformer-viz translate: translate line by line, and each line sentence by sentence."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.bundled import model_path
from core.commands.counting import Counting
from core.commands.doubting import passage_doubts
from core.commands.sentences import piped, splitter, within
from core.decoding.penalty import PENALTIES
from core.errors import UserError
from core.fields import require
from core.model.product_choice import AUTO, WISHES

if TYPE_CHECKING:
    from core.checkpoints.native import Checkpoint
    from core.decoding.config import SearchConfig
    from core.decoding.translate import Translation
    from core.text.passage import Passage

CHUNK = 1_000
LONGEST = 1_000  # tokens of a sentence: far beyond what any was trained on, and still seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_line_arguments(
        parser, "lines to translate, each of one or more sentences", "translate the lines of a file"
    )
    add_search_arguments(parser)
    add_speed_arguments(parser)
    parser.add_argument(
        "--whole-lines",
        action="store_true",
        help="translate a line of several sentences as one; by default each sentence is translated "
        "by itself, and the translations are joined by the spaces of the line",
    )
    add_longest_argument(parser)
    parser.add_argument(
        "--doubts",
        action=argparse.BooleanOptionalAction,
        help="say on stderr, or in the JSON, what speaks against each translation: guessed words, "
        "words rarely or never seen in training, words left untranslated (default: for the lines "
        "given as arguments, without --json)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object per line, and progress as JSON lines on stderr",
    )


def add_line_arguments(
    parser: argparse.ArgumentParser, texts: str, file: str
) -> argparse._MutuallyExclusiveGroup:
    """Add the arguments that ``given_lines`` reads, and return their group; ``texts`` and ``file``
    say what they are for."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "text",
        nargs="*",
        default=[],
        metavar="TEXT",
        help=f"{texts} (default: the lines of stdin)",
    )
    what.add_argument("--file", type=Path, metavar="F", help=file)
    return what


def add_longest_argument(parser: argparse.ArgumentParser) -> None:
    """Add --longest, in tokens."""
    parser.add_argument(
        "--longest",
        type=int,
        default=LONGEST,
        metavar="TOKENS",
        help=f"refuse sentences of more than this many tokens (default: {LONGEST:,})",
    )


def add_search_arguments(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add the arguments that all commands which search share; ``default`` is a bundled model, the
    first one if it is None."""
    parser.add_argument(
        "--model",
        metavar="M",
        default=default,
        help=f"a model file or a bundled model (default: {default or 'the first'})",
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
    add_penalty_argument(parser)


def add_penalty_argument(parser: argparse.ArgumentParser) -> None:
    """Add --penalty, the form of the length penalty."""
    parser.add_argument(
        "--penalty",
        choices=PENALTIES,
        help="what divides the log-probability of a translation of n tokens: gnmt, "
        "((5 + n) / 6)^A, as in the paper; length, n^A; or none (default: the imported model's "
        "own, or gnmt)",
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

    return SearchConfig.of_model(
        provenance, beam=args.beam, alpha=args.alpha, penalty=args.penalty, usual=PAPER
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for an unreadable model or an untranslatable line."""
    require(args.longest >= 1, "--longest", args.longest, "1 or more")
    given = given_lines(args)
    from core.checkpoints.opening import open_model

    set_speed(args)
    checkpoint = open_model(model_path(args.model))
    if args.int8:
        from core.model.int8 import to_int8

        to_int8(checkpoint.model)
    search = chosen_search(args, checkpoint.provenance)
    split = splitter(checkpoint, whole_lines=args.whole_lines)
    tokenizer, longest = checkpoint.tokenizer, args.longest
    texts = chunked(given) if given is not None else piped(sys.stdin.buffer)
    where = "standard input" if given is None else str(args.file or "the arguments")
    chunks = within(([split(text) for text in chunk] for chunk in texts), where, tokenizer, longest)
    if given is not None:
        chunks = iter(list(chunks))
    total = None if given is None else len(given)
    doubted = args.doubts
    if doubted is None:
        doubted = bool(args.text) and not args.json
    _answer(chunks, checkpoint, search, total, as_json=args.json, doubted=doubted)
    return 0


def given_lines(args: argparse.Namespace) -> list[str] | None:
    """Return the lines, or None if they come through standard input."""
    if args.file is not None:
        from core.corpus.aligned import read_lines

        return read_lines(args.file)
    for number, text in enumerate(args.text, start=1):
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise UserError(f"Line {number:,} of the arguments is not valid UTF-8; correct it.")
    return args.text or None


def chunked(texts: list[str]) -> Iterator[list[str]]:
    """Yield the texts in lists of at most ``CHUNK``."""
    for start in range(0, len(texts), CHUNK):
        yield texts[start : start + CHUNK]


def _answer(
    chunks: Iterator[list[Passage]],
    checkpoint: Checkpoint,
    search: SearchConfig,
    total: int | None,
    *,
    as_json: bool,
    doubted: bool,
) -> None:
    """Print a line for each passage as soon as its chunk is translated."""
    from core.decoding.translate import translate_passages
    from core.text.seen_words import SeenWords
    from core.trace.doubts import Doubts, threshold_of, verdict

    seen = SeenWords.of_model(checkpoint.provenance)
    complete = seen is None or seen.is_complete
    threshold = threshold_of(checkpoint.provenance)
    tell = Counting(total, sys.stderr, as_json=as_json)
    answered = 0
    try:
        for chunk in chunks:
            before = answered
            found = translate_passages(
                checkpoint.model,
                checkpoint.tokenizer,
                chunk,
                search,
                progress=lambda done, before=before: tell(before + done),  # type: ignore[misc]
            )
            answered += len(chunk)
            tell.end()
            doubts: list[Doubts] = passage_doubts(checkpoint, chunk, found) if doubted else []
            for place, (passage, parts) in enumerate(zip(chunk, found, strict=True)):
                if as_json:
                    line = _passage_as_json(passage, parts, checkpoint)
                    if doubted:
                        line["doubts"] = doubts[place].to_dict(threshold)
                    print(json.dumps(line, ensure_ascii=False))
                else:
                    print(one_line(passage.joined([best.text for best in parts])))
            sys.stdout.flush()
            for number, one in enumerate(doubts, start=before + 1):
                if not as_json and (said := verdict(one, threshold, complete=complete)):
                    print(f"line {number:,}: {said}", file=sys.stderr)
    finally:
        tell.end()


def one_line(text: str) -> str:
    """Return a translation without line ends, which byte pieces of a vocabulary can spell."""
    return text.replace("\r", " ").replace("\n", " ")


def _passage_as_json(
    passage: Passage, parts: tuple[Translation, ...], checkpoint: Checkpoint
) -> dict[str, Any]:
    """Return one object; where there are several sentences, with one for each of them in it."""
    if len(parts) == 1:
        return _as_json(passage.text, parts[0], checkpoint)
    sentences = [
        _as_json(source, best, checkpoint)
        for source, best in zip(passage.questions, parts, strict=True)
    ]
    return {
        "source": passage.text,
        "translation": passage.joined([best.text for best in parts]),
        "log_probability": sum(best.log_probability for best in parts),
        "score": sum(best.score for best in parts),
        "tokens": [token for sentence in sentences for token in sentence["tokens"]],
        "sentences": sentences,
    }


def _as_json(source: str, best: Translation, checkpoint: Checkpoint) -> dict[str, Any]:
    target = checkpoint.tokenizer.target
    return {
        "source": source,
        "translation": best.text,
        "log_probability": best.log_probability,
        "score": best.score,
        "tokens": [target.token(id).piece for id in best.ids],
    }
