"""The manual page says what the parsers say, in a language that man reads without a warning."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from transformer_viz.desktop.man_page import man_page
from transformer_viz.startup import launch

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def page() -> str:
    return man_page()


def test_it_needs_nothing_but_python(page: str) -> None:
    """So that it can be made where the project is built."""
    command = [sys.executable, "-S", "main.py", "man"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == page


def test_it_has_every_command_and_option(page: str) -> None:
    headings = [line[4:].replace("\\-", "-") for line in page.split("\n") if line[:4] == ".SS "]
    assert headings == [*launch.COMMANDS]
    plain = page.replace("\\-", "-")
    for option in ("--screenshot", "--importance", "--int8", "--remove"):
        assert f"\\fB{option}\\fR" in plain


def test_no_text_is_taken_for_a_request(page: str) -> None:
    requests = {line.split()[0] for line in page.split("\n") if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I", ".br"}
    assert page.isascii()


def test_nothing_depends_on_the_terminal(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert man_page() == page


def test_the_command_prints_it(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert launch.main(["man"]) == 0
    assert capsys.readouterr().out == page


@pytest.mark.skipif(not shutil.which("groff"), reason="not installed")
def test_groff_has_no_warning(page: str) -> None:
    command = ["groff", "-ww", "-man", "-Tutf8"]
    done = subprocess.run(command, input=page, capture_output=True, encoding="utf-8", check=True)
    assert done.stderr == ""
    shown = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout)
    assert "transformer-viz translate [--file F]" in shown


@pytest.mark.skipif(not shutil.which("mandoc"), reason="not installed")
def test_mandoc_misses_the_date_alone(page: str) -> None:
    command = ["mandoc", "-T", "lint", "-W", "warning"]
    done = subprocess.run(command, input=page, capture_output=True, encoding="utf-8")
    assert [line for line in done.stdout.splitlines() if "missing date" not in line] == []
