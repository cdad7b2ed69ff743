"""What comes with the window: sample sentences and the icon; the models are in `core.bundled`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

FIRST_TEXT = "The animal didn't cross the street because it was too tired."


class MinimalPair(NamedTuple):
    """Two sentences of equally many words that differ in few."""

    first: str
    second: str

    @property
    def label(self) -> str:
        """The words that differ, as in "tired / wide"."""
        words = (sentence.strip(".?!").split() for sentence in self)
        differing = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
        return " / ".join(" ".join(side) for side in zip(*differing, strict=True))


@dataclass(frozen=True, slots=True)
class Subject:
    """What a sentence is a sample of.

    Attributes:
        relation: as the gold roles name it; "" for a sample of something else.
        side: "source" or "target", whose words `start` and `end` are; `start` needs `end`.
        view: that shows it.
        hint: what to try, or what there is to see.
    """

    relation: str = ""
    side: str = "source"
    start: str = ""
    end: str = ""
    view: str = "heatmap"
    hint: str = ""


@dataclass(frozen=True, slots=True)
class SampleGroup:
    """Sample sentences with a heading; `pairs` are those of the sentences that belong together,
    `subjects` those of the sentences that have one."""

    group: str
    sentences: tuple[str, ...]
    pairs: tuple[MinimalPair, ...]
    subjects: Mapping[str, Subject]


@cache
def samples() -> tuple[SampleGroup, ...]:
    """The groups of samples.json, in which a list among the sentences is a minimal pair."""
    groups = json.loads((_folder() / "samples.json").read_text(encoding="utf-8"))
    return tuple(
        SampleGroup(
            group["group"],
            tuple(_flat(group["sentences"])),
            tuple(MinimalPair(*entry) for entry in group["sentences"] if isinstance(entry, list)),
            {text: _subject(value) for text, value in group.get("subjects", {}).items()},
        )
        for group in groups
    )


def minimal_pairs() -> tuple[MinimalPair, ...]:
    return tuple(pair for group in samples() for pair in group.pairs)


def counterpart(sentence: str) -> str | None:
    """The other sentence of the minimal pair that this one belongs to."""
    for pair in minimal_pairs():
        if sentence in pair:
            return pair.second if sentence == pair.first else pair.first
    return None


def subject_of(sentence: str) -> Subject | None:
    """What this sentence is a sample of."""
    return next(
        (group.subjects[sentence] for group in samples() if sentence in group.subjects), None
    )


def icon() -> Path:
    return _folder() / "icons" / "transformer-viz.svg"


def _subject(value: Mapping[str, str]) -> Subject:
    names = {"from": "start", "to": "end"}
    return Subject(**{names.get(name, name): text for name, text in value.items()})


def _flat(entries: list[str | list[str]]) -> Iterator[str]:
    for entry in entries:
        yield from [entry] if isinstance(entry, str) else entry


def _folder() -> Path:
    return Path(str(files("resources")))
