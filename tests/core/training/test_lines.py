"""What counts as a line of a run's files, and what is odd."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.training.events import EVENTS, Event, Failed, Interrupted, Started, Step, Validation
from core.training.jsonl import parse_line
from core.training.lines import CHECKS

STEP = Step(
    step=10,
    epoch=0,
    train_loss=1.5,
    gloss_loss=None,
    learning_rate=0.1,
    gradient_norm=2.0,
    position_cosine=0.1,
    tokens_per_second=10.0,
    seconds=1.0,
)
SAMPLE = {"step": 1, "source": "a", "translation": "b", "references": ["c"]}


def parsed(name: str, values: object) -> dict[str, Any] | None:
    return parse_line(json.dumps(values), CHECKS[name])


def test_what_the_program_writes_counts() -> None:
    assert parsed("metrics.jsonl", STEP.to_dict()) == STEP.to_dict()
    assert parsed("samples.jsonl", SAMPLE) == SAMPLE
    stopped = Interrupted(step=0, run=None)
    for event in (STEP, stopped, Failed(step=3, message="m")):
        assert parse_line(event.to_json(), CHECKS["events.jsonl"]) == json.loads(event.to_json())


def test_lines_of_earlier_versions_count() -> None:
    """They lacked some numbers, and events some fields that have a default now."""
    assert parsed("metrics.jsonl", {"step": 3, "train_loss": 2})
    needed = [f.name for f in dataclasses.fields(Started) if f.default is dataclasses.MISSING]
    started: dict[str, Any] = dict.fromkeys(needed, 1)
    texts = {"event": "started", "run": "r", "device": "cpu", "precision": "fp32"}
    started |= {**texts, "resumed": False, "data": ["grammar"]}
    assert parsed("events.jsonl", started)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("metrics.jsonl", {"foo": 1}),
        ("metrics.jsonl", 123),
        ("metrics.jsonl", None),
        ("metrics.jsonl", [STEP.to_dict()]),
        ("metrics.jsonl", {"step": 1}),
        ("metrics.jsonl", {"step": True, "bleu": 1.0}),
        ("metrics.jsonl", {"step": -1, "bleu": 1.0}),
        ("metrics.jsonl", {"step": 10**30, "bleu": 1.0}),
        ("metrics.jsonl", {"step": 1.5, "bleu": 1.0}),
        ("metrics.jsonl", {"step": 1, "bleu": "high"}),
        ("metrics.jsonl", {"step": 1, "bleu": None}),
        ("metrics.jsonl", {"step": 1, "bleu": 10**400}),
        ("metrics.jsonl", {"step": 1, "seconds": float("inf")}),
        ("metrics.jsonl", {"step": 1, "seconds": float("nan")}),
        ("samples.jsonl", SAMPLE | {"step": "x"}),
        ("samples.jsonl", SAMPLE | {"source": None}),
        ("samples.jsonl", SAMPLE | {"references": "c"}),
        ("samples.jsonl", SAMPLE | {"references": [1]}),
        ("events.jsonl", {"event": "failed"}),
        ("events.jsonl", {"event": "failed", "step": 1}),
        ("events.jsonl", {"event": "failed", "step": 1, "message": 5}),
        ("events.jsonl", {"event": "unheard of", "step": 1}),
        ("events.jsonl", {"event": [], "step": 1}),
        ("events.jsonl", {"event": "preparing", "step": 0, "what": "a", "done": 1, "total": None}),
        ("probes.jsonl", {"step": 1, "heads": [], "gold": None}),
        ("probes.jsonl", {"step": 1, "heads": [{"kind": [], "layer": 0, "head": 0}]}),
    ],
)
def test_an_odd_line_is_none(name: str, values: object) -> None:
    assert parsed(name, values) is None


@pytest.mark.parametrize("line", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"step": 1,}'])
def test_what_is_no_json_is_no_line(line: bytes) -> None:
    assert all(parse_line(line, check) is None for check in CHECKS.values())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
NAMES = [field.name for event in EVENTS.values() for field in dataclasses.fields(event)]


@given(st.dictionaries(st.sampled_from(["event", "heads", "gold", "references", *NAMES]), JSON))
def test_no_line_raises(values: dict[str, Any]) -> None:
    for name in CHECKS:
        parsed(name, values | {"step": 1})
        parsed(name, values)


@given(st.sampled_from(sorted(EVENTS)), st.data())
def test_an_event_line_has_every_field_that_its_event_needs(name: str, data: st.DataObject) -> None:
    event: type[Event] = EVENTS[name]
    needed = [f.name for f in dataclasses.fields(event) if f.default is dataclasses.MISSING]
    missing = data.draw(st.sampled_from(needed))
    values: dict[str, Any] = {"event": name, "step": 1}
    for field in dataclasses.fields(event):
        kinds = {"int": 1, "float": 1.0, "str": "a", "bool": True, "list[str]": ["a"]}
        values[field.name] = kinds[str(field.type).removesuffix(" | None")]
    assert parsed("events.jsonl", values) == values
    del values[missing]
    may_lack = "None" in str(event.__dataclass_fields__[missing].type)
    assert (parsed("events.jsonl", values) is None) is not may_lack


def test_a_validation_has_numbers_alone_where_they_belong() -> None:
    values = {field.name: 1 for field in dataclasses.fields(Validation)}
    assert parsed("metrics.jsonl", values) is None  # the signatures are texts
    assert parsed("metrics.jsonl", values | {"bleu_signature": "b", "chrf_signature": "c"})
