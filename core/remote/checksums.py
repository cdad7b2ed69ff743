"""Checksums in the forms in which sites publish them: "sha256:…", "md5:…", "git:…"."""

from __future__ import annotations

import hashlib
from pathlib import Path

_CHUNK = 1 << 20


def checksum(path: Path, kind: str) -> str:
    """Return the checksum of a file.

    "git" is the id of its blob: SHA-1 of "blob", its size, a zero byte, its bytes.

    Raises:
        OSError: the file cannot be read.
    """
    digest = hashlib.new("sha1" if kind == "git" else kind, usedforsecurity=False)
    with path.open("rb") as file:
        if kind == "git":
            digest.update(b"blob %d\0" % path.stat().st_size)
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return f"{kind}:{digest.hexdigest()}"


def agrees(path: Path, published: str) -> bool:
    return checksum(path, published.partition(":")[0]) == published
