"""transformer-viz ablate: what changes when heads, the scaling or the decoder's mask are off."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from core.bundled import model_path
from core.commands.translate import add_penalty_argument
from core.counted import counted
from core.errors import UserError
from core.heads import Gate, Head, gate_name, others_of_layer, read_gate, read_head
from core.switches import Scaling, Switches

if TYPE_CHECKING:
    from core.analysis.ablation import Baseline, Effect, Quality
    from core.analysis.kept import Kept
    from core.analysis.sample import Sample
    from core.config import ModelConfig


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="M", help="a model file or a bundled model (default: the first)"
    )
    parser.add_argument(
        "--head",
        metavar="HEAD[=GATE]",
        action="append",
        default=[],
        help="multiply the head's output by the number GATE (default: 0, which switches it off), "
        "or with GATE even, replace its weights by the uniform average over what it may see; "
        "HEAD is encoder:4.1 for layer 4, head 1, or decoder:… or cross:…; can be repeated",
    )
    parser.add_argument(
        "--alone",
        metavar="HEAD",
        action="append",
        default=[],
        help="switch off all other heads of this head's layer; can be repeated",
    )
    add_switch_arguments(parser)
    parser.add_argument(
        "--each",
        action="store_true",
        help="measure the heads one at a time instead of together; every head if none is named",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="save the measurements with all heads on in FOLDER, and reuse them next time",
    )
    parser.add_argument(
        "--sentence",
        metavar="TEXT",
        help="measure one sentence instead of a corpus: every head, or each one named, off by "
        "itself, sorted by the change of the log-probability of the translation",
    )
    parser.add_argument(
        "--pairs",
        action="store_true",
        help="with --sentence: every two heads of a layer off together, of all layers or of those "
        "of the named heads",
    )
    add_sample_arguments(parser)
    parser.add_argument(
        "--beam", type=int, default=1, help="beam size; 1 is greedy search (default: 1)"
    )
    parser.add_argument(
        "--alpha",
        type=float,
        help="exponent of the length penalty (default: the imported model's own, or 0.6)",
    )
    add_penalty_argument(parser)
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:N or mps")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the result as one JSON object, and progress as JSON lines on stderr",
    )


def add_switch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that switch parts of the whole model."""
    parser.add_argument(
        "--scaling",
        choices=[one.value for one in Scaling],
        default=Scaling.ON.value,
        help="off leaves out the division of scores by √d_k, twice does it two times",
    )
    parser.add_argument(
        "--no-mask",
        action="store_true",
        help="let target positions attend to later ones wherever a whole target is read: in the "
        "loss and in what is recorded; translating step by step stays the same",
    )


def chosen_switches(args: argparse.Namespace) -> Switches:
    """Return the switches that the arguments name."""
    return Switches(scaling=Scaling(args.scaling), mask=not args.no_mask)


def add_sample_arguments(parser: argparse.ArgumentParser, *, more_corpora: str = "") -> None:
    """Add the arguments that all commands which read a sample of a corpus share.

    Args:
        more_corpora: what else the command accepts as a corpus, for its help.
    """
    parser.add_argument(
        "--corpus",
        metavar="C",
        default="grammar",
        help="grammar for generated test sentences (default), FILE.tsv, FILE.tmx or SOURCE,TARGET"
        f"{more_corpora}; any of these can end in .gz",
    )
    parser.add_argument(
        "--sentences",
        type=int,
        default=1_000,
        metavar="N",
        help="maximum number of sentences (default: 1,000)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed for the generated sentences (default: 0)"
    )


