"""What lies in a folder that was downloaded: where it comes from, on which terms, and checksums."""

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
    """The folder that is named, else the user's own one for this application."""
    return chosen or platformdirs.user_cache_path("transformer-viz", appauthor=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """
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
        """Raises UserError if it cannot be written."""
        atomic_write_text(folder / NAME, json.dumps(asdict(self), indent=2) + "\n")

    @property
    def bytes(self) -> int:
        return sum(size for size, _ in self.files.values())


def read_receipt(folder: Path) -> Receipt | None:
    """None unless all that was downloaded is still there in its full size."""
    try:
        values = json.loads((folder / NAME).read_text(encoding="utf-8"))
        files = {name: (int(size), str(digest)) for name, (size, digest) in values["files"].items()}
        if any((folder / name).stat().st_size != size for name, (size, _) in files.items()):
            return None
        texts = {each.name: str(values[each.name]) for each in fields(Receipt)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Receipt(**(texts | {"files": files}))  # type: ignore[arg-type]
