"""Each form in which test sets are published, in small, on loopback."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from sacrebleu.dataset import DATASETS

from core.remote.corpora import bring, look_up
from core.remote.sacrebleu_sets import SacrebleuSet, downloaded_test_set, set_names
from tests.core.remote.corpus_sites import SGM, archive, md5
from tests.core.remote.sites import Site

SOURCE, REFERENCE = ["One dog sleeps.", "It is tired."], ["Ein Hund schläft.", "Er ist müde."]

XML = """<dataset id="test"><doc origlang="en" id="a">
<src lang="en"><p>{source}</p></src>
<ref lang="de" translator="A"><p>{reference}</p></ref>
<ref lang="de" translator="B"><p>{reference}</p></ref>
</doc></dataset>"""


def segments(texts: list[str]) -> str:
    return "\n".join(f'<seg id="{n}">{text}</seg>' for n, text in enumerate(texts, start=1))


def content(path: str, texts: list[str]) -> bytes:
    if "wmttest" in path or "newstest2021" in path:
        text = XML.format(source=segments(SOURCE), reference=segments(REFERENCE))
    elif path.endswith((".sgm", ".xml")):
        text = SGM.format(language="xx", segments=segments(texts))
    elif path.endswith(".tsv"):
        rows = zip(SOURCE, REFERENCE, strict=True)
        text = "".join(f"1\t2\t{source}\t{reference}\n" for source, reference in rows)
    else:
        text = "".join(f"{line}\n" for line in texts)
    data = text.encode()
    return gzip.compress(data, mtime=0) if path.endswith(".gz") else data


def packed(kind: str, files: Mapping[str, bytes]) -> bytes:
    if not kind.endswith(".zip"):
        return archive(files)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, data in files.items():
            made.writestr(name, data)
    return buffer.getvalue()


def publish_set(site: Site, name: str, pair: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archives of a set, and files that it has outside of them, at its own file names."""
    known: Any = DATASETS[name]
    said = known.langpairs[pair]
    paths = [said["path"]] if isinstance(said, dict) else [path.split(":")[-1] for path in said]
    files = {
        path: content(path, SOURCE if place == 0 else REFERENCE) for place, path in enumerate(paths)
    }
    prefix = name.replace("/", "_") + "."  # of files that are published outside of an archive
    packed_files = {path: data for path, data in files.items() if not path.startswith(prefix)}
    published = []
    for number, url in enumerate(known.data):
        base = PurePosixPath(url).name
        data = files.get(prefix + base) or packed(base, packed_files)
        site.files[f"/{number}/{base}"] = data
        published.append((f"{site.url}/{number}/{base}", md5(data)))
    monkeypatch.setattr(known, "data", [url for url, _ in published])
    monkeypatch.setattr(known, "md5", [digest for _, digest in published])


@pytest.mark.parametrize(
    ("name", "pair", "references"),
    [
        ("wmt19", "en-de", 1),
        ("wmt19/google/ar", "en-de", 1),
        ("wmt20/robust/set1", "en-de", 1),
        ("wmt21/AB", "en-de", 2),
        ("wmt22", "cs-en", 1),
        ("iwslt17", "en-de", 1),
        ("mtnt2019", "en-fr", 1),
        ("mtedx/test", "es-en", 1),
        ("multi30k/2016", "en-de", 1),
        ("multi30k/2018", "en-de", 1),
    ],
)
def test_sources_and_references(
    site: Site,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    pair: str,
    references: int,
) -> None:
    publish_set(site, name, pair, monkeypatch)
    (part,) = bring(look_up(SacrebleuSet(name), pair, tmp_path), lambda here: None)
    assert part.source is not None
    assert part.source.read_text().splitlines() == SOURCE
    assert [path.read_text().splitlines() for path in part.references] == [REFERENCE] * references
    assert downloaded_test_set(f"{name}:{pair}", tmp_path) == (name, pair, part)


def test_terms_are_those_that_the_owners_state() -> None:
    assert SacrebleuSet("wmt20").licence.startswith("for research if you cite the overview paper")
    assert SacrebleuSet("wmt14").licence.startswith("not stated")
    assert "Flickr30k" in SacrebleuSet("multi30k/2016").licence
    assert all(SacrebleuSet(name).licence for name in set_names())
