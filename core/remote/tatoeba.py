"""Tatoeba: everyday sentences and their translations by volunteers, exported every week."""

from __future__ import annotations

import bz2
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from zlib import crc32

from core.errors import UserError
from core.files import atomic_write_text, is_file
from core.remote.corpora import INSTEAD, Part, languages_of
from core.remote.fetching import RemoteFile
from core.remote.site import size_of, was_missing

EXPORTS = "https://downloads.tatoeba.org/exports/per_language"
MOST_TEST_SOURCES = 2_000

# Tatoeba names languages by ISO 639-3.
_CODES = {
    "ar": "ara",
    "bg": "bul",
    "ca": "cat",
    "cs": "ces",
    "da": "dan",
    "de": "deu",
    "el": "ell",
    "en": "eng",
    "eo": "epo",
    "es": "spa",
    "et": "est",
    "eu": "eus",
    "fa": "pes",
    "fi": "fin",
    "fr": "fra",
    "ga": "gle",
    "he": "heb",
    "hi": "hin",
    "hr": "hrv",
    "hu": "hun",
    "id": "ind",
    "is": "isl",
    "it": "ita",
    "ja": "jpn",
    "ko": "kor",
    "la": "lat",
    "lt": "lit",
    "lv": "lvs",
    "mk": "mkd",
    "nl": "nld",
    "no": "nob",
    "pl": "pol",
    "pt": "por",
    "ro": "ron",
    "ru": "rus",
    "sk": "slk",
    "sl": "slv",
    "sr": "srp",
    "sv": "swe",
    "tr": "tur",
    "uk": "ukr",
    "vi": "vie",
    "zh": "cmn",
}

Pair = tuple[str, str]


class Tatoeba:
    """The Tatoeba corpus; its exports have no published checksums, but bzip2's own are verified on
    reading."""

    name = "tatoeba"
    about = "short everyday sentences in about 400 languages: any pair, such as en-de or eng-deu"
    licence = "CC BY 2.0 FR; credit the Tatoeba project, tatoeba.org, wherever you publish them"
    site = "https://tatoeba.org"

    def folder(self, pair: str, data: Path) -> Path:
        return data / self.name / "-".join(self._codes(pair))

    def look_up(self, pair: str, folder: Path) -> tuple[RemoteFile, ...]:
        source, target = self._codes(pair)
        urls = {
            f"{code}/{name}": f"{EXPORTS}/{code}/{name}"
            for code, name in (
                (source, f"{source}-{target}_links.tsv.bz2"),
                (source, f"{source}_sentences.tsv.bz2"),
                (target, f"{target}_sentences.tsv.bz2"),
            )
        }
        try:
            return tuple(
                RemoteFile(
                    url=url, path=folder / "raw" / Path(name).name, size=size_of(url, INSTEAD)
                )
                for name, url in urls.items()
            )
        except UserError as error:
            if not was_missing(error):
                raise
            raise UserError(
                f"Tatoeba has no translations between {source} and {target}; see tatoeba.org for "
                "its languages and their three-letter codes."
            ) from error

    def unpack(self, pair: str, folder: Path) -> None:
        """Write train.tsv and test.tsv; no source occurs in both."""
        if all(is_file(folder / f"{part}.tsv") for part in ("train", "test")):
            return
        source, target = self._codes(pair)
        pairs = list(_translations(folder / "raw", source, target))
        held_out = held_out_sources({source for source, _ in pairs})
        if not held_out:
            raise UserError(
                f"Tatoeba has too few pairs of {source} and {target}; choose another pair."
            )
        for part, wanted in (("train", False), ("test", True)):
            rows = [f"{one}\t{other}\n" for one, other in pairs if (one in held_out) is wanted]
            atomic_write_text(folder / f"{part}.tsv", "".join(rows))

    def parts(self, pair: str, folder: Path) -> list[Part]:
        return [
            Part(name=path.stem, corpus=str(path))
            for path in (folder / "train.tsv", folder / "test.tsv")
            if is_file(path)
        ]

    def _codes(self, pair: str) -> Pair:
        source, target = languages_of(pair)
        return _CODES.get(source, source), _CODES.get(target, target)


def held_out_sources(sources: Iterable[str]) -> set[str]:
    """Choose at most a tenth of the sources by checksum, so that they are mostly the same in every
    export."""
    ordered = sorted(sources, key=lambda text: (crc32(text.encode()), text))
    return set(ordered[: min(MOST_TEST_SOURCES, len(ordered) // 10)])


def _translations(raw: Path, source: str, target: str) -> Iterator[Pair]:
    """Each pair once, in the order of the ids."""
    links = sorted(
        (int(one), int(other)) for one, other in _rows(raw / f"{source}-{target}_links.tsv.bz2", 2)
    )
    sources = _sentences(raw, source, {one for one, _ in links})
    targets = _sentences(raw, target, {other for _, other in links})
    seen = set()
    for one, other in links:
        pair = (sources.get(one, ""), targets.get(other, ""))
        if all(pair) and pair not in seen:
            seen.add(pair)
            yield pair


def _sentences(raw: Path, language: str, ids: Container[int]) -> dict[int, str]:
    return {
        int(number): text.strip()
        for number, _, text in _rows(raw / f"{language}_sentences.tsv.bz2", 3)
        if int(number) in ids
    }


def _rows(path: Path, columns: int) -> Iterator[list[str]]:
    try:
        with bz2.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                row = line.rstrip("\n").split("\t")
                if len(row) >= columns and row[0].isdecimal():
                    yield row[:columns]
    except (OSError, EOFError, ValueError) as error:
        path.unlink(missing_ok=True)
        raise UserError(
            f"{path.name} was damaged ({error}) and has been deleted; try again."
        ) from error
