from __future__ import annotations

import os
from pathlib import Path

import pytest
from huggingface_hub import try_to_load_from_cache

from core.remote.hub_cache import cached_models, hub_cache, model_name, origin_of, snapshot

OLD, NEW = "a" * 40, "b" * 40
FILES = ("config.json", "source.spm", "target.spm", "vocab.json", "pytorch_model.bin")


def cached(cache: Path, name: str, revision: str, files: tuple[str, ...] = FILES) -> Path:
    folder = cache / name / "snapshots" / revision
    folder.mkdir(parents=True)
    for file in files:
        (folder / file).write_bytes(b"{}")
    refs = cache / name / "refs"
    refs.mkdir(exist_ok=True)
    (refs / "main").write_text(revision)
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"HF_HUB_CACHE": "{}/a", "HF_HOME": "{}/b"}, "a"),
        ({"HF_HOME": "{}/b", "XDG_CACHE_HOME": "{}/c"}, "b/hub"),
        ({"XDG_CACHE_HOME": "{}/c"}, "c/huggingface/hub"),
    ],
)
def test_the_cache_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], place: str
) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    assert hub_cache() == tmp_path / place


def test_the_snapshot_is_that_of_main(cache: Path) -> None:
    name = "models--Helsinki-NLP--opus-mt-en-de"
    new = cached(cache, name, NEW)
    old = cached(cache, name, OLD)
    assert snapshot(cache / name) == old
    found = try_to_load_from_cache("Helsinki-NLP/opus-mt-en-de", "config.json", cache_dir=cache)
    assert found == str(old / "config.json")
    (cache / name / "refs" / "main").unlink()
    os.utime(new, (2e9, 2e9))
    assert snapshot(cache / name) == new
    assert origin_of(new) == ("Helsinki-NLP/opus-mt-en-de", NEW)
    assert model_name(new) == "opus-mt-en-de"


def test_other_folders_are_none_of_it(cache: Path) -> None:
    (cache / "models--empty").mkdir()
    assert snapshot(cache / "models--empty") is None
    assert snapshot(cache) is None
    assert origin_of(cache) is None
    assert model_name(cache) == cache.name


@pytest.mark.parametrize("main", ["../../..", "", "é", "x" * 10_000])
def test_a_name_of_a_revision_leads_nowhere_else(cache: Path, main: str) -> None:
    folder = cached(cache, "models--a--b", NEW)
    (cache / "models--a--b" / "refs" / "main").write_text(main, encoding="utf-8")
    assert snapshot(cache / "models--a--b") == folder


def test_models_that_are_whole_are_found(cache: Path) -> None:
    whole = cached(cache, "models--a--whole", NEW)
    cached(cache, "models--a--part", NEW, FILES[:-1])
    cached(cache, "models--bert", NEW, ("config.json", "pytorch_model.bin"))
    assert cached_models() == {"a/whole": whole}


def test_without_a_cache_nothing_is_found(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(cache / "none"))
    assert cached_models() == {}
