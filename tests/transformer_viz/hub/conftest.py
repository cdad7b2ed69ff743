from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.remote.cache import Receipt, model_folder
from tests.transformer_viz.heads.desk import FakeChild
from transformer_viz.hub import download as module
from transformer_viz.hub.download import ModelDownload

REPOSITORY = "Helsinki-NLP/opus-mt-en-de"
SIZE = 298_000_000


class Hub:
    """A download whose processes answer as a test tells them."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.folder = model_folder(REPOSITORY, cache)
        self.download = ModelDownload(cache)

    @property
    def child(self) -> FakeChild:
        child = self.download._child
        assert isinstance(child, FakeChild)
        return child

    def answer(self, here: int = 0) -> None:
        self.child.finished.emit(
            {
                "repository": REPOSITORY,
                "licence": "CC BY 4.0",
                "size": SIZE,
                "here": here,
                "folder": str(self.folder),
            }
        )

    def put(self) -> None:
        """What a finished download leaves in the cache."""
        self.folder.mkdir(parents=True)
        (self.folder / "config.json").write_bytes(b"{}")
        paths = [self.folder / "config.json"]
        Receipt.of(self.folder, paths, source=REPOSITORY, revision="1", licence="CC BY 4.0").write(
            self.folder
        )


@pytest.fixture
def hub(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Hub:
    monkeypatch.setattr(module, "Child", FakeChild)
    return Hub(tmp_path / "cache")
