"""The test sets that sacrebleu knows: WMT, IWSLT, Multi30k and others."""

from __future__ import annotations

import copy
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from sacrebleu.dataset import DATASETS

from core.errors import UserError
from core.files import atomic_write_text
from core.remote.corpora import INSTEAD, Part, here
from core.remote.fetching import RemoteFile
from core.remote.multi30k import LICENCE as MULTI30K
from core.remote.site import size_of

# As the pages of the shared tasks say since 2017.
_WMT = (
    "for research if you cite the overview paper of the shared task; ask the owners of the "
    "texts about other uses"
)
_LICENCES = {
    **dict.fromkeys(("wmt17", "wmt18", "wmt19", "wmt2"), _WMT),
    "iwslt": "TED talks, CC BY-NC-ND",
    "mtedx": "TEDx talks, CC BY-NC-ND 4.0",
    "mtnt": "comments from Reddit, under the terms of Reddit's API",
    "multi30k": MULTI30K,
}
_UNKNOWN = "not stated; see the site of the test set"


def set_names() -> list[str]:
    return list(DATASETS)


class SacrebleuSet:
    """A test set of sacrebleu, checked against sacrebleu's MD5 and converted to text by
    sacrebleu."""

    def __init__(self, name: str) -> None:
        """Raises UserError for a name that sacrebleu does not know."""
        if name not in DATASETS:
            raise UserError(
                f"sacrebleu has no test set {name!r}; run `transformer-viz data` to list them."
            )
        self.name = name
        self._known = DATASETS[name]

    @property
    def about(self) -> str:
        return f"{self._known.description} ({len(self._known.langpairs)} pairs)"

    @property
    def licence(self) -> str:
        found = (text for name, text in _LICENCES.items() if self.name.startswith(name))
        return next(found, _UNKNOWN)

    @property
    def site(self) -> str:
        return str((self._known.data or [""])[0])

    @property
    def pairs(self) -> list[str]:
        return list(self._known.langpairs)

    def folder(self, pair: str, data: Path) -> Path:
        """Return the folder of the set; all its pairs come in one archive."""
        if pair not in self.pairs:
            raise UserError(f"{self.name} has no {pair}; choose from {', '.join(self.pairs)}.")
        return data / "test-sets" / self.name.replace("/", "_")

    def look_up(self, pair: str, folder: Path) -> tuple[RemoteFile, ...]:
        placed = self._placed(folder)
        checksums = placed.md5 or [None] * len(placed.data)
        return tuple(
            RemoteFile(
                url=url,
                path=Path(placed._rawdir, placed._get_tarball_filename(url)),
                size=size_of(url, INSTEAD),
                checksum=None if md5 is None else f"md5:{md5}",
            )
            for url, md5 in zip(placed.data, checksums, strict=True)
        )

    def unpack(self, pair: str, folder: Path) -> None:
        if self.parts(pair, folder):
            return
        placed = self._placed(folder)
        for url in placed.data:
            _extract(Path(placed._rawdir, placed._get_tarball_filename(url)))
        try:
            placed.process_to_text(pair)
        except (OSError, ValueError, LookupError, SyntaxError, AssertionError) as error:
            raise UserError(
                f"sacrebleu could not read {self.name} {pair}: {error}; remove {folder} and "
                "download it again."
            ) from error
        # Which files are references only a parsed set can tell, so it is kept beside them.
        names = [
            Path(path).name
            for path in (placed.get_source_file(pair), *placed.get_reference_files(pair))
        ]
        atomic_write_text(folder / f"{pair}.files", "\n".join(names))

    def parts(self, pair: str, folder: Path) -> list[Part]:
        try:
            names = (folder / f"{pair}.files").read_text(encoding="utf-8").split("\n")
        except OSError:
            return []
        source, *references = (folder / name for name in names)
        return [Part.of_files(self.name, source, references)]

    def _placed(self, folder: Path) -> Any:
        """sacrebleu's own description of the set, with its files in our folder, not in its own."""
        placed = copy.copy(self._known)
        placed._outdir, placed._rawdir = str(folder), str(folder / "raw")
        return placed


def downloaded_test_set(spec: str, cache: Path | None = None) -> tuple[str, str, Part]:
    """Return set, pair and files of "SET:PAIR".

    Raises:
        UserError: there is no such set or pair, or it has not been downloaded.
    """
    name, _, pair = spec.partition(":")
    test_set = SacrebleuSet(name)
    if not pair:
        raise UserError(f"Name a language pair too, for example {name}:{test_set.pairs[0]}.")
    offer = here(test_set, pair, cache)
    if offer is None:
        raise UserError(
            f"{spec} is not on this computer; download it with: transformer-viz data {name} {pair}"
        )
    test_set.unpack(pair, offer.folder)
    return name, pair, test_set.parts(pair, offer.folder)[0]


def _extract(archive: Path) -> None:
    """Its ordinary files, beside it; nothing else, and nothing outside of that folder.

    Raises:
        UserError: it cannot be read.
    """
    try:
        for name, content in _members(archive):
            place = PurePosixPath(name)
            if place.is_absolute() or ".." in place.parts:
                raise UserError(
                    f"{archive} contains {name!r}, which lies outside its folder; it was not "
                    "unpacked."
                )
            path = archive.parent.joinpath(*place.parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(f"{archive} could not be unpacked: {error}. Download it again.") from error


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if archive.name.endswith((".tgz", ".tar.gz")):
        with tarfile.open(archive) as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isfile() else None
                if content is not None:
                    yield member.name, content
    elif archive.name.endswith(".zip"):
        with zipfile.ZipFile(archive) as zipped:
            for info in zipped.infolist():
                if not info.is_dir():
                    with zipped.open(info) as content:
                        yield info.filename, content
