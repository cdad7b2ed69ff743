"""transformer-viz evaluate: score translations by references or by the grammar's annotations."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.bundled import model_path
from core.checkpoints.kinds import Kind, recognise
from core.commands.counting import Counting
from core.commands.doubting import passage_doubts
from core.commands.sentences import splitter
from core.commands.translate import (
    add_search_arguments,
    add_speed_arguments,
    chosen_search,
    set_speed,
)
from core.counted import counted
from core.errors import UserError
from core.fields import require

if TYPE_CHECKING:
    from core.checkpoints.native import Checkpoint
    from core.decoding.config import SearchConfig
    from core.evaluation.gold import GoldReport, HeadScore, PairScore
    from core.evaluation.mark_rates import MarkRates


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--source", metavar="FILE", type=Path, help="one sentence per line")
    what.add_argument(
        "--corpus",
        help="FILE.tsv, FILE.tsv:2:4 (columns), FILE.tmx or SOURCE,TARGET; a source that "
        "occurs several times is one sentence with several references",
    )
    what.add_argument(
        "--test-set",
        metavar="SET:PAIR",
        help="a test set of sacrebleu, such as wmt20:en-de; `transformer-viz data` downloads it",
    )
    what.add_argument(
        "--gold",
        action="store_true",
        help="generated test sentences: score exact translations, pronouns and the heads for 'it'",
    )
    parser.add_argument(
        "--reference",
        metavar="FILE",
        type=Path,
        nargs="+",
        default=[],
        help="translations of --source, line by line; several files are several references",
    )
    parser.add_argument(
        "--partial",
        action="store_true",
        help="skip lines of --corpus that cannot be read, and score the rest",
    )
    parser.add_argument(
        "--tokenize",
        choices=("13a", "intl", "zh", "char", "none"),
        help="tokenisation for BLEU (default: 13a, or what the language of a test set needs); "
        "none for files that are already tokenised",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="FOLDER",
        help="look for --test-set in FOLDER instead of the user's cache",
    )
    parser.add_argument(
        "--sentences",
        type=int,
        default=1_000,
        help="number of sentences for --gold (default: 1,000)",
    )
    parser.add_argument(
        "--pairs", type=int, default=600, help="number of minimal pairs for --gold (default: 600)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed for the sentences of --gold (default: 0)"
    )
    parser.add_argument(
        "--split-sentences",
        action="store_true",
        help="translate each sentence of a line by itself, as translate does (default: lines as a "
        "whole, so that scores stay comparable with those of other programs)",
    )
    parser.add_argument(
        "--doubts",
        action="store_true",
        help="measure also how often translations that are marked as probably wrong are bad "
        "(chrF below 40), and the others are not; the threshold is chosen on every other sentence",
    )
    add_search_arguments(parser)
    add_speed_arguments(parser)
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:N or mps")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument(
        "--record", action="store_true", help="save the result in the model file, for its card"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError if a file cannot be read or files do not match."""
    if args.record and recognise(model_path(args.model))[0] is not Kind.NATIVE:
        raise UserError("--record saves the result in a model file; create one with import first.")
    if args.record and args.int8:
        raise UserError("--record is for the results of the unquantised model; leave out --int8.")
    if args.gold and args.split_sentences:
        raise UserError("--gold scores generated lines as a whole; leave out --split-sentences.")
    if args.gold and args.doubts:
        raise UserError("--doubts needs references; use it with --corpus, --source or --test-set.")
    scores = _run_gold(args) if args.gold else _run_references(args)
    if args.record:
        from core.checkpoints.native import add_scores

        add_scores(model_path(args.model), scores)
    return 0


def _run_references(args: argparse.Namespace) -> dict[str, Any]:
    """Print the scores and return them by the name of the test set."""
    from core.checkpoints.split import split_of
    from core.corpus.spec import names_of
    from core.decoding.translate import translate_passages
    from core.evaluation.mark_rates import sentence_chrf, tuned_rates
    from core.evaluation.metrics import score, tokenizer_for

    test_set = pair = None
    if args.test_set:
        test_set, pair, sentences = _from_test_set(args.test_set, args.cache)
    elif args.corpus:
        sentences = _from_corpus(args.corpus, partial=args.partial)
    else:
        sentences = _from_files(args.source, args.reference)
    checkpoint = _load(args)
    search = chosen_search(args, checkpoint.provenance)
    split_line = splitter(checkpoint, whole_lines=not args.split_sentences)
    passages = [split_line(source) for source, _ in sentences]
    translations = translate_passages(
        checkpoint.model,
        checkpoint.tokenizer,
        passages,
        search,
        progress=Counting(len(sentences), sys.stderr, as_json=args.json),
    )
    outputs = [
        passage.joined([part.text for part in parts])
        for passage, parts in zip(passages, translations, strict=True)
    ]
    references = [of_sentence for _, of_sentence in sentences]
    scores = score(
        outputs,
        references,
        tokenize=args.tokenize or tokenizer_for("" if pair is None else pair.partition("-")[2]),
        test_set=test_set,
        pair=pair,
    )
    name = args.test_set or (names_of(args.corpus)[0] if args.corpus else args.source.name)
    split = None if args.test_set else split_of(name, checkpoint.provenance)
    result = {"sentences": len(sentences), **scores.to_dict()}
    if args.split_sentences:
        result["split_sentences"] = True
    if split is not None:
        result["split"] = split.value
        print(f"{name}: {split.warning}.", file=sys.stderr)
    measured = {}
    if args.doubts:
        if len(sentences) < 2:
            raise UserError("--doubts needs two sentences or more; add sentences.")
        tell = Counting(len(sentences), sys.stderr, as_json=args.json)
        doubts = passage_doubts(checkpoint, passages, translations, tell)
        rates = tuned_rates([one.share for one in doubts], sentence_chrf(outputs, references))
        measured = {"doubts": rates.to_dict() | {"corpus": name}}
    if args.json:
        print(json.dumps(result | measured))
    else:
        of = "" if split is None else f" of {split} data"
        print(f"{counted(len(sentences), 'sentence')}{of}")
        print(f"BLEU {scores.bleu:.1f}  {scores.bleu_signature}")
        print(f"chrF {scores.chrf:.1f}  {scores.chrf_signature}")
        if args.doubts:
            print(_describe_marks(rates))
    return {name: result | _found_by(search), **measured}


