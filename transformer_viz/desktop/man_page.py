"""The manual page, from the parsers of the command line, in the language of man(7).

The page depends on the options alone, not on the version of Python or the width of a terminal.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator

from core.cli import command_parser
from core.system import COMMAND as NAME
from transformer_viz.startup.launch import COMMANDS, KNOWN, window_parser

_ESCAPES = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}

_DESCRIPTION = (
    "Transformer Viz translates an English sentence into German with a Transformer and shows, as "
    "you type, what every head of every layer attends to. Trained models are included.",
    "Without a command, the window opens, in one process for each FILE. With a command, no window "
    "is needed. Models are named by a file, a folder, or the name of a bundled model.",
)
_FILES = {
    "~/.config/transformer-viz/settings.json": "the settings of the window and its last session",
    "~/.local/share/transformer-viz/runs": "the training runs that were started in the window",
    "~/.local/state/transformer-viz/log": "warnings and errors, never what was typed",
    "~/.cache/transformer-viz": "models and corpora that were downloaded",
}
_ENVIRONMENT = {
    "XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME": "the places of these files",
    "QT_QPA_PLATFORM": "what Qt draws on: xcb, wayland or, without a display, offscreen",
}
_EXIT = {
    "0": "success",
    "1": "a failure, with one sentence on stderr",
    "2": "wrong usage, or no window can be opened on this machine",
    "130": "stopped by Ctrl+C or another signal; a training run has saved its state",
}
_EXAMPLES = {
    f'{NAME} --text "The animal slept."': "open the window with a sentence",
    f'{NAME} translate "The animal slept."': "translate without a window",
    f"{NAME} train tiny --out RUN": "train a small model",
    f"{NAME} --screenshot window.png": "save a picture of the window; needs no display",
}


def man_page() -> str:
    """Return the page as text of man(7)."""
    window = window_parser()
    lines = [
        '.TH TRANSFORMER\\-VIZ 1 "" "Transformer Viz"',
        *_section("NAME", [f"{_plain(NAME)} \\- see the attention of a Transformer"]),
        *_section("SYNOPSIS", [*_synopsis(window, NAME), *_more_synopses()]),
        *_section("DESCRIPTION", _paragraphs(_DESCRIPTION)),
        *_section("OPTIONS", _arguments(window)),
        *_section("COMMANDS", (line for name in COMMANDS for line in _command(name))),
        *_section("EXIT STATUS", _terms(_EXIT)),
        *_section("FILES", _terms(_FILES)),
        *_section("ENVIRONMENT", _terms(_ENVIRONMENT)),
        *_section("EXAMPLES", _terms(_EXAMPLES)),
    ]
    return "\n".join(lines) + "\n"


def _more_synopses() -> list[str]:
    return [".br", f".B {_plain(NAME)}", ".I COMMAND", "[\\fIARGUMENT\\fR ...]"]


def _command(name: str) -> Iterator[str]:
    parser = _parser_of(name)
    yield f".SS {_plain(name)}"
    yield from _paragraphs([parser.description or ""])
    yield ".PP"
    yield from _synopsis(parser, f"{NAME} {name}")
    yield from _arguments(parser)


def _parser_of(command: str) -> argparse.ArgumentParser:
    parser = command_parser([command], KNOWN)
    subparsers = next(one for one in parser._actions if isinstance(one.choices, dict))
    found: argparse.ArgumentParser = subparsers.choices[command]  # type: ignore[index]
    return found


def _shown(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments without --help, which every command has, and those that are hidden."""
    return [
        action
        for action in parser._actions
        if action.help is not argparse.SUPPRESS and not isinstance(action, argparse._HelpAction)
    ]


def _synopsis(parser: argparse.ArgumentParser, command: str) -> Iterator[str]:
    yield f".B {_plain(command)}"
    actions = _shown(parser)
    for action in sorted(actions, key=lambda action: not action.option_strings):
        text = " ".join(filter(None, [*map(_bold, action.option_strings[:1]), _values(action)]))
        required = action.required if action.option_strings else action.nargs not in ("?", "*")
        yield text if required else f"[{text}]"


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in _shown(parser):
        names = ", ".join(_bold(name) for name in action.option_strings)
        yield ".TP"
        yield " ".join(filter(None, [names, _values(action)]))
        yield from _text(_help(action, parser.prog))


def _values(action: argparse.Action) -> str:
    """Return what follows an option, or stands for an argument: OUT.png, or [FILE ...]."""
    if action.nargs == 0:
        return ""
    if isinstance(action.metavar, tuple):
        return " ".join(_italic(name) for name in action.metavar)
    name = action.metavar
    if name is None and action.choices is not None:
        name = "{" + ",".join(map(str, action.choices)) + "}"
    shown = _italic(name or action.dest.upper())
    match action.nargs:
        case "?":
            return f"[{shown}]" if action.option_strings else shown
        case "*":
            return f"[{shown} ...]" if action.option_strings else f"{shown} ..."
        case "+":
            return f"{shown} ..."
        case int(count):
            return " ".join([shown] * count)
    return shown


def _help(action: argparse.Action, program: str) -> str:
    values = {name: value for name, value in vars(action).items() if value != argparse.SUPPRESS}
    if action.choices is not None:
        values["choices"] = ", ".join(map(str, action.choices))
    return (action.help or "") % (values | {"prog": program})


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return [f".SH {title}", *lines]


def _terms(terms: dict[str, str]) -> Iterator[str]:
    for term, meaning in terms.items():
        yield from (".TP", _bold(term), *_text(meaning))


def _paragraphs(paragraphs: Iterable[str]) -> Iterator[str]:
    for number, paragraph in enumerate(paragraphs):
        yield from ([".PP"] if number else [])
        yield from _text(paragraph)


def _text(text: str) -> Iterator[str]:
    """Yield a sentence per line, as man pages are kept, without lines that would be requests."""
    for line in re.split(r"(?<=[.;:])\s+", " ".join(text.split())):
        yield f"\\&{_plain(line)}" if line.startswith((".", "'")) else _plain(line)


def _plain(text: str) -> str:
    """Escape what has a meaning in the language, hyphens of options, and what is not ASCII."""
    return "".join(
        _ESCAPES.get(sign) or (sign if sign.isascii() else f"\\[u{ord(sign):04X}]") for sign in text
    )


def _bold(text: str) -> str:
    return f"\\fB{_plain(text)}\\fR"


def _italic(text: str) -> str:
    return f"\\fI{_plain(text)}\\fR"
