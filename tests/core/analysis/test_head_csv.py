from __future__ import annotations

import csv
import io

from core.analysis.head_csv import HeadRow, Verdict, heads_csv
from core.heads import AttentionKind, Head

ENCODER, CROSS = AttentionKind.ENCODER_SELF, AttentionKind.CROSS


def test_a_line_for_each_head_and_what_it_lacks_is_empty() -> None:
    position = Verdict("positional(-2)", 0.95, 0.92, 0.8, 0.1, 0.9, passed=True)
    sink = Verdict("sink", 1 / 3, 0.3, None, 0.2, 0.43, passed=False)
    rows = [
        HeadRow(Head(ENCODER, 0, 1), {"entropy": 1 / 3, "previous": 0.0}, [position, sink]),
        HeadRow(Head(CROSS, 2, 0), {"entropy": 2.0, "diagonal": None}, [sink]),
    ]
    first, second = csv.DictReader(io.StringIO(heads_csv(rows)))
    assert (first["name"], second["name"]) == ("encoder:1.2", "cross:3.1")
    assert (first["kind"], first["layer"], first["head"]) == ("encoder_self", "1", "2")
    assert first["roles"] == "positional(-2)"
    assert float(first["entropy"]) == 1 / 3
    assert first["previous"] == "0.0"
    assert first["positional role"] == "positional(-2)"
    assert float(first["positional baseline"]) == 0.1
    assert (first["positional weight"], first["sink weight"]) == ("0.8", "")
    assert (first["positional passed"], first["sink passed"]) == ("True", "False")
    assert second["positional score"] == second["diagonal"] == second["roles"] == ""
    assert float(second["sink score"]) == 1 / 3
    assert list(first) == list(second)
