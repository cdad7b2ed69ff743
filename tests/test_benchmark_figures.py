"""The table that the benchmarks print, and when a target counts as met."""

from __future__ import annotations

import pytest

from tests.benchmarks.figure import Figure, table


@pytest.mark.parametrize(
    ("figure", "met"),
    [
        (Figure("start", 999.0, "ms", target="< 1000"), True),
        (Figure("start", 1000.0, "ms", target="< 1000"), False),
        (Figure("decoding", 80.0, "ms", 1.5, "peer", ">= 1.5"), True),
        (Figure("decoding", 80.0, "ms", 1.4, "peer", ">= 1.5"), False),
        (Figure("memory", 700.0, "MB"), None),
    ],
)
def test_a_target_is_met_by_the_ratio_where_there_is_one(figure: Figure, met: bool | None) -> None:
    assert figure.met is met


def test_the_table_aligns_numbers_right_and_marks_what_missed() -> None:
    figures = [
        Figure("start", 1234.0, "ms", target="< 1000"),
        Figure("decoding", 80.25, "ms", 2.0, "peer", ">= 1.5"),
    ]
    assert table(figures).split("\n") == [
        "figure    value  unit  ratio  against  target",
        "start     1,234  ms                    < 1000  MISSED",
        "decoding   80.2  ms     2.00  peer     >= 1.5  met",
    ]
