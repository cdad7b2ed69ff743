"""transformer-viz parse: print the constituency tree of each line, or score a parser."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.bundled import model_path
from core.commands.counting import Counting
from core.commands.sentences import piped
from core.commands.translate import (
    add_line_arguments,
    add_longest_argument,
    add_search_arguments,
    add_speed_arguments,
    chosen_search,
    chunked,
    given_lines,
    set_speed,
)
from core.counted import counted
from core.errors import UserError
from core.fields import require

if TYPE_CHECKING:
    from core.checkpoints.native import Checkpoint
    from core.decoding.config import SearchConfig
    from core.evaluation.parsing import Parse, Question
    from core.parsing.score import Score
    from core.parsing.trees import Tree

GRAMMAR = "grammar"
PARSER = "parse-en"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = add_line_arguments(
        parser, "sentences to parse, one per argument", "parse the lines of a file"
    )
    what.add_argument(
        "--gold",
        metavar="TREES",
        help="score the parser: on a file of bracketed trees, or on grammar, the generated test "
        "sentences",
    )
    parser.add_argument(
        "--tokenized",
        action="store_true",
        help="words and punctuation are already separated by spaces, as in a treebank",
    )
    parser.add_argument(
        "--sentences",
        type=int,
        default=1_000,
        help="number of sentences for --gold grammar (default: 1,000)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed for the sentences of --gold grammar (default: 0)"
    )
    add_search_arguments(parser, PARSER)
    add_speed_arguments(parser)
    add_longest_argument(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object per line or, with --gold, one for all",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="save the result of --gold in the model file, for its card",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for a model that is no parser and an unreadable file."""
    require(args.longest >= 1, "--longest", args.longest, "1 or more")
    require(args.sentences >= 1, "--sentences", args.sentences, "1 or more")
    if args.record and (args.gold is None or args.int8):
        raise UserError(
            "--record saves the result of --gold by the unquantised model; add --gold, and leave "
            "out --int8."
        )
    given = None if args.gold else given_lines(args)
    from core.checkpoints.opening import open_model
    from core.evaluation.parsing import labels_of

    set_speed(args)
    path = model_path(args.model)
    checkpoint = open_model(path)
    labels = labels_of(checkpoint.provenance, path.name)
    if args.int8:
        from core.model.int8 import to_int8

        to_int8(checkpoint.model)
    search = chosen_search(args, checkpoint.provenance)
    if args.gold:
        result = _score(args, checkpoint, labels, search)
        if args.record:
            from core.checkpoints.native import add_scores

            add_scores(path, {"parsing": result})
        return 0
    _parse_lines(args, given, checkpoint, labels, search)
    return 0


def _parse_lines(
    args: argparse.Namespace,
    given: list[str] | None,
    checkpoint: Checkpoint,
    labels: list[str],
    search: SearchConfig,
) -> None:
    """Print a line for each line in, as soon as its chunk is parsed; repairs go to stderr."""
    from core.evaluation.parsing import Question, parse_all
    from core.parsing.words import words_of

    chunks = chunked(given) if given is not None else piped(sys.stdin.buffer)
    tell = Counting(None if given is None else len(given), sys.stderr, as_json=args.json)
    number = repaired = 0
    try:
        for chunk in chunks:
            questions = [
                Question(line, words_of(line, tokenized=args.tokenized))
                for line in _within(chunk, number, checkpoint, args.longest)
            ]
            parses = parse_all(
                checkpoint.model,
                checkpoint.tokenizer,
                labels,
                questions,
                search,
                progress=lambda done, before=number: tell(before + done),  # type: ignore[misc]
            )
            number += len(chunk)
            tell.end()
            for question, parse in zip(questions, parses, strict=True):
                repaired += bool(question.words and parse.repairs.count)
                print(_as_json(question, parse) if args.json else _line(question, parse))
            sys.stdout.flush()
    finally:
        tell.end()
    if repaired and not args.json:
        print(f"{counted(repaired, 'tree')} of {number:,} had to be repaired.", file=sys.stderr)


def _within(lines: list[str], before: int, checkpoint: Checkpoint, longest: int) -> Iterator[str]:
    for number, line in enumerate(lines, start=before + 1):
        tokens = len(checkpoint.tokenizer.encode(line))
        if tokens > longest:
            raise UserError(
                f"Line {number:,} has {tokens:,} tokens; the limit is {longest:,}. Divide it, or "
                f"raise the limit with --longest {tokens}."
            )
        yield line


def _line(question: Question, parse: Parse) -> str:
    return str(parse.tree) if question.words else ""


def _as_json(question: Question, parse: Parse) -> str:
    values = {
        "source": question.text,
        "words": question.words,
        "tree": _line(question, parse),
        "output": parse.output,
        "rank": parse.rank,
        "repairs": {name: count for name, count in asdict(parse.repairs).items() if count},
        "log_probability": parse.log_probability,
        "score": parse.score,
    }
    return json.dumps(values, ensure_ascii=False)


def _score(
    args: argparse.Namespace, checkpoint: Checkpoint, labels: list[str], search: SearchConfig
) -> dict[str, Any]:
    """Print the scores and return them, each part of the trees by its name."""
    from core.evaluation.parsing import Question, parse_all, score_parses

    parts = _gold(args)
    tell = Counting(sum(map(len, parts.values())), sys.stderr, as_json=args.json)
    result: dict[str, Any] = {
        "gold": GRAMMAR if args.gold == GRAMMAR else Path(args.gold).name,
        "beam": search.beam,
        "alpha": search.alpha,
        "penalty": search.penalty,
    }
    done = 0
    for name, trees in parts.items():
        parses = parse_all(
            checkpoint.model,
            checkpoint.tokenizer,
            labels,
            [Question.of(tree) for tree in trees],
            search,
            progress=lambda count, before=done: tell(before + count),  # type: ignore[misc]
        )
        done += len(trees)
        score = score_parses(trees, parses)
        repaired = sum(parse.repairs.count > 0 for parse in parses)
        passed_over = sum(parse.rank > 0 for parse in parses)
        result[name] = score.to_dict() | {"repaired": repaired, "passed_over": passed_over}
        if not args.json:
            tell.end()
            print(_described(name, score, repaired, passed_over))
    tell.end()
    if args.json:
        print(json.dumps(result))
    return result


def _gold(args: argparse.Namespace) -> dict[str, list[Tree]]:
    """The gold trees by the name of the part that they are of.

    Raises:
        UserError: the file cannot be read.
    """
    if args.gold != GRAMMAR:
        from core.parsing.reader import TreeReader

        return {"trees": [tree for _, tree in TreeReader(args.gold).trees()]}
    from core.evaluation.parsing import generated_gold

    gold = generated_gold(args.sentences, seed=args.seed)
    return {"held_out_words": gold.known, "held_out_patterns": gold.held_out}


_PARTS = {
    "trees": "",
    "held_out_words": " with held-out combinations of words",
    "held_out_patterns": " with held-out patterns",
}


def _described(name: str, score: Score, repaired: int, passed_over: int) -> str:
    rates = score.to_dict()
    return (
        f"{counted(score.sentences, 'sentence')}{_PARTS[name]}\n"
        f"  F1 {score.f1:.2f}  precision {score.precision:.2f}  recall {score.recall:.2f}  "
        f"exact {rates['exact']:.1f}%\n"
        f"  {score.matched:,} of {score.gold:,} gold brackets found, {score.test:,} in the parses; "
        f"{repaired:,} repaired, {score.failed:,} not comparable; of {passed_over:,} the best "
        "output was no tree, and a later one was taken"
    )
