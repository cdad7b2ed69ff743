"""What has been downloaded: folders in the user's cache, each with a receipt that says what lies in
it, where that comes from, and on which terms."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path

import platformdirs

from core.files import atomic_write_text
from core.remote.checksums import checksum

NAME = "download.json"


def cache_folder(chosen: Path | None) -> Path:
    """Return the named folder, or else the user's own cache for this application."""
    return chosen or platformdirs.user_cache_path("transformer-viz", appauthor=False)


def model_folder(repository: str, cache: Path | None = None) -> Path:
    """Return where a model from the hub is kept."""
    return cache_folder(cache).joinpath("models", *repository.split("/"))


def downloaded_models(cache: Path | None = None) -> dict[str, Path]:
    """Return the folders of the models that are completely downloaded, by repository."""
    folders = [path.parent for path in cache_folder(cache).glob(f"models/*/*/{NAME}")]
    return {
        f"{folder.parent.name}/{folder.name}": folder
        for folder in sorted(folders)
        if read_receipt(folder) is not None
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A record of what was downloaded.

    Attributes:
        source: a repository or a site.
        revision: of the source; nothing if it has none.
        files: of each its size in bytes and its SHA-256, by their names in the folder.
    """

    source: str
    revision: str
    licence: str
    downloaded: str
    files: dict[str, tuple[int, str]]

    @classmethod
    def of(
        cls, folder: Path, paths: Iterable[Path], *, source: str, revision: str, licence: str
    ) -> Receipt:
        return cls(
            source=source,
            revision=revision,
            licence=licence,
            downloaded=date.today().isoformat(),
            files={
                path.relative_to(folder).as_posix(): (
                    path.stat().st_size,
                    checksum(path, "sha256"),
                )
                for path in paths
            },
        )

    def write(self, folder: Path) -> None:
        """Write the receipt; raises UserError if it cannot be written."""
        atomic_write_text(folder / NAME, json.dumps(asdict(self), indent=2) + "\n")

    @property
    def bytes(self) -> int:
        return sum(size for size, _ in self.files.values())


def read_receipt(folder: Path) -> Receipt | None:
    """Read a receipt; None unless everything that was downloaded is still there in full size."""
    try:
        values = json.loads((folder / NAME).read_text(encoding="utf-8"))
        files = {name: (int(size), str(digest)) for name, (size, digest) in values["files"].items()}
        if any((folder / name).stat().st_size != size for name, (size, _) in files.items()):
            return None
        texts = {each.name: str(values[each.name]) for each in fields(Receipt)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Receipt(**(texts | {"files": files}))  # type: ignore[arg-type]