def read_reported(args: argparse.Namespace) -> Sample:
    """Read the sample that the arguments name, and say on stderr which lines were skipped.

    With ``--json``, stderr has nothing but progress; the result then says it.
    """
    from core.analysis.sample import read_sample

    sample = read_sample(args.corpus, args.sentences, seed=args.seed)
    if sample.read and not args.json:
        print(sample.read, file=sys.stderr)
    return sample


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for a missing head and for an unusable corpus."""
    if args.sentence is not None:
        from core.commands import ablate_sentence

        return ablate_sentence.run(args)
    if args.pairs:
        raise UserError("--pairs needs a sentence; add --sentence TEXT.")
    from core.analysis.ablation import BASELINE_PASSES, Effect, baseline, measure
    from core.analysis.kept import Kept
    from core.checkpoints.opening import open_model
    from core.checkpoints.provenance import require_translator
    from core.commands.counting import Counting
    from core.decoding.config import SearchConfig
    from core.device import choose_device
    from core.model.gates import Gates, gated
    from core.model.switched import switched

    path = model_path(args.model)
    checkpoint = open_model(path, choose_device(args.device))
    if args.corpus == "grammar":
        require_translator(checkpoint.provenance, path.name)
    model, tokenizer, config = checkpoint.model, checkpoint.tokenizer, checkpoint.config
    switches = chosen_switches(args)
    named = args.head or args.alone or args.each or switches.intact
    chosen = settings(args.head, args.alone, config, each=args.each) if named else [{}]
    gates = [Gates.of(config, factors) for factors in chosen]
    sample = read_reported(args)
    if not sample.references:
        raise UserError(
            f"{args.corpus} has no translations; use FILE.tsv, FILE.tmx or SOURCE,TARGET."
        )
    search = SearchConfig.of_model(
        checkpoint.provenance, beam=args.beam, alpha=args.alpha, penalty=args.penalty
    )
    work = (model, tokenizer, sample)
    kept = None if args.keep is None else Kept(args.keep, *work, search, args.seed)
    before = None if kept is None else kept.read()
    ahead = 0 if before else BASELINE_PASSES
    count = len(sample.sources)
    tell = Counting((ahead + len(gates)) * count, sys.stderr, as_json=args.json)

    if before is None:
        before = baseline(*work, search=search, seed=args.seed, progress=tell)
        if kept is not None:
            _keep(kept, before)
    effects = []
    for passes, one in enumerate(gates, start=ahead):
        told = partial(_tell, tell, passes * count)
        with gated(model, one), switched(model, switches):
            after = measure(*work, search=search, seed=args.seed, progress=told)
        effects.append(Effect.between(before.measured, after))
    if args.json:
        found = {
            "model": path.stem,
            "corpus": sample.name,
            "read": sample.read,
            "sentences": count,
            "before": asdict(before.measured.quality),
            "importance": before.importance,
            "settings": [
                {
                    "gates": {head.code: factor for head, factor in factors.items()},
                    "names": [head.name for head in factors],
                    "switches": switches.changes(),
                }
                | asdict(effect)
                for factors, effect in zip(chosen, effects, strict=True)
            ],
        }
        print(json.dumps(found))
    else:
        print(_table(chosen, switches, before, effects))
    return 0


def _keep(kept: Kept, before: Baseline) -> None:
    """Save the measurements; if the folder cannot be written to, warn and carry on."""
    try:
        kept.write(before)
    except UserError as error:
        print(error, file=sys.stderr)


def _tell(tell: Callable[[int], None], begin: int, done: int) -> None:
    tell(begin + done)


def settings(
    heads: list[str], alone: list[str], config: ModelConfig, *, each: bool
) -> list[dict[Head, Gate]]:
    """Return the factors to measure: one setting for all named heads, or one for ``each`` head.

    With ``each`` and no head named, every head of the model is measured.

    Raises:
        UserError: no head is named, or one is not well formed or not in the model.
    """
    if not each:
        return [chosen_factors(heads, alone, config)]
    if not (heads or alone):
        heads = [head.name for head in config.every_head()]
    return [
        *(chosen_factors([head], [], config) for head in heads),
        *(chosen_factors([], [head], config) for head in alone),
    ]


def chosen_factors(heads: list[str], alone: list[str], config: ModelConfig) -> dict[Head, Gate]:
    """Return the factor of each head that the arguments name.

    Raises:
        UserError: no head is named or would change, or one is not well formed or not in the model.
    """
    factors: dict[Head, Gate] = {}
    kept = [read_head(name) for name in alone]
    for head in kept:
        config.require_head(head)
        others = others_of_layer(head, config.kept_heads(head.kind, head.layer))
        factors |= {other: 0.0 for other in others if other not in kept}
    factors |= map(read_gate, heads)
    if alone and not factors:
        raise UserError(
            f"{alone[0]} is the only head in its layer, so there are no others to switch off."
        )
    if not factors:
        raise UserError("No head is named; add --head or --alone, for example --head encoder:4.1.")
    return factors


def _table(
    chosen: Sequence[Mapping[Head, Gate]],
    switches: Switches,
    before: Baseline,
    effects: Sequence[Effect],
) -> str:
    """Format a table for people: all heads on, then each setting, with its figures after the last
    of its heads."""
    quality = before.measured.quality
    names = ["import.", *_figures(quality), "changed"]
    sentences = counted(len(before.measured.translations), "sentence")
    lines = [
        _line(sentences, names),
        _line("all heads on", ["", *_figures(quality).values()]),
    ]
    for gates, effect in zip(chosen, effects, strict=True):
        lines += [_line(change, []) for change in switches.changes()]
        for head, gate in gates.items():
            importance = f"{before.importance[head.code]:.4f}"
            lines.append(_line(f"{head.name} {gate_name(gate)}", [importance]))
        figures = [*_figures(effect.after).values(), f"{effect.changed:.1f}%"]
        lines[-1] += "".join(f"{figure:>9}" for figure in figures)
    return "\n".join(lines)


def _line(name: str, figures: Sequence[str]) -> str:
    return f"{name:<28}" + "".join(f"{figure:>9}" for figure in figures)


def _figures(quality: Quality) -> dict[str, str]:
    """Format the figures; ``pronoun`` is the share that is right in both sentences of a pair."""
    figures = {
        "loss": f"{quality.loss:.4f}",
        "BLEU": f"{quality.bleu:.1f}",
        "chrF": f"{quality.chrf:.1f}",
        "exact": f"{quality.exact:.1f}%",
    }
    if quality.pronoun is not None:
        figures["pronoun"] = f"{quality.pronoun.both:.1f}%"
    return figures
