"""transformer-viz info: what a model file or a preset is, without loading its weights."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.bundled import model_path
from core.checkpoints.card import model_card
from core.checkpoints.header import Header
from core.checkpoints.kinds import Kind, recognise
from core.checkpoints.opening import open_header
from core.checkpoints.provenance import left_out_note
from core.commands.sizes import read_tokens, size_lines, sizes
from core.config import ModelConfig
from core.errors import UserError
from core.presets import PRESETS, preset

_WORD_LISTS = ("known_words", "rare_words")  # too long to be read
_NO_CHECKSUM = "none, as in files of earlier versions: changed numbers would go unnoticed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help=f"a file, a bundled model (default: the first), or a preset: {', '.join(PRESETS)}",
    )
    parser.add_argument(
        "--vocab", type=int, metavar="N", help="vocabulary of a preset instead of its own"
    )
    parser.add_argument(
        "--device", help="say what this device name means on this machine instead, if it is there"
    )
    parser.add_argument(
        "--speed", action="store_true", help="say how fast matrix products are on this machine"
    )
    parser.add_argument(
        "--tokens",
        type=read_tokens,
        metavar="N,M",
        help="also say what a sentence of N source and M target tokens costs",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as one JSON object")
    form.add_argument("--card", action="store_true", help="a file's card, as Markdown")


def run(args: argparse.Namespace) -> int:
    """Raises UserError for a name that is no preset and no readable model, and for a device that
    is not there.
    """
    if args.device is not None:
        from core.device import choose_device

        print(choose_device(args.device))
        return 0
    if args.speed:
        from core.commands.speed import report

        print(report(as_json=args.json))
        return 0
    is_preset = args.model in PRESETS
    if args.card:
        if is_preset:
            raise UserError(f"{args.model} is a preset; only a trained model has a card.")
        path = model_path(args.model)
        print(model_card(path.stem, _header(path)), end="")
        return 0
    about = _preset(args.model, args.vocab) if is_preset else _file(args.model)
    config = ModelConfig.from_dict(about["model"])
    if args.json:
        about |= sizes(config, args.tokens)
        print(json.dumps(about, ensure_ascii=False, indent=2))
    else:
        print("\n".join([*_lines(about), *size_lines(config, args.tokens)]))
    return 0


def _preset(name: str, vocab: int | None) -> dict[str, Any]:
    config = preset(name)
    model = config.model if vocab is None else dataclasses.replace(config.model, vocab_size=vocab)
    return {
        "name": name,
        "parameters": parameter_count(model),
        "model": model.to_dict(),
        "training": config.training.to_dict(),
    }


def _file(name: str | None) -> dict[str, Any]:
    path = model_path(name)
    header = _header(path)
    ours = recognise(path)[0] is Kind.NATIVE
    return {
        "name": path.stem,
        "parameters": header.parameters,
        **({"checksum": header.checksum} if ours else {}),
        "model": header.config.to_dict(),
        "provenance": {
            key: value for key, value in header.provenance.items() if key not in _WORD_LISTS
        },
    }


def _header(path: Path) -> Header:
    """What the file says of itself; a line on stderr for what it says in the wrong form."""
    header = open_header(path)
    if header.left_out:
        print(left_out_note(path.name, header.left_out), file=sys.stderr)
    return header


def parameter_count(config: ModelConfig) -> int:
    """Return the exact number of parameters, computed from shapes alone."""
    from core.model.uninitialised import uninitialised

    return uninitialised(config).parameter_count()


def _lines(about: Mapping[str, Any]) -> list[str]:
    lines = [about["name"], f"  {'parameters':<24} {about['parameters']:,}"]
    if "checksum" in about:
        lines.append(f"  {'checksum':<24} {about['checksum'] or _NO_CHECKSUM}")
    for section in ("model", "training", "provenance"):
        if section in about:
            lines += ["", section]
            lines += [f"  {key:<24} {_text(value)}" for key, value in about[section].items()]
    return lines


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
