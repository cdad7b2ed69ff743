"""What is light stays light: the modules that must start without torch, and without Qt."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def imported_by(*arguments: str) -> set[str]:
    """The top-level packages that a fresh interpreter with these arguments imports."""
    run = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    lines = [line for line in run.stderr.split("\n") if line.startswith("import time:")]
    return {line.rsplit("|", 1)[1].strip().split(".")[0] for line in lines}


@pytest.mark.parametrize(
    "module",
    [
        *("core.errors", "core.files", "core.fields", "core.config", "core.presets"),
        *("core.text.tokens", "core.trace.trace", "core.statistics.rows", "core.trace.npz"),
        *("core.trace.positions", "core.trace.variant", "core.trace.padding"),
        *("core.lab.path_formula", "core.lab.report", "core.model.mixers.kinds"),
        "core.save_trace",
        "core.trace.row_steps",
        "core.trace.states",
        *("core.analysis.contributions", "core.analysis.direct", "core.analysis.lens"),
        *("core.analysis.boxes", "core.analysis.work"),
        *("core.training.config", "core.training.estimate", "core.training.run_folder"),
        "core.corpus.grammar.registry",
        *("core.remote.cache", "core.remote.hub_cache", "core.remote.pairs"),
        "core.checkpoints.kinds",
    ],
)
def test_values_need_neither_torch_nor_qt(module: str) -> None:
    found = imported_by("-c", f"import {module}")
    assert "core" in found
    assert not found & {"torch", "sentencepiece", "huggingface_hub", "PySide6", "pyqtgraph"}


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_a_question_to_the_command_loads_neither_torch_nor_qt(option: str) -> None:
    found = imported_by("main.py", option)
    assert "transformer_viz" in found
    assert not found & {"torch", "PySide6", "pyqtgraph", "numpy"}


def test_the_command_line_of_core_needs_no_qt() -> None:
    found = imported_by("-m", "core", "--help")
    assert "core" in found
    assert not found & {"torch", "PySide6", "pyqtgraph"}


def test_the_window_needs_no_torch() -> None:
    found = imported_by("-c", "import transformer_viz.shell.window")
    assert "PySide6" in found
    assert "torch" not in found
