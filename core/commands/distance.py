"""transformer-viz distance: measure how far a model and its heads reach."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.bundled import model_path
from core.counted import counted
from core.fields import require

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from core.analysis.distance import Reach

HEADS_SHOWN = 3
LOW = 0.5
SAYS_LITTLE = (
    "This model is mostly wrong even without inserted words, so it says little about distance."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="M", help="a model file or a bundled model (default: the first)"
    )
    parser.add_argument(
        "--sentences",
        type=int,
        default=100,
        metavar="N",
        help="number of sentences for each dependency (default: 100)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed for the sentences (default: 0)")
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:N or mps")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the result as one JSON object; progress, and each dependency as soon as it is "
        "measured, are JSON lines on stderr",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for a model that is unreadable or has too few positions."""
    require(args.sentences >= 2, "--sentences", args.sentences, "2 or more")

    from core.analysis.distance import DISTANCES, distance_probe
    from core.checkpoints.opening import open_model
    from core.checkpoints.provenance import require_translator
    from core.commands.counting import Counting
    from core.corpus.grammar.stretch import STRETCHABLE
    from core.device import choose_device

    path = model_path(args.model)
    checkpoint = open_model(path, choose_device(args.device))
    require_translator(checkpoint.provenance, path.name)
    total = len(STRETCHABLE) * len(DISTANCES) * args.sentences
    counting = Counting(total, sys.stderr, as_json=args.json)
    found = []
    for reach in distance_probe(
        checkpoint.model,
        checkpoint.tokenizer,
        sentences=args.sentences,
        seed=args.seed,
        progress=counting,
    ):
        found.append(reach)
        if args.json:
            print(_as_json(path.stem, args.seed, [reach]), file=sys.stderr, flush=True)
        else:
            counting.end()
            print(table(reach), flush=True)
    if args.json:
        print(_as_json(path.stem, args.seed, found))
    return 0


def _as_json(model: str, seed: int, found: Sequence[Reach]) -> str:
    about = {"model": model, "seed": seed, "pushed_in": found[0].pushed_in}
    return json.dumps(about | {"relations": [reach.to_dict() for reach in found]})


def table(reach: Reach) -> str:
    """Format the model's figures, then those of the heads that are best without inserted words."""
    low, high = reach.interval
    lines = [
        f"{reach.relation}, {counted(reach.sentences, 'sentence')}",
        f"{'  inserted words':<32}" + "".join(f"{words:>7}" for words in reach.pushed_in),
        _row("words between", reach.between),
        _row("model right, %", 100.0 * reach.model),
        _row("  95% interval, from", 100.0 * low),
        _row("  95% interval, to", 100.0 * high),
    ]
    if reach.both is not None:
        lines.append(_row("model right in both, %", 100.0 * reach.both))
    for kind, heads in reach.heads.items():
        accuracy = reach.accuracy[kind]
        lines += [
            _row(f"{heads[column].name}, %", 100.0 * accuracy[:, column])
            for column in (-accuracy[0]).argsort(kind="stable")[:HEADS_SHOWN]
        ]
        lines.append(_row(f"{kind.stem} heads, fixed distance, %", 100.0 * reach.baseline[kind]))
    lines.append(
        f"  longest distance in the corpus's training split: {reach.longest_trained} words between"
    )
    if reach.model[0] < LOW:
        lines.append(f"  {SAYS_LITTLE}")
    return "\n".join([*lines, ""])


def _row(name: str, values: NDArray[np.float64]) -> str:
    return f"  {name:<30}" + "".join(f"{value:>7.1f}" for value in values)
