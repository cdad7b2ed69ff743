"""transformer-viz train: train a model from nothing but a configuration and data."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

from core.bundled import model_path
from core.commands.listening import run_listened
from core.errors import UserError
from core.files import is_file, read_problem
from core.model.product_choice import WISHES
from core.presets import PRESETS, preset
from core.training.config import GRAMMAR, PRECISIONS, RunConfig


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--out", metavar="RUN", type=Path, required=True, help="a new folder for the run"
    )
    parser.add_argument("--json", action="store_true", help="print events as JSON lines on stdout")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that ``configuration`` reads."""
    parser.add_argument(
        "configuration",
        metavar="PRESET|CONFIG.json",
        help=f"a configuration file, or one of the presets: {', '.join(PRESETS)}",
    )
    parser.add_argument(
        "--data",
        nargs="+",
        metavar="DATA",
        help=f"{GRAMMAR}, FILE.tsv, FILE.tsv:2:4 (columns), FILE.tmx or SOURCE,TARGET; "
        "several sources are mixed",
    )
    parser.add_argument(
        "--validation",
        nargs="+",
        metavar="DATA",
        help="FILE.tsv, FILE.tmx or SOURCE,TARGET; without it, part of each data source is held "
        "out",
    )
    parser.add_argument(
        "--start-from",
        metavar="MODEL",
        help="begin with the vocabulary, shape and weights of a model that this program trained "
        "(default: new ones)",
    )
    parser.add_argument("--licence", help="licence of the data in files, for the model's card")
    parser.add_argument("--steps", type=int, help="number of updates")
    parser.add_argument("--seed", type=int, help="random seed")
    parser.add_argument("--device", help="auto, cpu, cuda, cuda:N or mps")
    parser.add_argument("--precision", help=f"{', '.join(PRECISIONS)}; fp16 on CUDA only")
    parser.add_argument(
        "--threads", type=int, help="number of CPU threads (default: the fastest, measured)"
    )
    parser.add_argument(
        "--product",
        help=f"kernel for matrix products on a CPU: {', '.join(WISHES)} (auto: the fastest)",
    )
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="any other setting of the model or the training",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for wrong settings and for a run that fails."""
    from core.training.run import start_run

    return run_listened(
        lambda tell, should_stop, workers: start_run(
            args.out,
            configuration(args),
            command=command_line(args),
            tell=tell,
            should_stop=should_stop,
            workers=workers,
        ),
        as_json=args.json,
    )


def configuration(args: argparse.Namespace) -> RunConfig:
    """Return the preset's or file's configuration with the changes from the options."""
    changes = dict(_setting(text) for text in args.settings)
    for name in ("licence", "steps", "seed", "device", "precision", "threads", "product"):
        if getattr(args, name) is not None:
            changes[name] = getattr(args, name)
    if args.start_from is not None:
        changes["start_from"] = str(model_path(args.start_from).absolute())
    for name in ("data", "validation"):
        if getattr(args, name) is not None:
            changes[name] = [absolute(spec) for spec in getattr(args, name)]
    return _named(args.configuration).with_settings(changes)


def command_line(args: argparse.Namespace) -> str:
    """Return the command that repeats this run, with file names but without folders."""
    words = ["transformer-viz", "train", Path(args.configuration).name]
    for name in ("data", "validation"):
        specs = getattr(args, name)
        if specs is not None:
            names = [",".join(Path(part).name for part in spec.split(",")) for spec in specs]
            words += [f"--{name}", *names]
    if args.start_from is not None:
        words += ["--start-from", model_path(args.start_from).name]
    for name in ("licence", "steps", "seed", "device", "precision", "threads", "product"):
        value = getattr(args, name)
        if value is not None:
            words += [f"--{name}", str(value)]
    if args.settings:
        words += ["--set", *args.settings]
    return shlex.join(words)


def _named(name: str) -> RunConfig:
    if not name.endswith(".json"):
        return preset(name)
    try:
        values = json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(read_problem(name, error)) from error
    except ValueError as error:
        raise UserError(f"{name} is not JSON: {error}.") from error
    if not isinstance(values, dict):
        raise UserError(f'{name} must contain {{"model": {{…}}, "training": {{…}}}}.')
    return RunConfig.from_dict(values)


def _setting(text: str) -> tuple[str, Any]:
    """Read "d_model=128" as ("d_model", 128); a value that is not JSON is a string."""
    name, equals, value = text.partition("=")
    if not equals:
        raise UserError(f"--set takes KEY=VALUE, but {text!r} has no '='.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def absolute(spec: str) -> str:
    """Make a source's paths absolute, so that the run can be resumed from another folder."""
    if spec == GRAMMAR:
        return spec
    parts = [spec] if is_file(spec) else spec.split(",")
    return ",".join(str(Path(part).absolute()) for part in parts)
