"""transformer-viz cost: quality against cost (the paper's Table 2), and what a training costs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from core.bundled import model_path
from core.checkpoints.opening import open_header
from core.config import ModelConfig
from core.errors import UserError
from core.files import is_folder
from core.paper.systems import CONTRADICTION, SYSTEMS, System
from core.paper.training_cost import (
    PAPER_BATCH,
    PAPER_TIMES,
    SUSTAINED,
    GpuTime,
    Training,
    paper_training,
    training_flops,
    training_of,
)
from core.presets import PRESETS, preset

MOST = 1e15
_PAPER_PRESETS = ("base", "big")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="presets, model files, bundled models or run folders whose training is counted "
        "(default: base and big, with the paper's batches)",
    )
    parser.add_argument("--updates", type=_positive, metavar="N", help="updates of the weights")
    for side in ("source", "target"):
        parser.add_argument(
            f"--{side}-tokens", type=_positive, metavar="N", help=f"{side} tokens of an update"
        )
    parser.add_argument(
        "--length",
        type=_positive,
        metavar="N",
        default=PAPER_BATCH.length,
        help="mean tokens of a sentence (default: 25)",
    )
    parser.add_argument("--hours", type=_positive, metavar="H", help="training time on --gpus")
    parser.add_argument("--gpus", type=int, metavar="N", default=8, help="how many (default: 8)")
    parser.add_argument(
        "--gpu", choices=SUSTAINED, default="P100", help="of which kind (default: P100)"
    )
    parser.add_argument("--json", action="store_true", help="as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Raises UserError for a name that is nothing of this kind, and for settings without use."""
    if args.gpus < 1:
        raise UserError(f"--gpus is {args.gpus}; give 1 or more.")
    counted = [_count(name, args) for name in args.names or _PAPER_PRESETS]
    time = args.hours and GpuTime(hours=args.hours, gpus=args.gpus, gpu=args.gpu)
    if args.json:
        about = {
            "table_2": [asdict(one) for one in SYSTEMS],
            "contradiction": CONTRADICTION,
            "sustained": SUSTAINED,
            "trainings": counted,
            **({"time": asdict(time) | {"flops": time.flops}} if time else {}),
        }
        print(json.dumps(about, ensure_ascii=False))
    else:
        print("\n".join(_lines(counted, time)))
    return 0


def _positive(text: str) -> float:
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        number = 0.0
    if not 0 < number <= MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and at most {MOST:g}")
    return number


def _count(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Count a training, as JSON values."""
    config, training = _found(name)
    if args.updates is not None:
        training = replace(training, updates=round(args.updates))
    for field in ("source_tokens", "target_tokens"):
        if getattr(args, field) is not None:
            training = replace(training, **{field: getattr(args, field)})
    training = replace(training, length=args.length)
    flops = training_flops(config, training)
    about = {"name": name, **asdict(training), "flops": flops}
    if name in PAPER_TIMES and not _is_changed(args):
        estimate = PAPER_TIMES[name].flops
        about |= {"paper_estimate": estimate, "factor": estimate / flops}
    return about


def _is_changed(args: argparse.Namespace) -> bool:
    """Whether another training is counted than the paper's, whose time is not known."""
    given = (args.updates, args.source_tokens, args.target_tokens)
    return any(one is not None for one in given)


def _found(name: str) -> tuple[ModelConfig, Training]:
    """A model and how much it was or would be trained on.

    Raises:
        UserError: it is no preset, model or run, or does not say how it was trained.
    """
    if name in PRESETS:
        config = preset(name)
        if name in _PAPER_PRESETS:
            return config.model, paper_training(name)
        return config.model, training_of(config.training.to_dict())
    path = Path(name)
    if is_folder(path):
        from core.training.run_folder import RunFolder

        run = RunFolder.open(path)
        config, _ = run.read_record()
        saved = run.saved_update()
        done = {} if saved is None else {"steps": saved}
        return config.model, training_of(config.training.to_dict() | done)
    header = open_header(model_path(name))
    about = header.provenance.get("training")
    if not about:
        raise UserError(
            f"{name} does not say how it was trained; give a preset of its shape with --updates, "
            "--source-tokens and --target-tokens."
        )
    if "started_from" in header.provenance:
        print(f"{name} went on from another model: its last run alone is counted.", file=sys.stderr)
    step = header.provenance.get("step")
    return header.config, training_of(dict(about) | ({} if step is None else {"steps": step}))


# For people


def _lines(counted: Sequence[dict[str, Any]], time: GpuTime | None) -> Iterator[str]:
    yield "The paper's Table 2: BLEU on newstest2014, training cost in floating-point operations"
    yield f"{'':<30}{'en-de':>8}{'en-fr':>8}{'en-de':>12}{'en-fr':>12}"
    yield from map(_system, SYSTEMS)
    yield CONTRADICTION
    yield ""
    yield (
        "The paper estimates time · GPUs · sustained operations a second: "
        + ", ".join(f"{gpu} {rate / 1e12:g}" for gpu, rate in SUSTAINED.items())
        + " · 10¹²."
    )
    for name, spent in PAPER_TIMES.items():
        yield (
            f"{name}: {spent.hours:g} h · 3,600 s · {spent.gpus} {spent.gpu} · "
            f"{SUSTAINED[spent.gpu] / 1e12:g} · 10¹² = {_power(spent.flops)}"
        )
    if time is not None:
        yield f"{time.hours:g} h on {time.gpus} {time.gpu}: {_power(time.flops)}"
    yield ""
    yield (
        "Counted: 6 operations for each multiply-add of the forward passes; batches full, one "
        "process"
    )
    yield f"{'':<20}{'updates':>10}{'source':>10}{'target':>10}{'operations':>14}"
    for one in counted:
        more = ""
        if "factor" in one:
            more = f"  the paper's estimate is {one['factor']:.1f} times that"
        yield (
            f"{one['name'][-20:]:<20}{one['updates']:>10,}{one['source_tokens']:>10,.0f}"
            f"{one['target_tokens']:>10,.0f}{_power(one['flops']):>14}{more}"
        )


def _system(one: System) -> str:
    bleu = "".join(f"{'' if x is None else x:>8}" for x in (one.bleu_de, one.bleu_fr))
    flops = "".join(f"{'' if x is None else _power(x):>12}" for x in (one.flops_de, one.flops_fr))
    return f"{one.name:<30}{bleu}{flops}".rstrip()


def _power(number: float) -> str:
    """Format as in "3.3 · 10¹⁸"."""
    mantissa, exponent = f"{number:.1e}".split("e")
    digits = str(int(exponent)).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
    return f"{mantissa} · 10{digits}"
