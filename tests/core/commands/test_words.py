from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from core.bundled import bundled_models
from core.checkpoints.header import read_header
from core.checkpoints.native import add_provenance, load_checkpoint
from core.errors import UserError


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    """A model of the run whose file counts no words."""
    copy = tmp_path / "model.safetensors"
    shutil.copy(trained / "model.safetensors", copy)
    add_provenance(copy, {"known_words": ["the"], "rare_words": {}})
    return copy


def test_a_model_gets_the_words_of_its_run(
    command: Callable[..., int], trained: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("words", trained, model) == 0
    as_trained, now = (read_header(path).provenance for path in (trained / model.name, model))
    assert now == as_trained
    assert now["rare_words"]
    load_checkpoint(model)
    said = capsys.readouterr().err
    assert said.startswith(f"{model}: {len(now['known_words'])} words, ")
    assert said.endswith(" of them seen fewer than 20 times\n")


def test_a_model_of_another_shape_is_refused(
    command: Callable[..., int], trained: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.safetensors"
    shutil.copy(bundled_models()[-1], other)
    before = other.read_bytes()
    with pytest.raises(UserError, match="does not have the shape of the models of"):
        command("words", trained, other)
    assert other.read_bytes() == before
