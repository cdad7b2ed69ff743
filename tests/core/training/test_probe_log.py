from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import UserError
from core.statistics.rows import HeadStatistics
from core.trace.trace import AttentionKind, Head
from core.training.probe_log import STATISTICS, Gold, ProbeLog, log_line, read_probe_log

ENCODER = Head(AttentionKind.ENCODER_SELF, 0, 1)
CROSS = Head(AttentionKind.CROSS, 2, 0)


def found(entropy: float, *, previous: float = 0.5, cross: bool = False) -> HeadStatistics:
    values = {"entropy": entropy, "confidence": 0.25, "special": 0.3, "sink": 0.4}
    if not cross:
        values |= {"mean_distance": 1.5, "previous": previous, "same": 0.2, "next": 0.1}
    return HeadStatistics(values, entropy_limit=3.0, sink_key=2)


def line(step: int, *, previous: float = 0.5, gold: bool = True) -> dict[str, Any]:
    heads = [
        (ENCODER, [found(1.0, previous=previous), found(2.0, previous=previous)]),
        (CROSS, [found(3.0, cross=True), found(4.0, cross=True)]),
    ]
    return log_line(step, heads, Gold(40, 0.35, {ENCODER: 1 / 3}) if gold else None, ["Hund"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "probes.jsonl"


def write(path: Path, *lines: dict[str, Any]) -> ProbeLog:
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return read_probe_log(path)


def test_a_line_holds_means_over_the_sentences() -> None:
    assert line(346) == {
        "step": 346,
        "heads": [
            {
                **{"kind": "encoder_self", "layer": 0, "head": 1, "entropy": 1.5},
                **{"confidence": 0.25, "mean_distance": 1.5, "previous": 0.5, "same": 0.2},
                **{"next": 0.1, "special": 0.3, "sink": 0.4, "antecedent": 0.333333},
            },
            {
                **{"kind": "cross", "layer": 2, "head": 0, "entropy": 3.5},
                **{"confidence": 0.25, "mean_distance": None, "previous": None, "same": None},
                **{"next": None, "special": 0.3, "sink": 0.4, "antecedent": None},
            },
        ],
        "gold": {"pairs": 40, "pronoun": 0.35},
        "translations": ["Hund"],
    }


def test_lines_come_back_as_arrays_by_step(path: Path) -> None:
    log = write(path, line(0, previous=0.125), line(1), line(3, gold=False))
    assert log.steps.tolist() == [0, 1, 3]
    assert log.heads == (ENCODER, CROSS)
    assert log.values.shape == (3, 2, len(STATISTICS))
    assert log.series(ENCODER, "previous").tolist() == [0.125, 0.5, 0.5]
    assert log.series(CROSS, "entropy").tolist() == [3.5, 3.5, 3.5]
    assert np.isnan(log.series(CROSS, "previous")).all()
    assert np.isnan(log.series(ENCODER, "antecedent")).tolist() == [False, False, True]
    assert np.isnan(log.pronoun).tolist() == [False, False, True]
    assert (log.pronoun[0], log.pairs) == (0.35, 40)
    assert log.translations == (("Hund",),) * 3


def test_lines_of_earlier_versions_hold_no_translations(path: Path) -> None:
    old = line(1)
    del old["translations"]
    log = write(path, line(0), old)
    assert log.steps.tolist() == [0, 1]
    assert log.translations == (("Hund",), ())


def test_a_statistic_that_an_earlier_version_did_not_record_is_unknown(path: Path) -> None:
    old = line(0)
    for head in old["heads"]:
        del head["sink"]
    log = write(path, old, line(1))
    assert np.isnan(log.series(ENCODER, "sink")).tolist() == [True, False]
    assert log.series(ENCODER, "special").tolist() == [0.3, 0.3]


@pytest.mark.parametrize(
    ("previous", "step"),
    [
        ([0.1, 0.5, 0.6, 0.9], 10),
        ([0.9, 0.1, 0.6, 0.9], 20),  # what it had by chance at the start is not counted
        ([0.5, 0.5, 0.5, 0.5], 0),
        ([0.9, 0.9, 0.9, 0.4], None),
    ],
)
def test_the_step_since_when_a_statistic_is_reached(
    path: Path, previous: list[float], step: int | None
) -> None:
    log = write(path, *(line(10 * n, previous=share) for n, share in enumerate(previous)))
    assert log.since(ENCODER, "previous", 0.5) == step
    assert log.since(CROSS, "previous", 0.5) is None


def test_the_nearest_recorded_step(path: Path) -> None:
    log = write(path, line(0), line(10), line(100))
    assert [log.nearest(step) for step in (0, 5, 6, 54, 56, 1000)] == [0, 0, 10, 10, 100, 100]


def test_a_run_that_has_recorded_nothing_yet(path: Path) -> None:
    log = read_probe_log(path)
    assert (log.steps.tolist(), log.heads, log.pairs) == ([], (), 0)
    assert log.values.shape == (0, 0, len(STATISTICS))
    assert log.nearest(5) is None


def test_a_line_that_is_being_written_is_left_out(path: Path) -> None:
    write(path, line(0), line(1))
    path.write_bytes(path.read_bytes()[:-5])
    assert read_probe_log(path).steps.tolist() == [0]


@pytest.mark.parametrize(
    "text",
    [
        "{\n",
        "[1]\n",
        '{"step": 1}\n',
        "[" * 100_000 + "\n",
        "\xff\n",
        '{"step": 1, "heads": [], "gold": null}\n',
        '{"step": 1, "heads": [{"kind": "none", "layer": 0, "head": 0}], "gold": null}\n',
        '{"step": 1, "heads": [{"kind": "cross", "layer": 0, "head": 0}], "gold": null}\n',
    ],
)
def test_an_odd_line_is_left_out(path: Path, text: str) -> None:
    write(path, line(0))
    path.write_text(text + path.read_text(encoding="utf-8") + text, encoding="utf-8")
    assert read_probe_log(path).steps.tolist() == [0]


def test_a_line_of_another_model_is_left_out(path: Path) -> None:
    other = line(2)
    other["heads"].pop()
    assert write(path, line(1), other, line(3)).steps.tolist() == [1, 3]


def test_a_file_that_cannot_be_read(path: Path) -> None:
    path.mkdir()
    with pytest.raises(UserError, match="cannot be read"):
        read_probe_log(path)
