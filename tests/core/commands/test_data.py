from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.errors import UserError
from core.remote import multi30k, tatoeba
from tests.core.remote.corpus_sites import publish_multi30k, publish_tatoeba
from tests.core.remote.sites import Site, serving

Command = Callable[..., int]
Output = pytest.CaptureFixture[str]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with serving(Site()) as served:
        publish_multi30k(served)
        publish_tatoeba(served)
        monkeypatch.setattr(multi30k, "LISTING", f"{served.url}/listing")
        monkeypatch.setattr(tatoeba, "EXPORTS", served.url)
        yield served


def test_size_and_terms_without_a_download(
    site: Site, command: Command, tmp_path: Path, capsys: Output
) -> None:
    assert command("data", "multi30k", "en-de", "--about", "--cache", tmp_path) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("multi30k en-de: 0.0 MB\nterms: not stated; it describes ")
    assert [path for _, path, _ in site.asked] == ["/listing"]
    assert not list(tmp_path.iterdir())


def test_parts_by_name_and_checksums(
    site: Site, command: Command, tmp_path: Path, capsys: Output
) -> None:
    command("data", "multi30k", "en-de", "--cache", tmp_path)
    shown = capsys.readouterr()
    parts = dict(line.split("\t") for line in shown.out.splitlines())
    assert list(parts) == ["train", "val", "test_2016_flickr", "test_2018_flickr"]
    assert all(Path(name).is_file() for name in parts["train"].split(","))
    assert shown.err.count("sha256:") == 8
    assert "All files match the published checksums." in shown.err


def test_as_json(site: Site, command: Command, tmp_path: Path, capsys: Output) -> None:
    words = ("data", "tatoeba", "en-de", "--cache", tmp_path, "--json")
    command(*words)
    shown = capsys.readouterr()
    answer = json.loads(shown.out)
    assert answer["licence"].startswith("CC BY 2.0 FR")
    assert [part["name"] for part in answer["parts"]] == ["train", "test"]
    assert len(answer["files"]) == 3
    assert json.loads(shown.err.splitlines()[-1]) == {
        "done": answer["size"],
        "total": answer["size"],
        "seconds_left": 0.0,
    }
    site.asked.clear()
    command(*words)
    assert json.loads(capsys.readouterr().out) == answer
    assert site.asked == []


def test_the_list_and_what_is_not_in_it(site: Site, command: Command, capsys: Output) -> None:
    command("data")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["tatoeba", "multi30k"]
    assert any(line.startswith("wmt20 ") for line in lines)
    command("data", "--json")
    assert json.loads(capsys.readouterr().out)[0].keys() == {"corpus", "about", "licence"}
    with pytest.raises(UserError, match="sacrebleu has no test set 'europarl'"):
        command("data", "europarl", "en-de")
    with pytest.raises(UserError, match="transformer-viz data tatoeba en-de"):
        command("data", "tatoeba")
    assert site.asked == []
