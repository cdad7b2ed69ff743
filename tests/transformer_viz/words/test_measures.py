import math

import pytest

from core.statistics.registry import OF_MAPS
from core.statistics.rows import HeadStatistics, head_statistics
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.words.measures import measure, number, number_in_words, ranked, spread

E, D, C = AttentionKind


def heads(trace: Trace, kind: AttentionKind) -> dict[Head, HeadStatistics]:
    return {
        Head(kind, layer, head): head_statistics(trace, kind, layer, head)
        for layer in range(trace.layers(kind))
        for head in trace.heads(kind, layer)
    }


def test_each_statistic_is_found_by_its_id() -> None:
    assert [measure(one.id) for one in OF_MAPS] == list(OF_MAPS)
    assert measure("index") is None
    assert measure("importance") is None, "not known of a text"


def test_a_session_of_an_older_version_is_ordered_as_it_was() -> None:
    assert measure("distance").id == "mean_distance"
    assert measure("specials").id == "special"


@pytest.mark.parametrize("by", OF_MAPS, ids=lambda by: by.id)
def test_heads_are_ranked_best_first(trace: Trace, by) -> None:
    known = heads(trace, E)
    order = ranked(list(known), by, known)
    assert sorted(order) == sorted(known)
    values = [known[head][by.id] for head in order]
    assert values == sorted(values, reverse=not by.lowest_first)


def test_without_the_statistic_the_order_stays(trace: Trace) -> None:
    known = heads(trace, C)
    for by in OF_MAPS:
        if known[Head(C, 0, 0)][by.id] is None:
            assert ranked(list(known), by, known) == list(known)
    assert number(measure("mean_distance"), known[Head(C, 0, 0)]) == "–"


def test_several_heads_are_summed_up_as_mean_and_range(trace: Trace) -> None:
    known = list(heads(trace, E).values())
    values = [one["confidence"] for one in known]
    mean = math.fsum(values) / len(values)
    assert spread(measure("confidence"), known) == (
        f"{mean:.2f}  ({min(values):.2f} – {max(values):.2f})"
    )
    assert spread(measure("mean_distance"), list(heads(trace, C).values())) == "–"


def test_one_head_is_told_with_unit_and_limit(trace: Trace) -> None:
    head = Head(D, 1, 0)
    known = head_statistics(trace, *head)
    texts = {one.id: number_in_words(one, known, trace, head) for one in OF_MAPS}
    assert texts["entropy"] == f"{known['entropy']:.2f} of {known.entropy_limit:.2f} bits"
    assert texts["mean_distance"] == f"{known['mean_distance']:.1f} tokens"
    assert texts["next"] == "0.00", "masked in the decoder"
    assert texts["sink"].endswith(f" {known['sink']:.2f}")
