"""The command line: each command is a module of `core.commands`, imported when it is asked for.

Results go to stdout, progress and messages to stderr. Exit codes: 0, 1 for a failure, 2 for wrong
use, 130 for Ctrl+C.
"""

from __future__ import annotations

import argparse
import importlib
import io
import keyword
import os
import sys
from collections.abc import Sequence

from core.errors import UserError
from core.huge_pages import ask_for_huge_pages

COMMANDS = {
    "translate": "translate sentences, one line each",
    "trace": "save the attention of one sentence as .npz",
    "info": "say what a model or a preset is",
    "import": "make a model of another program one file",
    "get": "get a translation model from the hub",
    "data": "download a corpus to train or to evaluate on",
    "prepare": "make corpora ready for training, as a recipe says",
    "corpus": "print sentences of the generated corpus",
    "estimate": "say what a training run would need",
    "train": "train a model",
    "resume": "go on with a stopped or waiting training run",
    "pause": "let a training run wait",
    "stop": "save a training run and end it",
    "average": "average the last checkpoints of a run",
    "evaluate": "score a model on a test set",
    "heads": "measure what each head does over a corpus",
    "ablate": "measure what changes when heads are switched off",
    "prune": "make a smaller model without some heads",
    "distance": "measure how far a model and its heads reach",
}

_LONGEST_SHOWN = 200  # characters of a path


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _write_utf8()
    ask_for_huge_pages()
    args = _parser(arguments).parse_args(arguments)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
    except UserError as error:
        print(f"transformer-viz {args.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read our output has gone
        _give_up_output()
        return 1
    except OSError as error:
        print(f"transformer-viz {args.command}: {_reason(error)}", file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:
            _give_up_output()
        return 1
    return code


def _give_up_output() -> None:
    """Let what Python flushes at its end go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reason(error: OSError) -> str:
    """A sentence on what the system refused; without a name of a file it was the output."""
    why = error.strerror or error
    if error.filename is None:
        return f"Could not write the output: {why}."
    name = str(error.filename)
    shown = name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…"
    return f"Could not open {shown}: {why}."


def _write_utf8() -> None:
    """UTF-8 and \\n on every system; what UTF-8 cannot hold is written as \\ud83d."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def module_name(command: str) -> str:
    """Its own name, but for ``import``, which no module can be called."""
    return command + "_" * keyword.iskeyword(command)


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """All commands by name, and the arguments of the one that is asked for."""
    parser = argparse.ArgumentParser(
        prog="transformer-viz", description="The commands of Transformer Viz; none needs a window."
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = next((name for name in arguments if name in COMMANDS), None)
    for name, what in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=what, description=f"{what.capitalize()}.")
        if name == wanted:
            module = importlib.import_module(f"core.commands.{module_name(name)}")
            module.add_arguments(subparser)
            subparser.set_defaults(run=module.run)
    return parser
