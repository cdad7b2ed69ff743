"""The sample translations of a run as rows: all sentences of one step, or one over all steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from transformer_viz.training.changes import changed_spans


@dataclass(frozen=True, slots=True)
class Sample:
    """One sentence's translation at one validation.

    Attributes:
        before: the step of the validation before it; None for the first.
        changed: [start, end) characters of the translation that are new since then.
    """

    step: int
    source: str
    translation: str
    references: tuple[str, ...]
    before: int | None
    changed: tuple[tuple[int, int], ...]

    @property
    def exact(self) -> bool:
        """Whether the translation is one of the references."""
        return self.translation in self.references


class SampleTable:
    """All samples, sorted by step and sentence; a sentence is known by its source."""

    def __init__(self, lines: Sequence[dict[str, Any]]) -> None:
        self.steps: tuple[int, ...] = tuple(sorted({int(line["step"]) for line in lines}))
        self.sources: tuple[str, ...] = tuple(dict.fromkeys(line["source"] for line in lines))
        self._samples: dict[tuple[int, str], Sample] = {}
        newest: dict[str, Sample] = {}
        for line in sorted(lines, key=lambda line: int(line["step"])):
            sample = _sample(line, newest.get(line["source"]))
            self._samples[sample.step, sample.source] = newest[sample.source] = sample

    def at(self, step: int) -> list[Sample]:
        """Return the samples of all sentences at one step."""
        return self._found((step, source) for source in self.sources)

    def of(self, source: str) -> list[Sample]:
        """Return the samples of one sentence at all steps, the newest first."""
        return self._found((step, source) for step in reversed(self.steps))

    def _found(self, keys: Iterable[tuple[int, str]]) -> list[Sample]:
        return [self._samples[key] for key in keys if key in self._samples]


def _sample(line: dict[str, Any], before: Sample | None) -> Sample:
    translation = line["translation"]
    changed = [] if before is None else changed_spans(before.translation, translation)
    return Sample(
        step=int(line["step"]),
        source=line["source"],
        translation=translation,
        references=tuple(line["references"]),
        before=None if before is None else before.step,
        changed=tuple(changed),
    )
