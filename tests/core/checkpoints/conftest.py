"""A MarianMT folder to damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.core.checkpoints.marian_folders import save_marian_folder


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "opus"
    save_marian_folder(folder, encoder_layers=1, decoder_layers=1)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "opus"))
