"""Files from the network to the disk: resumed where they broke off, checked before they count.

A file is written beside its place, as ``.NAME.part``, and renamed when its checksum agrees. A part
that was left behind is continued; where the site tells no checksum or no size it starts over, since
nobody could say whether its end belongs to its beginning.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout
from huggingface_hub.errors import HfHubHTTPError, HTTPError

from core.errors import UserError
from core.files import is_file, write_problem
from core.remote.checksums import agrees
from core.remote.site import asking, streaming

CHUNK = 1 << 16
TRIES = 5  # in a row that bring nothing
SECONDS_BETWEEN_TRIES = 1.0

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file to download.

    Attributes:
        path: where it goes.
        size: in bytes; None if the site does not tell.
        checksum: as in `core.remote.checksums`; None if the site publishes none.
    """

    url: str
    path: Path
    size: int | None = None
    checksum: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def part(self) -> Path:
        return self.path.with_name(f".{self.path.name}.part")

    @property
    def resumable(self) -> bool:
        return self.size is not None and self.checksum is not None

    @property
    def here(self) -> int:
        """The number of bytes that need not be downloaded again, unless their checksum is wrong."""
        if is_file(self.path):
            size = self.path.stat().st_size
            return size if self.size in (None, size) else 0
        return self.begun

    @property
    def begun(self) -> int:
        """The number of bytes of a partial download, from which it can continue."""
        if not self.resumable or not is_file(self.part):
            return 0
        size = self.part.stat().st_size
        return size if self.size is not None and size <= self.size else 0

    def arrived(self) -> bool:
        """Return whether the file is here, in the version that the site has now."""
        if not is_file(self.path) or self.size not in (None, self.path.stat().st_size):
            return False
        return self.checksum is None or agrees(self.path, self.checksum)


def bytes_here(files: Sequence[RemoteFile]) -> int:
    return sum(file.here for file in files)


def total_size(files: Sequence[RemoteFile]) -> int | None:
    """Return the total size in bytes; None if a site does not state one of the sizes."""
    sizes = [file.size for file in files]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def fetch(files: Sequence[RemoteFile], folder: Path, progress: Progress, instead: str) -> None:
    """Download the files that are not here yet; after an interruption, the next call continues.

    Args:
        folder: that they all go into, locked meanwhile.
        progress: hears now and then how many bytes are here.
        instead: what can be done without the network, as the end of a sentence.

    Raises:
        UserError: a site is not reached, or gives something else than it announced; the disk is
            full or not writable; another process is downloading into the folder.
    """
    with _locked(folder):
        _require_space(files, folder)
        before = 0
        for file in files:
            if not file.arrived():
                _fetch_one(file, partial(_told_with, progress, before), instead)
            before += file.path.stat().st_size
            progress(before)


def _told_with(progress: Progress, before: int, here: int) -> None:
    progress(before + here)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout as error:
        raise UserError(
            f"Another process is downloading into {folder}; wait for it to finish, or stop it."
        ) from error
    except OSError as error:
        raise UserError(write_problem(folder, error)) from error


def _require_space(files: Sequence[RemoteFile], folder: Path) -> None:
    needed = sum(max(0, (file.size or 0) - file.here) for file in files)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise UserError(
            f"{megabytes(needed)} are needed in {folder}, but only {megabytes(free)} are free; "
            "free some space, or choose another folder with --cache."
        )


def _fetch_one(file: RemoteFile, progress: Progress, instead: str) -> None:
    file.path.parent.mkdir(parents=True, exist_ok=True)
    at_first, in_vain = file.begun, 0
    while True:
        before = file.begun
        try:
            with asking(file.url, instead):
                _continue(file, progress)
            break
        except UserError as error:
            in_vain = 0 if file.begun > before else in_vain + 1
            # Only a connection that did work and then broke is worth another try.
            if not _broke(error) or file.begun == at_first or in_vain == TRIES:
                raise
            time.sleep(SECONDS_BETWEEN_TRIES)
    _require_whole(file)
    file.part.replace(file.path)


def _broke(error: UserError) -> bool:
    cause = error.__cause__
    return isinstance(cause, HTTPError) and not isinstance(cause, HfHubHTTPError)


def _continue(file: RemoteFile, progress: Progress) -> None:
    """Append what is missing to the part, or start over if the site does not go on there."""
    have = file.begun
    if have == file.size and is_file(file.part):
        return
    headers = {**file.headers, **({"Range": f"bytes={have}-"} if have else {})}
    with streaming(file.url, headers) as response:
        goes_on = response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        have = have if goes_on else 0
        with file.part.open("ab" if goes_on else "wb") as part:
            for chunk in response.iter_bytes(CHUNK):
                part.write(chunk)
                have += len(chunk)
                progress(have)
                if file.size is not None and have > file.size:
                    break


def _require_whole(file: RemoteFile) -> None:
    size = file.part.stat().st_size
    whole = file.size is None or size == file.size
    if not whole or not (file.checksum is None or agrees(file.part, file.checksum)):
        file.part.unlink()
        raise UserError(
            f"{file.path.name} arrived damaged: its {'checksum' if whole else 'size'} does not "
            "match the announced one. It was deleted; try again."
        )


def megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
