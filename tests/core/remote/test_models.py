from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import UserError
from core.remote.cache import NAME, downloaded_models, model_folder, read_receipt
from core.remote.models import Offer, download, look_up
from tests.core.remote.sites import COMMIT, Site, contents, marian_files, publish, resolved

REPOSITORY = "Helsinki-NLP/opus-mt-en-de"
WANTED = ("config.json", "source.spm", "target.spm", "vocab.json", "README.md", "pytorch_model.bin")


def offer(site: Site, cache: Path) -> Offer:
    return look_up(REPOSITORY, cache, endpoint=site.url)


def test_size_and_licence_are_told_before_anything_is_downloaded(
    site: Site, tmp_path: Path
) -> None:
    publish(site, REPOSITORY, marian_files())
    found = offer(site, tmp_path)
    assert (found.licence, found.revision) == ("CC BY 4.0", COMMIT)
    assert found.size == sum(len(marian_files()[name]) for name in WANTED)
    assert found.here == 0
    assert [path for _, path, _ in site.asked] == [f"/api/models/{REPOSITORY}"]
    assert not found.folder.exists()


def test_what_is_needed_comes_checked_and_with_a_receipt(site: Site, tmp_path: Path) -> None:
    files = marian_files()
    publish(site, REPOSITORY, files)
    assert downloaded_models(tmp_path) == {}
    heard: list[int] = []
    found = offer(site, tmp_path)
    folder = download(found, heard.append)
    assert folder == model_folder(REPOSITORY, tmp_path)
    assert folder.name == "opus-mt-en-de"
    assert contents(folder) == {name: files[name] for name in sorted(WANTED)}
    assert heard[-1] == found.size
    receipt = read_receipt(folder)
    assert receipt is not None
    assert (receipt.source, receipt.revision, receipt.licence) == (REPOSITORY, COMMIT, "CC BY 4.0")
    assert receipt.bytes == found.size
    assert downloaded_models(tmp_path) == {REPOSITORY: folder}


def test_safetensors_are_preferred(site: Site, tmp_path: Path) -> None:
    publish(site, REPOSITORY, marian_files() | {"model.safetensors": b"w" * 2_000})
    names = [file.path.name for file in offer(site, tmp_path).files]
    assert "model.safetensors" in names
    assert "pytorch_model.bin" not in names


def test_large_files_may_lie_elsewhere(site: Site, tmp_path: Path) -> None:
    files = marian_files()
    publish(site, REPOSITORY, files)
    weights = resolved(REPOSITORY, "pytorch_model.bin")
    site.files["/elsewhere/blob"] = site.files.pop(weights)
    site.moved[weights] = f"{site.url}/elsewhere/blob"
    found = offer(site, tmp_path)
    part = next(file for file in found.files if file.path.name == "pytorch_model.bin").part
    part.parent.mkdir(parents=True)
    part.write_bytes(files["pytorch_model.bin"][:1_234])
    assert found.here == 1_234
    folder = download(found, lambda here: None)
    assert (folder / "pytorch_model.bin").read_bytes() == files["pytorch_model.bin"]
    assert site.given("/elsewhere/blob") == ["bytes=1234-"]


def test_a_folder_from_which_something_went_is_not_whole(site: Site, tmp_path: Path) -> None:
    publish(site, REPOSITORY, marian_files())
    folder = download(offer(site, tmp_path), lambda here: None)
    (folder / "vocab.json").unlink()
    assert downloaded_models(tmp_path) == {}
    site.asked.clear()
    download(offer(site, tmp_path), lambda here: None)
    assert [path for _, path, _ in site.asked][1:] == [resolved(REPOSITORY, "vocab.json")]
    assert downloaded_models(tmp_path) == {REPOSITORY: folder}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": {"a": 3}}', '{"files": 5}'])
def test_a_receipt_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    assert read_receipt(tmp_path) is None


