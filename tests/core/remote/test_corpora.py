from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from sacrebleu.dataset import DATASETS

from core.corpus.aligned import read_aligned
from core.errors import UserError
from core.remote import multi30k, tatoeba
from core.remote.corpora import Corpus, Part, bring, here, languages_of, look_up
from core.remote.multi30k import Multi30k
from core.remote.sacrebleu_sets import SacrebleuSet, downloaded_test_set
from core.remote.tatoeba import Tatoeba, held_out_sources
from tests.core.remote.corpus_sites import (
    WMT,
    archive,
    md5,
    publish_multi30k,
    publish_tatoeba,
    wmt_archive,
)
from tests.core.remote.sites import Site

ENGLISH, GERMAN = ["The dog  sleeps.", "A &amp; B."], ["Der Hund schläft.", "A &amp; B."]


@pytest.fixture
def sites(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """All three corpora on one server."""
    publish_tatoeba(site)
    publish_multi30k(site)
    monkeypatch.setattr(tatoeba, "EXPORTS", site.url)
    monkeypatch.setattr(multi30k, "LISTING", f"{site.url}/listing")
    put_test_set(site, monkeypatch, wmt_archive(ENGLISH, GERMAN))
    return site


def put_test_set(site: Site, monkeypatch: pytest.MonkeyPatch, data: bytes, name: str = WMT) -> None:
    site.files["/test-filtered.tgz"] = data
    monkeypatch.setattr(DATASETS[name], "data", [f"{site.url}/test-filtered.tgz"])
    monkeypatch.setattr(DATASETS[name], "md5", [md5(data)])


def brought(corpus: Corpus, pair: str, cache: Path) -> dict[str, Part]:
    parts = bring(look_up(corpus, pair, cache), lambda here: None)
    return {part.name: part for part in parts}


def test_tatoeba_pairs_what_is_linked_and_holds_a_test_set_out(sites: Site, tmp_path: Path) -> None:
    parts = brought(Tatoeba(), "en-de", tmp_path)
    train, test = (read_aligned(parts[name].corpus).pairs for name in ("train", "test"))
    assert len(test) in (4, 5)  # sentence 1 has two translations
    assert len(train) + len(test) == 41
    assert not {source for source, _ in train} & {source for source, _ in test}
    assert ("This is sentence 7.", "Das ist Satz 7.") in train + test
    assert {target for source, target in train + test if source == "This is sentence 1."} == {
        "Das ist Satz 1.",
        "Satz 1 ist das.",
    }
    assert parts.keys() == brought(Tatoeba(), "eng-deu", tmp_path).keys()


def test_what_is_held_out_hardly_changes_when_sentences_come() -> None:
    sources = [f"sentence {number}" for number in range(1_000)]
    before, after = held_out_sources(sources), held_out_sources([*sources, "a new one"])
    assert len(before) == 100
    assert len(before & after) >= 99
    assert held_out_sources(sources[:9]) == set()


def test_a_damaged_export_is_thrown_away(sites: Site, tmp_path: Path) -> None:
    path = "/deu/deu_sentences.tsv.bz2"
    whole = sites.files[path]
    sites.files[path] = whole[: len(whole) // 2]
    with pytest.raises(UserError, match=r"deu_sentences\.tsv\.bz2 was damaged .* try again"):
        brought(Tatoeba(), "en-de", tmp_path)
    sites.files[path] = whole
    assert brought(Tatoeba(), "en-de", tmp_path).keys() == {"train", "test"}


def test_a_pair_that_tatoeba_does_not_have(sites: Site, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Tatoeba has no translations between eng and fra; "):
        look_up(Tatoeba(), "en-fr", tmp_path)
    sites.refused["/eng/eng-deu_links.tsv.bz2"] = 503
    with pytest.raises(UserError, match="has a server error"):
        look_up(Tatoeba(), "en-de", tmp_path)


def test_multi30k_has_the_parts_that_both_languages_have(sites: Site, tmp_path: Path) -> None:
    offer = look_up(Multi30k(), "de-en", tmp_path)
    assert all(file.checksum for file in offer.files)
    parts = {part.name: part for part in bring(offer, lambda here: None)}
    assert list(parts) == ["train", "val", "test_2016_flickr", "test_2018_flickr"]
    assert read_aligned(parts["val"].corpus).pairs[1] == ("val de 1", "val en 1")
    assert "test_2018_flickr" not in brought(Multi30k(), "en-cs", tmp_path)
    with pytest.raises(UserError, match="Multi30k has no it; choose from en, de, fr, cs"):
        look_up(Multi30k(), "en-it", tmp_path)


def test_a_listing_that_is_none(sites: Site, tmp_path: Path) -> None:
    for listing in (b"no json", b"3", b'[{"name": "train.en.gz"}]'):
        sites.files["/listing"] = listing
        with pytest.raises(UserError, match=r"unreadable answer|unreadable list"):
            look_up(Multi30k(), "en-de", tmp_path)


def test_a_test_set_becomes_text(sites: Site, tmp_path: Path) -> None:
    part = brought(SacrebleuSet(WMT), "en-de", tmp_path)[WMT]
    assert part.source is not None
    assert part.source.read_text().split("\n")[0] == "The dog sleeps."
    assert [path.read_text() for path in part.references] == ["Der Hund schläft.\nA &amp; B.\n"]
    sites.asked.clear()
    assert downloaded_test_set(f"{WMT}:en-de", tmp_path) == (WMT, "en-de", part)
    name, pair, other = downloaded_test_set(f"{WMT}:de-en", tmp_path)  # the same archive
    assert (name, pair) == (WMT, "de-en")
    assert other.source is not None
    assert other.source.read_text().startswith("Der Hund schläft.")
    assert sites.asked == []


def test_test_sets_that_are_not_there(sites: Site, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="sacrebleu has no test set 'wmt99'"):
        SacrebleuSet("wmt99")
    with pytest.raises(UserError, match="wmt14 has no en-xx; choose from cs-en, en-cs"):
        look_up(SacrebleuSet(WMT), "en-xx", tmp_path)
    with pytest.raises(UserError, match="Name a language pair too, for example wmt14:cs-en"):
        downloaded_test_set(WMT, tmp_path)
    message = (
        "wmt14:en-de is not on this computer; download it with: transformer-viz data wmt14 en-de"
    )
    with pytest.raises(UserError, match=message):
        downloaded_test_set(f"{WMT}:en-de", tmp_path)
    assert sites.asked == []


def test_an_archive_that_is_another_one(
    sites: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites.files["/test-filtered.tgz"] = archive({"test/other": b"other"})
    with pytest.raises(UserError, match="arrived damaged: its checksum"):
        brought(SacrebleuSet(WMT), "en-de", tmp_path)
    put_test_set(sites, monkeypatch, archive({"test/other": b"other"}))
    with pytest.raises(UserError, match="sacrebleu could not read wmt14 en-de"):
        brought(SacrebleuSet(WMT), "en-de", tmp_path)


def test_an_archive_that_is_damaged(
    sites: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tar = gzip.decompress(archive({"test/content": bytes(1 << 20)}))
    begin, rest = gzip.compress(tar[: 1 << 19]), bytearray(gzip.compress(tar[1 << 19 :]))
    rest[10] = 0b111  # behind its header: a block of a type that there is not
    put_test_set(sites, monkeypatch, begin + rest)
    with pytest.raises(UserError, match=r"\.tgz could not be unpacked: "):
        brought(SacrebleuSet(WMT), "en-de", tmp_path)


@pytest.mark.parametrize("name", ["../outside", "/outside", "test/../../../outside"])
def test_an_archive_stays_in_its_folder(
    sites: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    put_test_set(sites, monkeypatch, archive({name: b"out"}))
    with pytest.raises(UserError, match="outside its folder; it was not unpacked"):
        brought(SacrebleuSet(WMT), "en-de", tmp_path / "cache")
    assert not list(tmp_path.glob("outside"))


@pytest.mark.parametrize(("corpus", "pair"), [("tatoeba", "en-de"), ("multi30k", "en-de")])
def test_what_is_here_is_not_asked_for(sites: Site, tmp_path: Path, corpus: str, pair: str) -> None:
    made: Corpus = {"tatoeba": Tatoeba(), "multi30k": Multi30k()}[corpus]
    assert here(made, pair, tmp_path) is None
    parts = brought(made, pair, tmp_path)
    sites.asked.clear()
    offer = here(made, pair, tmp_path)
    assert offer is not None
    assert {part.name: part for part in bring(offer, lambda here: None)} == parts
    assert sites.asked == []


@pytest.mark.parametrize("pair", ["", "en", "en-", "en-en", "en-de-fr", "../..-x"])
def test_what_is_no_pair(pair: str) -> None:
    with pytest.raises(UserError, match="is not a language pair; write it like en-de"):
        languages_of(pair)
