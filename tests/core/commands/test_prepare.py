from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest


def test_files_beside_the_recipe_come_first(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("recipes", "corpora"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.tsv").write_text(f"from {folder}\taus {folder}\n")
    (tmp_path / "corpora" / "b.tsv").write_text("more\tmehr\n")
    recipe = tmp_path / "recipes" / "recipe.json"
    recipe.write_text(json.dumps({"sources": [{"data": "a.tsv"}, {"data": "b.tsv"}]}))
    out = tmp_path / "out"
    assert command("prepare", recipe, "--corpora", tmp_path / "corpora", "--out", out) == 0
    assert capsys.readouterr().out == "a.tsv: 1 pair of 1 read\nb.tsv: 1 pair of 1 read\n"
    assert (out / "a.tsv").read_text() == "from recipes\taus recipes\n"
    assert (out / "b.tsv").read_text() == "more\tmehr\n"