def test_files_that_are_damaged_on_the_way(site: Site, tmp_path: Path) -> None:
    publish(site, REPOSITORY, marian_files())
    for name in ("vocab.json", "pytorch_model.bin"):  # a git id, and a SHA-256
        path = resolved(REPOSITORY, name)
        right, site.files[path] = site.files[path], site.files[path][::-1]
        with pytest.raises(UserError, match=f"{name} arrived damaged: its checksum"):
            download(offer(site, tmp_path), lambda here: None)
        site.files[path] = right
    download(offer(site, tmp_path), lambda here: None)


def test_models_of_other_kinds_are_refused_before_they_come(site: Site, tmp_path: Path) -> None:
    publish(site, REPOSITORY, marian_files(), config={"model_type": "t5"})
    with pytest.raises(UserError, match="is a t5 model, but only Marian models can be opened"):
        offer(site, tmp_path)
    files = marian_files()
    del files["pytorch_model.bin"], files["source.spm"]
    publish(site, REPOSITORY, files, config=None)
    with pytest.raises(UserError, match=r"has no source\.spm, no model\.safetensors or pytorch"):
        offer(site, tmp_path)


def test_a_licence_that_is_not_stated(site: Site, tmp_path: Path) -> None:
    publish(site, REPOSITORY, marian_files(), cardData=None)
    assert offer(site, tmp_path).licence == "not stated"


def test_a_model_that_the_hub_does_not_have(site: Site, tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"The hub has no model .*; run `transformer-viz get` to list"
    ):
        offer(site, tmp_path)
    site.refused[f"/api/models/{REPOSITORY}"] = 503
    with pytest.raises(UserError, match=r"has a server error \(503\); try again later"):
        offer(site, tmp_path)


@pytest.mark.parametrize("text", ["<html>Log in</html>", "[]", "{}"])
def test_a_page_of_something_else_in_place_of_an_answer(
    site: Site, tmp_path: Path, text: str
) -> None:
    site.files[f"/api/models/{REPOSITORY}"] = text.encode()
    with pytest.raises(UserError, match=r"returned an unreadable answer; .* copy the model"):
        offer(site, tmp_path)


def test_a_model_for_those_who_asked_is_described_and_not_given(site: Site, tmp_path: Path) -> None:
    publish(site, REPOSITORY, marian_files())
    site.gated.add(resolved(REPOSITORY, "config.json"))
    with pytest.raises(
        UserError, match=r"requires you to request access; .* log in with: hf auth login"
    ):
        download(offer(site, tmp_path), lambda here: None)


def test_a_newer_revision_takes_the_place_of_what_was_begun(site: Site, tmp_path: Path) -> None:
    publish(site, REPOSITORY, marian_files())
    site.refused[resolved(REPOSITORY, "pytorch_model.bin")] = 503
    with pytest.raises(UserError, match="a server error"):
        download(offer(site, tmp_path), lambda here: None)
    site.refused.clear()
    newer = marian_files() | {"config.json": b"[]"}  # of the same size
    publish(site, REPOSITORY, newer)
    folder = download(offer(site, tmp_path), lambda here: None)
    assert contents(folder) == {name: newer[name] for name in sorted(WANTED)}


def test_without_a_network(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        look_up(REPOSITORY, tmp_path, endpoint="http://127.0.0.1:9")
    assert str(caught.value) == (
        "127.0.0.1:9 cannot be reached; check the network and try again, or copy the model's "
        "folder from a computer that has it and open that (File, Open; or --model FOLDER)."
    )


def test_nothing_is_told_about_this_computer(site: Site, tmp_path: Path) -> None:
    publish(site, REPOSITORY, marian_files())
    for file in offer(site, tmp_path).files:
        agent = file.headers["user-agent"]
        assert "torch" not in agent
        assert "agent/" not in agent
    assert json.loads(site.files[f"/api/models/{REPOSITORY}"])["id"] == REPOSITORY
