"""A model on a hub, downloaded, is the model that it was before it was published."""

from __future__ import annotations

from pathlib import Path

import torch

from core.checkpoints.opening import open_model
from core.remote.models import download, look_up
from tests.core.checkpoints.marian_folders import ENGLISH, save_marian_folder
from tests.core.remote.sites import COMMIT, Site, publish

REPOSITORY = "Helsinki-NLP/opus-mt-en-de"


def test_what_was_downloaded_opens(site: Site, tmp_path: Path) -> None:
    original = tmp_path / "original"
    save_marian_folder(original)
    publish(site, REPOSITORY, {path.name: path.read_bytes() for path in original.iterdir()})
    folder = download(look_up(REPOSITORY, tmp_path, endpoint=site.url), lambda here: None)
    one, other = open_model(original), open_model(folder)
    assert folder != original
    assert one.tokenizer.encode(ENGLISH[0]) == other.tokenizer.encode(ENGLISH[0])
    assert {key: other.provenance.get(key) for key in ("source", "revision", "licence")} == {
        "source": REPOSITORY,
        "revision": COMMIT,
        "licence": "CC BY 4.0",
    }
    weights = other.model.state_dict()
    assert all(
        torch.equal(weights[name], tensor) for name, tensor in one.model.state_dict().items()
    )
