"""A sentence whose attention is recorded: SOURCE, or SOURCE, tab, TARGET."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

LONGEST_PROBE = 300  # characters of each side


class Probe(NamedTuple):
    """A probe sentence with its ``target``, the translation fed to the decoder at every step.

    If the target is None, none is known, and the model's own translation is used, which changes as
    the model learns."""

    source: str
    target: str | None

    @classmethod
    def parse(cls, text: str) -> Probe:
        source, tab, target = text.partition("\t")
        return cls(source.strip(), target.strip() if tab else None)


def with_references(
    texts: Iterable[str], references: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Return the probes of ``texts``; those without a target get the first usable reference."""
    return tuple(_with_reference(text, references) for text in texts)


def _with_reference(text: str, references: Mapping[str, Sequence[str]]) -> str:
    source, target = Probe.parse(text)
    if target is not None:
        return text
    usable = (known for known in references.get(source, ()) if is_probe(f"{source}\t{known}"))
    return next((f"{source}\t{known}" for known in usable), text)


def is_probe(text: str) -> bool:
    """Return whether a text has one or two sides, none of them empty or too long."""
    sides = text.split("\t")
    return len(sides) <= 2 and all(0 < len(side.strip()) <= LONGEST_PROBE for side in sides)
