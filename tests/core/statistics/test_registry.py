"""The registry against itself, and docs/formulas.md against the registry."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.statistics.registry import (
    OF_CORPORA,
    OF_MAPS,
    STATISTICS,
    Statistic,
    current_id,
    statistic,
)

FORMULAS = Path(__file__).resolve().parents[3] / "docs" / "formulas.md"


def row(one: Statistic) -> str:
    return f"| `{one.id}` | {one.name} | {one.formula} | {one.unit or '0 to 1'} |"


def test_an_id_names_one_statistic() -> None:
    assert [statistic(one.id) for one in STATISTICS] == list(STATISTICS)
    assert statistic("index") is None


def test_the_tables_of_the_formulas_are_the_registry() -> None:
    lines = FORMULAS.read_text(encoding="utf-8").split("\n")
    heads = [n for n, line in enumerate(lines) if line.startswith("| Id | Name | Formula | Unit")]
    rows = []
    for head in heads:
        end = lines.index("", head)
        rows += lines[head + 2 : end]
    assert rows == [row(one) for one in STATISTICS]


def test_what_is_known_of_a_text_is_measured_over_a_corpus_as_well() -> None:
    assert {one.id for one in OF_MAPS} <= {one.id for one in OF_CORPORA}


@pytest.mark.parametrize(
    ("old", "id"),
    [
        ("distance", "mean_distance"),
        ("specials", "special"),
        ("special_share", "special"),
        ("sink_score", "sink"),
        ("diagonal_score", "diagonal"),
        ("offset_shares -1", "previous"),
        ("offset_shares 0", "same"),
        ("offset_shares 1", "next"),
        ("entropy", "entropy"),
    ],
)
def test_ids_of_earlier_versions_are_known(old: str, id: str) -> None:
    assert current_id(old) == id
    assert statistic(old) is statistic(id)


def test_the_registry_does_not_import_torch() -> None:
    code = "import core.statistics.rows, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
