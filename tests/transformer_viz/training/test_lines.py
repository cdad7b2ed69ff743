import json
from pathlib import Path

import pytest

from core.files import atomic_write_text
from transformer_viz.training import lines as module
from transformer_viz.training.lines import Lines


def add(path: Path, *steps: int, end: str = "\n") -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("\n".join(json.dumps({"step": step, "bleu": 1}) for step in steps) + end)


def steps(lines: Lines) -> list[int]:
    return [line["step"] for line in lines.values]


def test_each_line_is_read_once(tmp_path: Path) -> None:
    lines = Lines(tmp_path / "metrics.jsonl")
    assert not lines.read()
    add(tmp_path / "metrics.jsonl", 1, 2)
    assert lines.read()
    assert not lines.read()
    add(tmp_path / "metrics.jsonl", 3)
    assert lines.read()
    assert steps(lines) == [1, 2, 3]


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    lines = Lines(path)
    path.write_text('{"step": 1, "bleu": 1}\n{"st')
    lines.read()
    assert steps(lines) == [1]
    with path.open("a") as file:
        file.write('ep": 2, "bleu": 1}\n')
    lines.read()
    assert steps(lines) == [1, 2]


def test_what_a_crash_cut_short_is_no_line(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "bleu": 1}\n{"st\n[]\n{"step": 2, "bleu": 1}\n')
    lines = Lines(path)
    lines.read()
    assert steps(lines) == [1, 2]


def test_a_replaced_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    add(path, 1, 2, 3)
    lines = Lines(path)
    lines.read()
    atomic_write_text(path, '{"step": 1, "bleu": 1}\n{"step": 2, "bleu": 1}\n')
    add(path, 7)
    assert lines.read()
    assert steps(lines) == [1, 2, 7]
    path.unlink()
    assert lines.read()
    assert steps(lines) == []


def test_a_long_file_is_taken_in_by_parts(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 64)
    path = tmp_path / "metrics.jsonl"
    add(path, *range(100))
    lines = Lines(path)
    reads = 0
    while lines.read():
        reads += 1
    assert steps(lines) == list(range(100))
    assert reads > 10


def test_odd_lines_are_counted_and_the_first_is_named(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "bleu": 1}\n{"foo": 1}\n123\n{"step": 2, "bleu": 1}\n')
    lines = Lines(path)
    assert lines.read()
    assert (steps(lines), lines.odd, lines.first_odd) == ([1, 2], 2, 2)
    with path.open("a") as file:
        file.write("null\n")
    assert lines.read()
    assert (lines.odd, lines.first_odd) == (3, 2)


def test_a_line_longer_than_any_is_odd_and_those_after_it_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 64)
    path = tmp_path / "metrics.jsonl"
    path.write_text("[" * 1000 + "\n")
    add(path, 1)
    lines = Lines(path)
    for _ in range(20):
        lines.read()
    assert (steps(lines), lines.odd, lines.first_odd) == ([1], 1, 1)
