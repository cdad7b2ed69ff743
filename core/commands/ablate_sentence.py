"""What ``ablate --sentence`` does: which heads matter for one sentence."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.bundled import model_path
from core.errors import UserError
from core.heads import Gate, Head, gate_name, read_gate

if TYPE_CHECKING:
    from core.analysis.sentence_effects import SentenceEffect, Whole
    from core.config import ModelConfig

SAME = "(the same)"


def run(args: argparse.Namespace) -> int:
    """Measure the heads; raises UserError for an empty sentence and for arguments that do not go
    with one."""
    from core.analysis.sentence_effects import SentenceEffect, sentence_effects
    from core.checkpoints.opening import open_model
    from core.commands.counting import Counting
    from core.decoding.config import SearchConfig
    from core.device import choose_device

    for option, given in (
        ("--alone", args.alone),
        ("--keep", args.keep),
        ("--scaling", args.scaling != "on"),
        ("--no-mask", args.no_mask),
    ):
        if given:
            raise UserError(f"{option} does not go with --sentence; leave one of them out.")
    if not args.sentence.strip():
        raise UserError("The sentence is empty; give one in quotation marks.")
    path = model_path(args.model)
    checkpoint = open_model(path, choose_device(args.device))
    settings = chosen_settings(args.head, checkpoint.config, pairs=args.pairs)
    search = SearchConfig.of_model(
        checkpoint.provenance, beam=args.beam, alpha=args.alpha, penalty=args.penalty
    )
    tell = Counting(len(settings), sys.stderr, as_json=args.json)
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    whole: Whole | None = None
    effects: list[SentenceEffect] = []
    for found in sentence_effects(model, tokenizer, args.sentence, settings, search=search):
        if isinstance(found, SentenceEffect):
            effects.append(found)
            tell(len(effects))
        else:
            whole = found
    assert whole is not None, "it comes first"
    effects.sort(key=lambda effect: effect.change)
    if args.json:
        print(json.dumps(_values(path.stem, args.sentence, whole, effects), ensure_ascii=False))
    else:
        print(_table(whole, effects))
    return 0


def chosen_settings(
    heads: Sequence[str], config: ModelConfig, *, pairs: bool
) -> list[Mapping[Head, Gate]]:
    """Return each of the named heads, or every head, alone; with ``pairs`` every two heads of
    their layers.

    Raises:
        UserError: a head is not well formed or not in the model, or no layer has two heads.
    """
    from core.analysis.sentence_effects import each_head, pairs_of_layer

    named = [read_gate(name) for name in heads]
    for head, _factor in named:
        config.require_head(head)
    if not pairs:
        return [{head: factor} for head, factor in named] or each_head(config)
    layers = [head[:2] for head, _factor in named] or [head[:2] for head in config.every_head()]
    found = [one for layer in dict.fromkeys(layers) for one in pairs_of_layer(config, *layer)]
    if not found:
        raise UserError("No layer with two heads is left; name a head of another layer.")
    return found


def _values(
    model: str, sentence: str, whole: Whole, effects: Sequence[SentenceEffect]
) -> dict[str, Any]:
    return {
        "model": model,
        "sentence": sentence,
        "translation": whole.translation,
        "log_probability": whole.log_probability,
        "settings": [
            {
                "gates": {head.code: factor for head, factor in effect.factors.items()},
                "names": [head.name for head in effect.factors],
                "log_probability": effect.log_probability,
                "change": effect.change,
                "differs": effect.differs,
                "translation": effect.translation,
            }
            for effect in effects
        ],
    }


def _table(whole: Whole, effects: Sequence[SentenceEffect]) -> str:
    """Format a line per setting, the largest loss of log-probability first."""
    names = [
        " + ".join(f"{head.name} {gate_name(gate)}" for head, gate in effect.factors.items())
        for effect in effects
    ]
    width = max(map(len, ["all heads on", *names]))
    lines = [
        f"{'':<{width}}  {'log P':>8}  {'change':>8}  translation",
        f"{'all heads on':<{width}}  {whole.log_probability:>8.3f}  {'':>8}  {whole.translation}",
    ]
    for name, effect in zip(names, effects, strict=True):
        translation = effect.translation if effect.differs else SAME
        numbers = f"{effect.log_probability:>8.3f}  {effect.change:>+8.3f}"
        lines.append(f"{name:<{width}}  {numbers}  {translation}")
    return "\n".join(lines)
