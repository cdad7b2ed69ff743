"""Paths that no system takes and an output that is full: one sentence and exit code 1 or 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.cli import main

ROOT = Path(__file__).parents[2]
LONG = "x" * 5_000


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
    [["translate", "a"], ["translate", "--json", "a"], ["corpus", "--count", "2"]],
)
def test_a_full_output(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "core", *arguments],
            cwd=ROOT,
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
