from __future__ import annotations

from pathlib import Path

import pytest

from core import bundled
from core.errors import UserError


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in the place of resources/models."""
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setattr(bundled, "files", lambda package: tmp_path)
    return folder


def test_the_demo_model_comes_first(models: Path) -> None:
    for name in ("a.safetensors", "demo-en-de.safetensors", "b.safetensors", "notes.txt"):
        (models / name).touch()
    names = [path.name for path in bundled.bundled_models()]
    assert names == ["demo-en-de.safetensors", "a.safetensors", "b.safetensors"]
    assert bundled.model_path(None) == models / "demo-en-de.safetensors"
    assert bundled.model_path("b") == models / "b.safetensors"


def test_without_the_demo_model_any_other_is_first(models: Path) -> None:
    (models / "b.safetensors").touch()
    assert bundled.model_path(None) == models / "b.safetensors"


def test_any_other_name_is_a_file(models: Path) -> None:
    assert bundled.model_path("dir/other.safetensors") == Path("dir/other.safetensors")


def test_none_at_all_is_the_users_error(models: Path) -> None:
    with pytest.raises(UserError, match="--model"):
        bundled.model_path(None)
