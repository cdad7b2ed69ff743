"""The entry point: a command goes to `core.cli`, everything else opens the window.

Neither Qt nor torch is imported before it is known that they are needed, so `--help`,
`--version` and wrong use answer at once.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from core.bundled import bundled_models
from core.cli import COMMANDS as CORE_COMMANDS
from core.cli import main as run_command
from core.cli import with_sentences
from core.files import is_there, shown_path
from core.huge_pages import ask_for_huge_pages

OWN_COMMANDS = {
    "install-desktop": "add the program to the menus of a Linux desktop, or remove it",
    "man": "print the manual page",
}
COMMANDS = CORE_COMMANDS | OWN_COMMANDS
_LESSON_ACTS = ("list", "check", "-h", "--help")  # all else is the name of a lesson to open
KNOWN = {"core.commands": CORE_COMMANDS, "transformer_viz.desktop": OWN_COMMANDS}


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks of the window; None stands for the user's own setting."""

    files: tuple[Path, ...] = ()  # all but the first are opened in windows of their own
    text: str | None = None
    screenshot: Path | None = None
    theme: str | None = None
    size: tuple[int, int] | None = None
    config_dir: Path | None = None
    reset: bool = False


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command or the window and return the exit code: 0, 1 failure, 2 wrong use."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["lesson"] and len(arguments) > 1 and arguments[1] not in _LESSON_ACTS:
        return with_sentences(lambda: _open_lesson(arguments[1:]), "transformer-viz lesson")
    if arguments and arguments[0] in COMMANDS:
        return run_command(arguments, KNOWN)
    return with_sentences(lambda: _open(arguments), "transformer-viz")


def _open_lesson(arguments: list[str]) -> int:
    """Open the window with the lesson that the first argument names."""
    from core.lessons.library import find_lesson

    return _open([str(find_lesson(arguments[0])), *arguments[1:]])


def _open(arguments: list[str]) -> int:
    options = _parse(arguments)

    from transformer_viz.startup.preflight import problem

    found = problem(offscreen=options.screenshot is not None)
    # a window says itself what it cannot open, but a bare name may be a mistyped command
    for file in options.files:
        if not _is_known(file) and (found is not None or _is_bare(file)):
            found = _unknown(file)
            break
    if found is not None:
        print(f"transformer-viz: {found}", file=sys.stderr)
        return 2

    ask_for_huge_pages()
    from transformer_viz.startup.app import run

    return run(options)


def _parse(arguments: list[str]) -> Options:
    parser = window_parser()
    values = vars(parser.parse_args(arguments))
    values["files"] = tuple(values["files"])
    if len(values["files"]) > 1 and values["screenshot"] is not None:
        parser.error("--screenshot takes one FILE")
    return Options(**values)


def window_parser() -> argparse.ArgumentParser:
    """Return a parser of the options of the window."""
    parser = argparse.ArgumentParser(
        prog="transformer-viz",
        description="Show the attention of every layer and head of a translating Transformer, "
        "live. Without a command, the window opens.",
        epilog=_command_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="model, trace, session or text to open, or the name of a bundled model "
        "(default: the last session); several open in a window each",
    )
    parser.add_argument("--text", metavar="T", help="sentence to start with")
    parser.add_argument(
        "--screenshot",
        type=Path,
        metavar="OUT.png",
        help="render the window, save it and exit; needs no display",
    )
    parser.add_argument("--theme", choices=("system", "light", "dark"), help="colours")
    parser.add_argument(
        "--size", type=_size, metavar="WxH", help="size of the window, for example 1440x900"
    )
    parser.add_argument(
        "--config-dir", type=Path, metavar="DIR", help="folder to keep the settings in"
    )
    parser.add_argument(
        "--reset",
        action="store_true",
        help="start with default settings; the previous ones are kept as a backup",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    return parser


def _is_known(file: Path) -> bool:
    """Whether there is such a file, folder or bundled model."""
    return is_there(file) or any(str(file) == path.stem for path in bundled_models())


def _is_bare(file: Path) -> bool:
    return not file.suffix and len(file.parts) == 1


def _unknown(file: Path) -> str:
    """What to do about a name that may be a mistyped command, model or file."""
    name = shown_path(file)
    models = [path.stem for path in bundled_models()]
    near = get_close_matches(name, [*COMMANDS, *models], n=1)
    if near:
        return f"There is no command, file or bundled model {name!r}; did you mean {near[0]!r}?"
    if not _is_bare(file):
        return f"{name} does not exist; check the name."
    return (
        f"There is no command, file or bundled model {name!r}; `transformer-viz --help` lists the "
        f"commands, and the bundled models are {', '.join(models)}."
    )


def _command_help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}} {what}" for name, what in COMMANDS.items()]
    return "\n".join(
        ["commands (each has its own --help; open a file of that name as ./NAME):", *lines]
    )


def _size(text: str) -> tuple[int, int]:
    width, separator, height = text.lower().partition("x")
    if not (separator and width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT, for example 1440x900")
    size = int(width), int(height)
    if not all(100 <= side <= 16384 for side in size):
        raise argparse.ArgumentTypeError(f"{text!r}: each side must be 100 to 16384 pixels")
    return size


def _version() -> str:
    try:
        return version("transformer-viz")
    except PackageNotFoundError:
        return "(not installed)"
