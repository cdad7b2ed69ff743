"""transformer-viz distance: how far a model and its heads reach."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.bundled import model_path
from core.fields import require

if TYPE_CHECKING:
    from core.analysis.distance import Reach

HEADS_SHOWN = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="M", help="a file or a bundled model (default: the first)"
    )
    parser.add_argument(
        "--sentences", type=int, default=100, metavar="N", help="of each dependency (100)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the sentences (0)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:N or mps")
    parser.add_argument(
        "--json", action="store_true", help="the result as one JSON object, progress as JSON lines"
    )


def run(args: argparse.Namespace) -> int:
    """Raises UserError for a model that cannot be read or is too short for the sentences."""
    require(args.sentences >= 2, "--sentences", args.sentences, "2 or more")

    from core.analysis.distance import DISTANCES, distance_probe
    from core.checkpoints.opening import open_model
    from core.commands.counting import Counting
    from core.corpus.grammar.stretch import STRETCHABLE
    from core.device import choose_device

    path = model_path(args.model)
    checkpoint = open_model(path, choose_device(args.device))
    total = len(STRETCHABLE) * len(DISTANCES) * args.sentences
    found = distance_probe(
        checkpoint.model,
        checkpoint.tokenizer,
        sentences=args.sentences,
        seed=args.seed,
        progress=Counting(total, sys.stderr, as_json=args.json),
    )
    if args.json:
        about = {"model": path.stem, "seed": args.seed, "pushed_in": DISTANCES}
        print(json.dumps(about | {"relations": [reach.to_dict() for reach in found]}))
    else:
        print("\n\n".join([_heading(DISTANCES), *(_table(reach) for reach in found)]))
    return 0


def _heading(distances: Sequence[int]) -> str:
    return f"{'words pushed in':<32}" + "".join(f"{words:>7}" for words in distances)


def _table(reach: Reach) -> str:
    """The model, then the heads that find the word best when nothing is pushed in."""
    rows = [
        (f"{reach.relation}, {reach.sentences:,} sentences", None),
        ("  words between", reach.between),
        ("  model right, %", 100.0 * reach.model),
    ]
    if reach.both is not None:
        rows.append(("  model right in both, %", 100.0 * reach.both))
    for kind, heads in reach.heads.items():
        accuracy = reach.accuracy[kind]
        for column in (-accuracy[0]).argsort(kind="stable")[:HEADS_SHOWN]:
            rows.append((f"  {heads[column].code}, %", 100.0 * accuracy[:, column]))
        rows.append((f"  {kind.value}, equally far, %", 100.0 * reach.baseline[kind]))
    rows.append((f"  up to {reach.longest_trained} words between in training", None))
    return "\n".join(
        name if line is None else f"{name:<32}" + "".join(f"{value:>7.1f}" for value in line)
        for name, line in rows
    )