def _found_by(search: SearchConfig) -> dict[str, Any]:
    return {"beam": search.beam, "alpha": search.alpha, "penalty": search.penalty}


def _describe_marks(rates: MarkRates) -> str:
    from core.evaluation.mark_rates import BAD

    return (
        f"On {counted(rates.sentences, 'sentence')} (every other one), {rates.bad:.0f}% are bad: "
        f"chrF below {BAD:g}\n"
        f"probably wrong, {rates.threshold:g} doubts per word or more: {rates.marked:4.0f}%, of "
        f"which {rates.marked_bad:.0f}% are bad\n"
        f"not marked:{100 - rates.marked:4.0f}%, of which {rates.unmarked_right:.0f}% are not bad"
    )


def _from_corpus(corpus: str, *, partial: bool) -> list[tuple[str, list[str]]]:
    from core.corpus.aligned import group_by_source, read_aligned

    text = read_aligned(corpus)
    print(text.report.summary(), file=sys.stderr)
    if text.report.broken and not partial:
        broken = text.report.broken
        raise UserError(
            f"{counted(broken, text.report.counted)} of {corpus} could not be read, so the "
            "score would be that of a different test set. Repair the file, or use --partial to "
            "score the rest."
        )
    return list(group_by_source(text.pairs).items())


def _from_test_set(spec: str, cache: Path | None) -> tuple[str, str, list[tuple[str, list[str]]]]:
    """Return the name of the test set, its language pair, and its sentences."""
    from core.remote.sacrebleu_sets import downloaded_test_set

    name, pair, part = downloaded_test_set(spec, cache)
    assert part.source is not None
    return name, pair, _from_files(part.source, list(part.references))


def _from_files(source: Path, references: list[Path]) -> list[tuple[str, list[str]]]:
    from core.corpus.aligned import read_lines

    if not references:
        raise UserError("--source needs reference translations; add --reference FILE.")
    sources = read_lines(source)
    if not sources:
        raise UserError(f"{source} is empty; choose another file.")
    columns = [read_lines(path) for path in references]
    for path, column in zip(references, columns, strict=True):
        if len(column) != len(sources):
            raise UserError(
                f"{source} has {counted(len(sources), 'line')} but {path} has {len(column):,}, so "
                "they are not aligned; use files with the same number of lines."
            )
    return list(zip(sources, map(list, zip(*columns, strict=True)), strict=True))


def _run_gold(args: argparse.Namespace) -> dict[str, Any]:
    """Print the report and return it with the better of its two heads, on which to open."""
    from core.checkpoints.provenance import require_translator
    from core.evaluation.gold import gold_report

    for name in ("sentences", "pairs"):
        require(getattr(args, name) >= 1, f"--{name}", getattr(args, name), "1 or more")
    checkpoint = _load(args)
    require_translator(checkpoint.provenance, model_path(args.model).name)
    search = chosen_search(args, checkpoint.provenance)
    report = gold_report(
        checkpoint.model,
        checkpoint.tokenizer,
        sentences=args.sentences,
        pairs=args.pairs,
        seed=args.seed,
        search=search,
        progress=Counting(args.sentences + 2 * args.pairs, sys.stderr, as_json=args.json),
    )
    print(json.dumps(report.to_dict()) if args.json else _describe(report))
    return {
        "gold": report.to_dict() | _found_by(search),
        "it_head": report.it_head(),
    }


def _describe(report: GoldReport) -> str:
    families = "".join(
        f"\n    {family:<14}{share:6.1f}%" for family, share in report.exact_by_family.items()
    )
    return (
        f"{counted(report.sentences, 'test sentence')}, exact   {report.exact:6.1f}%{families}\n"
        f"{counted(report.pairs, 'test pair')}               first  second    both\n"
        f"pronoun after a correct beginning  {_row(report.pronoun_forced)}\n"
        f"pronoun in the translation         {_row(report.pronoun_decoded)}"
        f"{_head('encoder', report.encoder_head)}"
        f"{_head('cross', report.cross_head)}"
    )


def _row(score: PairScore) -> str:
    return f"{score.first:6.1f}  {score.second:6.1f}  {score.both:6.1f}%"


def _head(stack: str, score: HeadScore | None) -> str:
    if score is None:
        return ""
    return (
        f"\n{stack:<7} layer {score.layer + 1}, head {score.head + 1}            "
        f"{_row(score.antecedent)}, mean weight {score.weight:.2f} on the antecedent"
    )


def _load(args: argparse.Namespace) -> Checkpoint:
    from core.checkpoints.opening import open_model
    from core.device import choose_device

    set_speed(args)
    checkpoint = open_model(model_path(args.model), choose_device(args.device))
    if args.int8:
        from core.model.int8 import to_int8

        to_int8(checkpoint.model)
    return checkpoint
