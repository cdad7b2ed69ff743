"""What Tatoeba, the repository of Multi30k and the archive of a test set hold, in small."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping

from tests.core.remote.sites import Site, git_id

WMT = "wmt14"
SGM = """<refset setid="newstest2014" srclang="any" trglang="{language}">
<doc sysid="ref" docid="a" genre="news" origlang="en">
<p>
{segments}
</p>
</doc>
</refset>
"""


def publish_tatoeba(site: Site, pairs: int = 40) -> None:
    """English sentences 1 to `pairs`, each with one German one; a second one for the first."""
    english = {number: f"This is sentence {number}." for number in range(1, pairs + 1)}
    german = {1000 + number: f"Das ist Satz {number}." for number in english}
    links = [(number, 1000 + number) for number in english]
    english[9_000] = "Nobody has translated this."
    german[2_000] = "Satz 1 ist das."
    links.append((1, 2_000))
    links.append((1, 7_777))  # deleted since
    for code, sentences in (("eng", english), ("deu", german)):
        rows = "".join(f"{number}\t{code}\t{text}\n" for number, text in sentences.items())
        site.files[f"/{code}/{code}_sentences.tsv.bz2"] = bz2.compress(rows.encode())
    rows = "".join(f"{one}\t{other}\n" for one, other in reversed(links))
    site.files["/eng/eng-deu_links.tsv.bz2"] = bz2.compress(rows.encode())


def publish_multi30k(site: Site, lines: int = 3) -> None:
    """Two languages with all parts, a third one without the newest test set."""
    listed = []
    for part in ("train", "val", "test_2016_flickr", "test_2018_flickr"):
        for language in ("en", "de", "cs"):
            if (part, language) == ("test_2018_flickr", "cs"):
                continue
            text = "".join(f"{part} {language} {line}\n" for line in range(lines))
            data = gzip.compress(text.encode(), mtime=0)
            name = f"{part}.{language}.gz"
            site.files[f"/raw/{name}"] = data
            listed.append(
                {
                    "name": name,
                    "size": len(data),
                    "sha": git_id(data),
                    "download_url": f"{site.url}/raw/{name}",
                }
            )
    listed.append({"name": "README", "size": 1, "sha": "0", "download_url": f"{site.url}/README"})
    site.files["/listing"] = json.dumps(listed).encode()


def archive(files: Mapping[str, bytes]) -> bytes:
    """A .tgz."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def wmt_archive(english: list[str], german: list[str]) -> bytes:
    """As of WMT 2014, with the test set of English and German in both directions."""
    files = {}
    for side, language, texts in (
        ("src", "en", english),
        ("ref", "de", german),
        ("src", "de", german),
        ("ref", "en", english),
    ):
        segments = "\n".join(
            f'<seg id="{number}">{text}</seg>' for number, text in enumerate(texts, start=1)
        )
        text = SGM.format(language=language, segments=segments)
        files[f"test/newstest2014-deen-{side}.{language}.sgm"] = text.encode()
    return archive(files)


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
