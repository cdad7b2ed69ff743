"""transformer-viz variations: the rows of the paper's Table 3, and small counterparts of them."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import UserError
from core.files import is_file
from core.paper.scaled import CHANGES, MOST_SEEDS, ORDER, SCALES
from core.paper.variations import FINDINGS, VARIATIONS
from core.presets import preset
from core.training.estimate import parameter_count

if TYPE_CHECKING:
    from core.paper.study import Finding, Plan, Study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--run",
        type=Path,
        dest="out",
        metavar="OUT",
        help="train a small counterpart of each row in the folder OUT, and compare; repeat the "
        "command to continue",
    )
    what.add_argument(
        "--show", type=Path, metavar="OUT", help="print what is finished in OUT, training nothing"
    )
    parser.add_argument(
        "--scale",
        choices=SCALES,
        default="small",
        help="small: widths divided by 8, layers by 2, the rest as in the row (default)",
    )
    parser.add_argument(
        "--rows",
        nargs="+",
        metavar="ROW",
        help="only these, by the names of their presets (default: all, and no-positions and "
        "no-mask, which the paper lacks)",
    )
    parser.add_argument(
        "--data", nargs="+", metavar="DATA", help="as for train (default: the generated corpus)"
    )
    parser.add_argument(
        "--seeds", type=int, default=2, help=f"runs of each row, 1 to {MOST_SEEDS} (default: 2)"
    )
    parser.add_argument(
        "--steps", type=int, metavar="N", help="updates of the base model's counterpart"
    )
    parser.add_argument("--device", help="cpu (default), auto, cuda, cuda:N or mps")
    parser.add_argument("--json", action="store_true", help="as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the rows, each with the exact number of parameters of its preset, or run them.

    Raises:
        UserError: settings that are not allowed, a folder of other variations, a run that fails.
    """
    if args.show is None and args.out is None:
        _print_table(as_json=args.json)
        return 0
    from core.paper.study import Study

    if args.show is not None:
        _print_study(Study.open(args.show), as_json=args.json)
        return 0
    study = Study.begin(args.out, _plan(args))
    code = _train(study)
    _print_study(study, as_json=args.json)
    return code


# The paper's table


def _print_table(*, as_json: bool) -> None:
    rows = [(one, parameter_count(preset(one.preset).model)) for one in VARIATIONS]
    if as_json:
        table = [asdict(one) | {"parameters": count} for one, count in rows]
        print(json.dumps({"table_3": table, "findings": FINDINGS}, ensure_ascii=False))
        return
    print("The paper's Table 3: newstest2013, English to German; perplexity per word piece")
    print(f"{'':<3}{'preset':<17}{'parameters':>12}{'paper':>8}{'PPL':>7}{'BLEU':>7}  change")
    for group, of_group in groupby(rows, lambda row: row[0].group):
        for one, count in of_group:
            printed = "" if one.millions is None else f"{one.millions} M"
            print(
                f"{one.group:<3}{one.preset:<17}{count:>12,}{printed:>8}{one.perplexity:>7.2f}"
                f"{one.bleu:>7.1f}  {one.change}"
            )
        if group:
            print(f"   {FINDINGS[group]}")
    print(
        "Parameters are exact, for 37,000 pieces and all biases. The paper's own fit a vocabulary "
        "of about 41,000, but for the big model's."
    )


# Our own


def _plan(args: argparse.Namespace) -> Plan:
    from core.paper.study import Plan

    settings: dict[str, Any] = {}
    if args.data is not None:
        from core.commands.train import absolute

        settings["data"] = [absolute(spec) for spec in args.data]
    for name in ("steps", "device"):
        if getattr(args, name) is not None:
            settings[name] = getattr(args, name)
    rows = ORDER if args.rows is None else tuple(dict.fromkeys(args.rows))
    plan = Plan(scale=args.scale, rows=rows, seeds=args.seeds, settings=settings)
    for row in plan.rows:
        plan.config(row, 1)  # wrong settings are told before anything is trained
    return plan


def _train(study: Study) -> int:
    """Train what is missing; returns 130 if a signal ended it."""
    from core.commands.listening import run_listened
    from core.training.run import resume_run, start_run

    runs = list(study.plan.runs())
    for number, (row, seed) in enumerate(runs, start=1):
        if study.outcome(row, seed) is not None:
            continue
        path = study.run_path(row, seed)
        print(
            f"Run {number} of {len(runs)}: {row}, seed {seed} ({CHANGES[row]})",
            file=sys.stderr,
            flush=True,
        )
        if is_file(path / "run.json"):
            code = run_listened(
                lambda tell, stop, workers, path=path: resume_run(  # type: ignore[misc]
                    path, steps=None, tell=tell, should_stop=stop, workers=workers
                ),
                as_json=False,
            )
        else:
            config = study.plan.config(row, seed)
            code = run_listened(
                lambda tell, stop, workers, path=path, config=config: start_run(  # type: ignore[misc]
                    path,
                    config,
                    command="transformer-viz variations",
                    tell=tell,
                    should_stop=stop,
                    workers=workers,
                ),
                as_json=False,
            )
        if code:
            return code
    return 0


def _print_study(study: Study, *, as_json: bool) -> None:
    from core.paper.study import agreement, agreement_in_words, base_of

    findings = study.findings()
    together = agreement(findings)
    base = base_of(findings)
    if as_json:
        rows = [_as_json(one, base) for one in findings]
        print(json.dumps({"rows": rows, "agreement": together}, ensure_ascii=False))
        return
    if not findings:
        raise UserError(f"No run in {study.path} is finished yet; continue with --run.")
    print(
        f"{'row':<17}{'parameters':>11}{'PPL':>8}{'BLEU':>7}{'seeds':>15}{'change':>8}"
        f"{'paper':>7}  direction"
    )
    for one in findings:
        low, high = one.bleu_ends
        seeds = f"{low:.1f} to {high:.1f}" if len(one.outcomes) > 1 else ""
        change = "" if base is None or one is base else f"{one.bleu - base.bleu:+.1f}"
        paper = "" if not one.paper_change else f"{one.paper_change:+.1f}"
        print(
            f"{one.row:<17}{one.outcomes[0].parameters:>11,}{one.perplexity:>8.2f}{one.bleu:>7.1f}"
            f"{seeds:>15}{change:>8}{paper:>7}  {one.verdict(base)}".rstrip()
        )
    print(agreement_in_words(together))


def _as_json(one: Finding, base: Finding | None) -> dict[str, Any]:
    about = {
        "row": one.row,
        "change": CHANGES[one.row],
        "outcomes": [asdict(outcome) for outcome in one.outcomes],
        "perplexity": one.perplexity,
        "bleu": one.bleu,
        "paper_bleu_change": one.paper_change,
    }
    if base is not None and one is not base:
        about |= {
            "bleu_change": one.bleu - base.bleu,
            "direction": one.direction(base),
            "agrees": one.agrees(base),
        }
    return about
