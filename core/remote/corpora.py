"""Real corpora that can be downloaded, and where their files lie."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.errors import UserError
from core.remote.cache import Receipt, cache_folder, read_receipt
from core.remote.fetching import Progress, RemoteFile, fetch

INSTEAD = "copy its folder from a computer that has it, or use your own files"
_PAIR = re.compile(r"([A-Za-z_]+)-([A-Za-z_]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a corpus, such as its training or test set.

    Attributes:
        corpus: as commands take it, for --data, --validation and --corpus.
        source, references: the same as single files, aligned line by line; none for a table.
    """

    name: str
    corpus: str
    source: Path | None = None
    references: tuple[Path, ...] = ()

    @classmethod
    def of_files(cls, name: str, source: Path, references: Sequence[Path]) -> Part:
        corpus = f"{source},{references[0]}"
        return cls(name=name, corpus=corpus, source=source, references=tuple(references))


class Corpus(Protocol):
    """A corpus that can be downloaded.

    Attributes:
        about: what it is and which pairs it has, as one line.
        licence: on which terms.
        site: where it comes from.
    """

    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def licence(self) -> str: ...
    @property
    def site(self) -> str: ...

    def folder(self, pair: str, data: Path) -> Path:
        """Return where the files of a pair are kept, within the folder of all data.

        Raises:
            UserError: there is no such pair.
        """

    def look_up(self, pair: str, folder: Path) -> tuple[RemoteFile, ...]:
        """Ask the site for sizes and checksums; raises UserError."""

    def unpack(self, pair: str, folder: Path) -> None:
        """Make the parts from the downloaded files; raises UserError if these cannot be read."""

    def parts(self, pair: str, folder: Path) -> list[Part]:
        """Return the parts that exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusOffer:
    """The files to download for one pair of a corpus; none if all are already here."""

    corpus: Corpus
    pair: str
    folder: Path
    files: tuple[RemoteFile, ...] = ()


def data_folder(cache: Path | None = None) -> Path:
    return cache_folder(cache) / "data"


def here(corpus: Corpus, pair: str, cache: Path | None = None) -> CorpusOffer | None:
    """Return the corpus if it was downloaded, without using the network.

    Raises:
        UserError: there is no such pair.
    """
    folder = corpus.folder(pair, data_folder(cache))
    if read_receipt(folder) is None:
        return None
    return CorpusOffer(corpus=corpus, pair=pair, folder=folder)


def look_up(corpus: Corpus, pair: str, cache: Path | None = None) -> CorpusOffer:
    """Raises UserError if there is no such pair, or the site does not answer."""
    folder = corpus.folder(pair, data_folder(cache))
    return CorpusOffer(corpus=corpus, pair=pair, folder=folder, files=corpus.look_up(pair, folder))


def bring(offer: CorpusOffer, progress: Progress) -> list[Part]:
    """Download what is missing, check it and unpack it.

    Raises:
        UserError: as ``core.remote.fetching.fetch`` does, or what came cannot be unpacked.
    """
    corpus, folder = offer.corpus, offer.folder
    if offer.files:
        fetch(offer.files, folder, progress, INSTEAD)
    corpus.unpack(offer.pair, folder)
    if offer.files:
        Receipt.of(
            folder,
            [file.path for file in offer.files],
            source=corpus.site,
            revision="",
            licence=corpus.licence,
        ).write(folder)
    return corpus.parts(offer.pair, folder)


def languages_of(pair: str) -> tuple[str, str]:
    """Return the two languages of a pair such as "en-de"; raises UserError for anything else."""
    found = _PAIR.fullmatch(pair)
    if found is None or found[1] == found[2]:
        raise UserError(f"{pair!r} is not a language pair; write it like en-de.")
    return found[1], found[2]
