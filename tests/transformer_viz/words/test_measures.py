import math

import pytest

from core.trace.statistics import HeadStatistics, head_statistics
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.words.measures import MEASURES, measure, ranked

E, D, C = AttentionKind


def heads(trace: Trace, kind: AttentionKind) -> dict[Head, HeadStatistics]:
    return {
        Head(kind, layer, head): head_statistics(trace, kind, layer, head)
        for layer in range(trace.layers(kind))
        for head in trace.heads(kind, layer)
    }


def test_each_statistic_is_found_by_its_id() -> None:
    assert [measure(one.id) for one in MEASURES] == list(MEASURES)
    assert measure("index") is None


@pytest.mark.parametrize("by", MEASURES, ids=lambda by: by.id)
def test_heads_are_ranked_best_first(trace: Trace, by) -> None:
    known = heads(trace, E)
    order = ranked(list(known), by, known)
    assert sorted(order) == sorted(known)
    values = [by.value(known[head]) for head in order]
    assert values == sorted(values, reverse=not by.lowest_first)


def test_without_the_statistic_the_order_stays(trace: Trace) -> None:
    known = heads(trace, C)
    for by in MEASURES:
        if by.value(known[Head(C, 0, 0)]) is None:
            assert ranked(list(known), by, known) == list(known)
    assert measure("distance").number(known[Head(C, 0, 0)]) == "–"


def test_several_heads_are_summed_up_as_mean_and_range(trace: Trace) -> None:
    known = list(heads(trace, E).values())
    values = [one.confidence for one in known]
    mean = math.fsum(values) / len(values)
    assert measure("confidence").spread(known) == (
        f"{mean:.2f}  ({min(values):.2f} – {max(values):.2f})"
    )
    assert measure("distance").spread(list(heads(trace, C).values())) == "–"


def test_one_head_is_told_with_unit_and_limit(trace: Trace) -> None:
    head = Head(D, 1, 0)
    known = head_statistics(trace, *head)
    texts = {one.id: one.text(known, trace, head) for one in MEASURES}
    assert texts["entropy"] == f"{known.entropy:.2f} of {known.entropy_limit:.2f} bits"
    assert texts["distance"] == f"{known.mean_distance:.1f} tokens"
    assert texts["next"] == "0.00", "masked in the decoder"
    assert texts["sink"].endswith(f" {known.sink_share:.2f}")
