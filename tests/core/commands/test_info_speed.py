from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli import main
from core.model import measuring
from core.model.kernels import PRESENT
from core.model.product_choice import VARIABLE, ProductChoice
from core.model.timings import Timings


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(measuring, "cache_folder", lambda _: tmp_path)
    monkeypatch.setattr(measuring, "_QUIET", 0.0)
    monkeypatch.setattr(measuring, "agree", lambda one, other: True)
    monkeypatch.setattr("core.commands.speed.PATIENCE", 60.0)


def test_it_measures_and_says_what_is_used(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(VARIABLE)
    assert main(["info", "--speed", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["kernels"] == list(PRESENT)
    assert Timings.from_dict(about["seconds"]).complete
    assert ProductChoice.from_dict(about["products"]).names() <= set(PRESENT)
    assert about["forced"] is None
    assert (tmp_path / "products.json").is_file()
    assert main(["info", "--speed"]) == 0
    text = capsys.readouterr().out
    assert "in use: training " in text
    assert all(name in text for name in PRESENT)
    assert "512 → 2048, 32 rows" in text


def test_it_says_what_is_forced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "torch")
    assert main(["info", "--speed"]) == 0
    text = capsys.readouterr().out
    assert "in use: training torch, inference torch, weights by rows" in text
    assert f"chosen by {VARIABLE}=torch" in text


def test_a_kernel_that_does_not_exist(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "blas")
    assert main(["info", "--speed"]) == 1
    assert f"{VARIABLE} is 'blas'; allowed are auto, torch" in capsys.readouterr().err


def test_it_says_what_is_not_confirmed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(measuring, "agree", lambda one, other: False)
    monkeypatch.setattr("core.commands.speed.PATIENCE", 0.2)
    assert main(["info", "--speed"]) == 0
    assert "too busy to confirm the timings that are missing" in capsys.readouterr().out
