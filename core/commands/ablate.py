"""transformer-viz ablate: what changes when heads are switched off or scaled."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from core.bundled import model_path
from core.errors import UserError
from core.heads import Head, others_of_layer, read_gate, read_head

if TYPE_CHECKING:
    from core.analysis.ablation import Effect, Quality
    from core.config import ModelConfig


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="M", help="a file or a bundled model (default: the first)"
    )
    parser.add_argument(
        "--head",
        metavar="KIND.LAYER.HEAD[=FACTOR]",
        action="append",
        default=[],
        help="multiply the head's output by FACTOR (0, which switches it off); kinds are "
        "encoder_self, decoder_self and cross, layers and heads count from 0; may be repeated",
    )
    parser.add_argument(
        "--alone",
        metavar="KIND.LAYER.HEAD",
        action="append",
        default=[],
        help="switch off all other heads of its layer; may be repeated",
    )
    add_sample_arguments(parser)
    parser.add_argument("--beam", type=int, default=1, help="1 is greedy search (1)")
    parser.add_argument(
        "--alpha",
        type=float,
        help="of the length penalty (as an imported model says, or 0.6)",
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:N or mps")
    parser.add_argument(
        "--json", action="store_true", help="the result as one JSON object, progress as JSON lines"
    )


def add_sample_arguments(parser: argparse.ArgumentParser) -> None:
    """What the commands that go over a sample have in common."""
    parser.add_argument(
        "--corpus",
        metavar="C",
        default="grammar",
        help="grammar for generated test sentences (default), FILE.tsv, FILE.tmx or SOURCE,TARGET",
    )
    parser.add_argument("--sentences", type=int, default=1_000, metavar="N", help="at most (1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the generated sentences (0)")


def run(args: argparse.Namespace) -> int:
    """Raises UserError for a head that the model lacks and for a corpus that cannot be used."""
    from core.analysis.ablation import ablate
    from core.analysis.sample import read_sample
    from core.checkpoints.opening import open_model
    from core.commands.counting import Counting
    from core.decoding.config import SearchConfig
    from core.device import choose_device
    from core.model.gates import Gates

    path = model_path(args.model)
    checkpoint = open_model(path, choose_device(args.device))
    factors = chosen_factors(args.head, args.alone, checkpoint.config)
    gates = Gates.of(checkpoint.config, factors)
    sample = read_sample(args.corpus, args.sentences, seed=args.seed)
    if not sample.references:
        raise UserError(
            f"{args.corpus} has no translations; give FILE.tsv, FILE.tmx or SOURCE,TARGET."
        )
    effect = ablate(
        checkpoint.model,
        checkpoint.tokenizer,
        sample,
        gates,
        search=SearchConfig.of_model(checkpoint.provenance, beam=args.beam, alpha=args.alpha),
        seed=args.seed,
        progress=Counting(2 * len(sample.sources), sys.stderr, as_json=args.json),
    )
    if args.json:
        named = {head.code: factor for head, factor in factors.items()}
        about = {"model": path.stem, "corpus": sample.name, "gates": named}
        print(json.dumps(about | effect.to_dict()))
    else:
        print(_table(factors, effect))
    return 0


def chosen_factors(heads: list[str], alone: list[str], config: ModelConfig) -> dict[Head, float]:
    """Of the heads that the arguments name.

    Raises:
        UserError: none is named, or one is not well formed or not in the model.
    """
    factors: dict[Head, float] = {}
    kept = [read_head(code) for code in alone]
    for head in kept:
        config.require_head(head)
        others = others_of_layer(head, config.kept_heads(head.kind, head.layer))
        factors |= {other: 0.0 for other in others if other not in kept}
    factors |= map(read_gate, heads)
    if not factors:
        raise UserError("No head is named; add --head KIND.LAYER.HEAD or --alone KIND.LAYER.HEAD.")
    return factors


def _table(factors: dict[Head, float], effect: Effect) -> str:
    columns = zip(_figures(effect.before), _figures(effect.after), strict=True)
    title = f"{effect.sentences:,} sentences"
    return "\n".join(
        [
            *(f"{head.code} × {factor:g}" for head, factor in factors.items()),
            "",
            f"{title:<28}{'before':>10}{'after':>10}",
            *(f"{name:<28}{before:>10}{after:>10}" for (name, before), (_, after) in columns),
            f"{'other translations':<28}{'':>10}{effect.changed:>8.1f} %",
        ]
    )


def _figures(quality: Quality) -> list[tuple[str, str]]:
    figures = [
        ("loss, nats a token", f"{quality.loss:.4f}"),
        ("BLEU", f"{quality.bleu:.1f}"),
        ("chrF", f"{quality.chrf:.1f}"),
        ("exact translations", f"{quality.exact:.1f} %"),
    ]
    if quality.pronoun is not None:
        figures.append(("pronoun, both of a pair", f"{quality.pronoun.both:.1f} %"))
    return figures
