from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.trace.trace import AttentionKind, Trace
from transformer_viz.state.highlights import opening_selection
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import ModelInfo


def model(**provenance: Any) -> ModelInfo:
    return ModelInfo("m", Path("m"), 2, 3, 3, 2, 8, 100, provenance)


def with_it_head(kind: str, layer: int, head: int) -> ModelInfo:
    return model(scores={"it_head": {"kind": kind, "layer": layer, "head": head}})


def test_it_opens_on_the_encoder_row_of_it(trace: Trace) -> None:
    selection = opening_selection(with_it_head("encoder_self", 1, 2), trace)
    assert selection == Selection(AttentionKind.ENCODER_SELF, 1, 2, query=4)
    assert trace.source_tokens[4].label == "it"


def test_it_opens_on_the_decoder_row_that_predicts_the_pronoun(trace: Trace) -> None:
    selection = opening_selection(with_it_head("cross", 2, 1), trace)
    assert selection == Selection(AttentionKind.CROSS, 2, 1, query=6)
    assert trace.predicted_tokens[6].label == "es"
    assert trace.target_tokens[6].label == "weil"


@pytest.mark.parametrize(
    "info",
    [model(), model(scores={}), with_it_head("encoder_self", 9, 0), with_it_head("cross", 0, 9)],
    ids=["untold", "no such score", "no such layer", "no such head"],
)
def test_without_a_known_head_it_opens_on_the_first(info: ModelInfo, trace: Trace) -> None:
    assert opening_selection(info, trace) == Selection(query=4)


def test_without_the_word_nothing_is_pinned(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace("▁Dogs ▁sleep </s>", "<s> ▁Hunde ▁schlafen")
    assert opening_selection(with_it_head("cross", 0, 0), trace).query is None
