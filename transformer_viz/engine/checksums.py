"""What a model on disk is told apart by, whatever it is called."""

import hashlib
from pathlib import Path

from core.files import is_file, is_folder


def checksum(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal; of a folder that of the files in it, with their names.

    Reads all of it, so not in the window's thread. Raises OSError.
    """
    if not is_folder(path):
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    files = sorted(one for one in path.iterdir() if is_file(one))
    lines = "".join(f"{checksum(one)} {one.name}\n" for one in files)
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()
