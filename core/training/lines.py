"""What is a line of each of a run's JSONL files, for everybody who reads them.

A run's files outlive versions of the program and may be touched by others, so a line can be valid
JSON and still be none of a run. Such an odd line is left out and counted, never trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from core.training.events import EVENTS, Step, Validation
from core.training.jsonl import LineCheck, fits, fits_class, hints_of
from core.training.probe_log import is_probe_line


@dataclass(frozen=True, kw_only=True)
class SampleLine:
    """A line of samples.jsonl."""

    step: int
    source: str
    translation: str
    references: list[str]


def is_metrics_line(value: Mapping[str, Any]) -> bool:
    """Return whether a line is a logged step or a validation; versions differ in the numbers they
    log."""
    known = hints_of(Step) | hints_of(Validation)
    present = [name for name in known if name != "step" and name in value]
    return bool(present) and all(fits(value[name], known[name]) for name in present)


def is_sample_line(value: Mapping[str, Any]) -> bool:
    return fits_class(value, SampleLine)


def is_event_line(value: Mapping[str, Any]) -> bool:
    """Return whether a line is an event as ``Event.to_json`` writes it."""
    name = value.get("event")
    return isinstance(name, str) and name in EVENTS and fits_class(value, EVENTS[name])


CHECKS: Mapping[str, LineCheck] = MappingProxyType(
    {
        "metrics.jsonl": is_metrics_line,
        "samples.jsonl": is_sample_line,
        "probes.jsonl": is_probe_line,
        "events.jsonl": is_event_line,
    }
)
"""By the name of the file."""
