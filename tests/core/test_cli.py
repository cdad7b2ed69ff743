"""The command line as a process sees it: exit codes, streams, one line for each failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from core import cli
from core.errors import UserError

ROOT = Path(__file__).resolve().parent.parent.parent


def stand_in(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    """Put a command of our own in the place of "info"."""
    module = ModuleType("core.commands.info")
    module.add_arguments = lambda parser: parser.add_argument("--n", type=int)  # type: ignore[attr-defined]
    module.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "core.commands.info", module)


def process(*arguments: str, **settings: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "core", *arguments],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=120,
        **settings,
    )


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_each_command_says_how_it_is_used(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main([name, "--help"])
    assert exit_.value.code == 0
    shown = capsys.readouterr().out
    assert f"transformer-viz {name}" in shown
    summary = cli.COMMANDS[name]
    assert f"{summary[0].upper()}{summary[1:]}." in " ".join(shown.split())


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["info", "--nonsense"], ["trace", "x"]])
def test_wrong_use_is_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(arguments)
    assert exit_.value.code == 2
    assert "usage: transformer-viz" in capsys.readouterr().err


def test_the_code_of_the_command_is_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, lambda args: args.n)
    assert cli.main(["info", "--n", "0"]) == 0
    assert cli.main(["info", "--n", "7"]) == 7


def test_a_failure_is_one_line_and_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(args: object) -> int:
        raise UserError("The model is missing; name another one.")

    stand_in(monkeypatch, fail)
    assert cli.main(["info"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "transformer-viz info: The model is missing; name another one.\n"


def test_a_defect_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(args: object) -> int:
        raise ZeroDivisionError

    stand_in(monkeypatch, fail)
    with pytest.raises(ZeroDivisionError):
        cli.main(["info"])


def test_ctrl_c_is_130_and_silent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(args: object) -> int:
        raise KeyboardInterrupt

    stand_in(monkeypatch, interrupt)
    assert cli.main(["info"]) == 130
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
def test_a_reader_that_goes_away_is_no_noise() -> None:
    run = subprocess.run(
        f"{sys.executable} -m core corpus --count 5000 | head -n 1",
        shell=True,
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert run.stdout.count(b"\n") == 1
    assert run.stderr == b""


def test_output_is_utf8_whatever_the_locale_says() -> None:
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    run = process("corpus", "--count", "200", "--seed", "3", env=plain)
    assert run.returncode == 0, run.stderr
    assert "ü" in run.stdout.decode("utf-8")
