"""The command line: each command is a module of `core.commands`, imported only when it is run.

Results go to stdout, progress and messages to stderr. Exit codes: 0 for success, 1 for a failure,
2 for wrong usage, 130 for Ctrl+C.
"""

from __future__ import annotations

import argparse
import importlib
import io
import keyword
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from core.errors import UserError
from core.files import shown_path
from core.huge_pages import ask_for_huge_pages
from core.system import ensure_output

COMMANDS = {
    "translate": "translate lines, sentence by sentence",
    "parse": "print the constituency tree of each line, or score a parser",
    "trace": "save the attention of one sentence as .npz",
    "info": "describe a model or a preset",
    "cost": "count what a training costs, beside the paper's Table 2",
    "variations": "list the rows of the paper's Table 3",
    "import": "convert a Marian model to a single file",
    "get": "download a translation model from the Hugging Face hub",
    "data": "download a corpus for training or evaluation",
    "prepare": "prepare corpora for training by a recipe",
    "corpus": "print sentences from the generated corpus",
    "estimate": "estimate the time and memory of a training run",
    "train": "train a model",
    "resume": "resume a stopped or paused training run",
    "pause": "pause a training run",
    "stop": "save a training run and stop it",
    "average": "average the last checkpoints of a run",
    "words": "count the words of a run's training text for a model file",
    "evaluate": "score a model on a test set",
    "heads": "measure what each head does over a corpus",
    "ablate": "measure what changes when heads are switched off",
    "prune": "make a smaller model by removing heads",
    "distance": "measure how far a model and its heads reach",
    "layers": "measure the kinds of layers that compete with self-attention",
    "lesson": "list the lessons, check one, or open one in the window",
}

Commands: TypeAlias = Mapping[str, Mapping[str, str]]
"""By the package that contains their modules, commands with a summary of each."""

_OWN: Commands = {"core.commands": COMMANDS}


def main(argv: Sequence[str] | None = None, known: Commands = _OWN) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    ask_for_huge_pages()
    name = " ".join(["transformer-viz", *arguments[:1]])
    return with_sentences(lambda: _run(arguments, known), name)


def _run(arguments: Sequence[str], known: Commands) -> int:
    args = command_parser(arguments, known).parse_args(arguments)
    code: int = args.run(args)
    return code


def with_sentences(run: Callable[[], int], name: str) -> int:
    """Run a program and return its exit code; what stops it is one sentence on stderr, which
    begins with its ``name``. A reader that has closed our output is told nothing."""
    try:
        try:
            return run()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except UserError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _give_up_output()
        return 1
    except OSError as error:
        print(f"{name}: {_reason(error)}", file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:
            _give_up_output()
        return 1


def _give_up_output() -> None:
    """Discard what Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reason(error: OSError) -> str:
    """Say what the system refused; an error without a file name is about the output."""
    why = error.strerror or error
    if error.filename is None:
        return f"Could not write the output: {why}."
    return f"Could not open {shown_path(str(error.filename))}: {why}."


def _open_streams() -> None:
    """Write UTF-8 and \\n on every system; what UTF-8 cannot hold is written as \\ud83d."""
    ensure_output()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def module_name(command: str) -> str:
    """Return the module of a command: ``import_`` for import, ``a_b`` for a-b."""
    return command.replace("-", "_") + "_" * keyword.iskeyword(command)


def command_parser(arguments: Sequence[str], known: Commands = _OWN) -> argparse.ArgumentParser:
    """Return a parser of all commands, with the arguments of the requested one only."""
    parser = argparse.ArgumentParser(
        prog="transformer-viz",
        description="The commands of Transformer Viz. None of them needs a window.",
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    table = [(package, *row) for package, rows in known.items() for row in rows.items()]
    names = {name for _package, name, _what in table}
    wanted = next((name for name in arguments if name in names), None)
    for package, name, what in table:
        subparser = subparsers.add_parser(
            name, help=what, description=f"{what[0].upper()}{what[1:]}."
        )
        if name == wanted:
            module = importlib.import_module(f"{package}.{module_name(name)}")
            module.add_arguments(subparser)
            subparser.set_defaults(run=module.run)
    return parser
