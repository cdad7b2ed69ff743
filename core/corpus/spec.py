"""Corpora by name: "FILE.tsv", "FILE:2:4", "FILE.tmx:en:de" or "SOURCE,TARGET"."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from core.errors import UserError
from core.files import is_file

_PACKED = r"(\.(gz|bz2|xz|zip))?"
_TRANSLATED = re.compile(rf"\.(tsv|tmx){_PACKED}$", re.IGNORECASE)
TMX = re.compile(rf"\.tmx{_PACKED}$", re.IGNORECASE)
_LANGUAGES = re.compile(r"(?P<file>.+):(?P<source>[\w-]+):(?P<target>[\w-]+)")
_COLUMNS = re.compile(r"(?P<file>.+):(?P<source>[1-9]\d?):(?P<target>[1-9]\d?)")


class Spec(NamedTuple):
    """The files that a text names and, of one file, the languages or the columns, from 0."""

    files: list[Path]
    languages: tuple[str, str] | None = None
    columns: tuple[int, int] | None = None


def files_of(spec: str) -> list[Path]:
    """Return the one file of "FILE.tsv", "FILE:2:4" or "FILE.tmx:en:de", the two of
    "SOURCE,TARGET".

    Raises:
        UserError: the spec names more than two files, or one column twice.
    """
    return parse(spec).files


def names_of(spec: str) -> list[str]:
    """Return the names of the files, without folders, with any languages or columns named."""
    files, languages, columns = parse(spec)
    numbers = () if columns is None else [str(column + 1) for column in columns]
    return [":".join([path.name, *(languages or numbers)]) for path in files]


def is_translated(spec: str) -> bool:
    """Return whether a spec, by its form, names text in two languages instead of plain lines."""
    files, _, columns = parse(spec)
    return len(files) == 2 or columns is not None or bool(_TRANSLATED.search(files[0].name))


def parse(spec: str) -> Spec:
    """Read a spec; a file that is there under the whole text comes first. Raises `UserError`."""
    if is_file(spec):
        return Spec([Path(spec)])
    named = _LANGUAGES.fullmatch(spec)
    if named and TMX.search(named["file"]):
        return Spec([Path(named["file"])], languages=(named["source"], named["target"]))
    named = _COLUMNS.fullmatch(spec)
    if named and (is_file(named["file"]) or "," not in named["file"]):
        source, target = int(named["source"]), int(named["target"])
        if source == target:
            raise UserError(
                f"{spec!r} names one column twice; name two different ones, for example FILE:1:2."
            )
        return Spec([Path(named["file"])], columns=(source - 1, target - 1))
    names = spec.split(",")
    if len(names) > 2:
        raise UserError(
            f"Data {spec!r} is neither FILE.tsv, FILE.tmx nor SOURCE,TARGET: it has too many "
            "commas."
        )
    return Spec([Path(name) for name in names])
