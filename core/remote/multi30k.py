"""Multi30k (Elliott et al. 2016): captions of pictures in English, German, French and Czech."""

from __future__ import annotations

from pathlib import Path

from core.errors import UserError
from core.remote.corpora import INSTEAD, Part, languages_of
from core.remote.fetching import RemoteFile
from core.remote.site import get_json

LANGUAGES = ("en", "de", "fr", "cs")
LISTING = "https://api.github.com/repos/multi30k/dataset/contents/data/task1/raw"
LICENCE = (
    "not stated; it describes images from Flickr30k, which are for non-commercial research and "
    "education"
)


class Multi30k:
    """The Multi30k corpus; its repository states each file's size and git id."""

    name = "multi30k"
    about = "29,000 image captions, with validation and test sets: en, de, fr and cs"
    licence = LICENCE
    site = "https://github.com/multi30k/dataset"

    def folder(self, pair: str, data: Path) -> Path:
        for language in languages_of(pair):
            if language not in LANGUAGES:
                raise UserError(f"Multi30k has no {language}; choose from {', '.join(LANGUAGES)}.")
        return data / self.name / pair

    def look_up(self, pair: str, folder: Path) -> tuple[RemoteFile, ...]:
        listed = get_json(LISTING, INSTEAD)
        try:
            entries = {str(entry["name"]): entry for entry in listed}
            files = {
                name: RemoteFile(
                    url=str(entry["download_url"]),
                    path=folder / name,
                    size=int(entry["size"]),
                    checksum=f"git:{entry['sha']}",
                )
                for name, entry in entries.items()
                if name.endswith(".gz") and Path(name).name == name
            }
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(
                f"{self.site} returned an unreadable list of files; {INSTEAD}."
            ) from error
        source, target = languages_of(pair)
        return tuple(
            files[f"{part}.{language}.gz"]
            for part in _parts(files, source, target)
            for language in (source, target)
        )

    def unpack(self, pair: str, folder: Path) -> None:
        """Do nothing, because gzipped files are read as they are."""

    def parts(self, pair: str, folder: Path) -> list[Part]:
        source, target = languages_of(pair)
        names = {path.name: path for path in folder.glob("*.gz")}
        return [
            Part.of_files(part, names[f"{part}.{source}.gz"], [names[f"{part}.{target}.gz"]])
            for part in _parts(names, source, target)
        ]


def _parts(names: object, source: str, target: str) -> list[str]:
    """Those that both languages have: train, val, then the test sets."""
    assert isinstance(names, dict)
    found = {name.removesuffix(f".{source}.gz") for name in names if name.endswith(f".{source}.gz")}
    both = [part for part in found if f"{part}.{target}.gz" in names]
    return sorted(both, key=lambda part: (part != "train", part != "val", part))
