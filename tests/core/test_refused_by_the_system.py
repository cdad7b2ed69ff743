"""Paths that no system takes and an output that is full: one sentence and exit code 1 or 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.cli import main

ROOT = Path(__file__).parents[2]
LONG = "x" * 5_000
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
"""As in a user's terminal: the output is written at the end."""


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "tiny", "--data", f"{LONG}.tsv", "--out", "OUT"],
        ["train", "tiny", "--data", "grammar", "--out", LONG],
        ["evaluate", "--corpus", f"{LONG}.tsv"],
        ["heads", "--corpus", f"{LONG}.tsv"],
        ["import", LONG, "-o", "OUT"],
        ["resume", LONG],
        ["info", LONG],
        ["translate", "--file", LONG],
        ["translate", "--model", LONG, "a"],
        ["average", LONG, "-o", "OUT"],
        ["stop", LONG],
        ["get", "a/--b"],
        ["get", "a/.."],
        ["get", f"a/{LONG}"],
        ["get", "../.."],
    ],
    ids=lambda arguments: " ".join(word[:12] for word in arguments),
)
def test_one_sentence(
    arguments: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"transformer-viz {arguments[0]}: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has it")
@pytest.mark.parametrize(
    "arguments",
    [
        ["translate", "a"],
        ["translate", "--json", "a"],
        ["corpus", "--count", "2"],
        ["heads", "--json", "--sentences", "1"],
        ["info", "--help"],
    ],
    ids=" ".join,
)
def test_a_full_output(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "core", *arguments],
            cwd=ROOT,
            env=BUFFERED,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == (
        f"transformer-viz {arguments[0]}: Could not write the output: No space left on device."
    )
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="a stream is closed before the program starts")
@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "1>&- 2>&-"])
def test_a_closed_stream(closed: str, tmp_path: Path) -> None:
    """What is written to a file is there."""
    out = tmp_path / "a.npz"
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m core trace a -o "$1" {closed}', sys.executable, out],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "ein\n" if closed == "1>&-" else "")
    assert out.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has it")
def test_progress_that_nobody_can_read_stops_nothing() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "core", "translate", "--json", "a"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0
    assert '"translation"' in done.stdout


def test_a_reader_that_goes_away_is_told_nothing() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "core", "corpus", "--count", "20000"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(120) == 1
        assert process.stderr.read() == b""
