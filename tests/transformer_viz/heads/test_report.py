from __future__ import annotations

import json

import pytest

from core.analysis.head_csv import heads_csv
from core.trace.trace import AttentionKind, Head
from tests.transformer_viz.heads.answers import answer
from transformer_viz.heads.report import (
    Report,
    alignment_values,
    read_alignments,
    read_head,
    read_heads,
)


def report(**changes: bool) -> Report:
    heads = [read_head(each) for each in answer(**changes)["heads"]]
    return Report({each.head: each for each in heads})


def test_every_head_is_read_with_its_numbers_and_roles() -> None:
    found = report(importance=True)
    assert len(found.heads) == 18
    head = found.heads[Head(AttentionKind.ENCODER_SELF, 0, 1)]
    assert head.statistics["confidence"] == pytest.approx(0.2)
    assert head.statistics["previous"] == pytest.approx(0.2)
    assert head.statistics["importance"] == pytest.approx(0.002)
    assert head.statistics["effect"] == pytest.approx(-0.0002)
    assert "distance_histogram" not in head.statistics
    assert [role.name for role in head.passed] == ["positional(-1)"]
    (role,) = head.passed
    assert (role.sort, role.score, role.threshold) == ("positional", 0.95, 0.9)
    assert (role.cases, role.lower, role.weight) == (300, 0.92, 0.8)
    assert [len(role.best), len(role.worst)] == [10, 10]
    assert (role.best[0].query, role.best[0].key) == (2, 1)
    cross = found.heads[Head(AttentionKind.CROSS, 1, 2)]
    assert "mean_distance" not in cross.statistics
    assert cross.role("gold:coreference") is not None
    assert cross.role("positional") is None


def test_a_report_of_an_older_version_opens_and_its_roles_are_not_confirmed() -> None:
    """It did not ask for weight, so what it calls passed may not be."""
    value = answer()["heads"][1]
    for role in value["roles"]:
        for name in ("cases", "lower", "weight"):
            del role[name]
    assert value["roles"][0]["passed"]
    head = read_head(value)
    assert head.passed == ()
    first = head.roles[0]
    assert first.outdated
    assert (first.cases, first.lower, first.weight, first.explained_by) == (300, None, None, "")
    assert head.roles[2].cases == 128


def test_heads_are_taken_from_the_text_one_by_one() -> None:
    whole = answer()
    assert list(read_heads(json.dumps(whole))) == whole["heads"]


def test_alignment_errors_of_heads_and_layers() -> None:
    text = json.dumps(answer())
    found = read_alignments(alignment_values(text))
    predicted = found["alignment_error_predicted"]
    assert (predicted.best, predicted.error) == (Head(AttentionKind.CROSS, 1, 0), 0.1)
    assert predicted.layers == (0.5, None)
    cross = report().heads[Head(AttentionKind.CROSS, 0, 0)]
    assert cross.statistics["alignment_error_fed"] == 0.6
    assert alignment_values(json.dumps({"heads": []})) == []
    with pytest.raises(ValueError, match="not an alignment"):
        read_alignments([{"reading": "fed"}])


@pytest.mark.parametrize("cut", ["", "{}", '{"heads": [', '{"heads": [{"kind": 1}'])
def test_half_an_answer_is_none(cut: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - JSON's own message differs
        list(read_heads(cut))


@pytest.mark.parametrize(
    "change", [{"kind": "other"}, {"layer": None}, {"statistics": None}, {"roles": [{}]}]
)
def test_what_is_no_head_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        read_head(answer()["heads"][0] | change)


def test_the_csv_has_a_line_for_each_head_and_every_number() -> None:
    lines = heads_csv([each.csv_row for each in report()]).splitlines()
    assert len(lines) == 19
    names, first = lines[0].split(","), lines[1].split(",")
    row = dict(zip(names, first, strict=True))
    assert (row["kind"], row["layer"], row["head"]) == ("encoder_self", "1", "1")
    assert float(row["entropy"]) == pytest.approx(1.0)
    assert row["positional role"] == "positional(-1)"
    assert row["positional passed"] == "False"
    assert row["gold:coreference baseline"] == "0.2"
    assert row["diagonal score"] == ""
