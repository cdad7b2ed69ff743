"""MarianMT folders with their weights in several files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from core.checkpoints.opening import open_model
from tests.core.checkpoints.marian_folders import refusal, save_marian_folder

pytest.importorskip("transformers")


@pytest.fixture(params=["safetensors", "pickled"])
def sharded(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "sharded"
    pickled = request.param == "pickled"
    save_marian_folder(folder, encoder_layers=1, pickled=pickled, sharded=True)
    return folder


def shards(folder: Path) -> list[Path]:
    """In their order; all of them hold tensors."""
    return sorted(folder.glob("*-of-*"))


def test_each_of_several_files_stands_for_the_folder(sharded: Path) -> None:
    assert len(shards(sharded)) > 1
    for path in (shards(sharded)[-1], *sharded.glob("*.index.json")):
        assert open_model(path).config == open_model(sharded).config


def test_a_file_that_is_missing_among_several_is_named(sharded: Path) -> None:
    last = shards(sharded)[-1]
    last.unlink()
    assert (
        f"has no {last.name}, so the model cannot be opened; copy the whole folder again"
        in refusal(sharded)
    )


def test_a_file_of_another_model_among_several_is_found(sharded: Path) -> None:
    first, second = shards(sharded)[:2]
    shutil.copy(first, second)
    assert f"{second.name} has " in refusal(sharded)


@pytest.mark.parametrize(
    "files",
    [None, {}, [], {"lm_head.weight": 1}, {"lm_head.weight": "../model.safetensors"}],
    ids=str,
)
def test_an_index_that_names_no_files_of_the_folder(sharded: Path, files: object) -> None:
    (index,) = sharded.glob("*.index.json")
    index.write_text(json.dumps({"weight_map": files}), encoding="utf-8")
    assert f"{index.name} does not name the files of the weights" in refusal(sharded)
