"""transformer-viz variations: the rows of the paper's Table 3."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from itertools import groupby

from core.paper.variations import FINDINGS, VARIATIONS
from core.presets import preset
from core.training.estimate import parameter_count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the rows, each with the exact number of parameters of its preset."""
    rows = [(one, parameter_count(preset(one.preset).model)) for one in VARIATIONS]
    if args.json:
        table = [asdict(one) | {"parameters": count} for one, count in rows]
        print(json.dumps({"table_3": table, "findings": FINDINGS}, ensure_ascii=False))
        return 0
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
    return 0
