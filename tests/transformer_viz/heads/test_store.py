"""What comes with the program was measured on the very model that comes with it."""

from __future__ import annotations

import pytest

from core.bundled import bundled_models, measured_heads
from core.checkpoints.opening import open_model
from core.heads import Head
from core.trace.record import trace_text
from transformer_viz.checksums import checksum
from transformer_viz.heads.store import Measured, Question, Store

FIRST = bundled_models()[0]


@pytest.fixture(scope="module")
def measured() -> Measured:
    found = Store(None, measured_heads()).read(checksum(FIRST))
    assert found is not None, "see resources/heads/README.md"
    return found


def test_the_first_model_is_measured_beforehand(measured: Measured) -> None:
    assert measured.question == Question(importance=True)
    assert measured.day == ""
    assert [*measured.report.alignments] == ["alignment_error_fed", "alignment_error_predicted"]
    assert Store(None, measured_heads()).read("0" * 64) is None


def test_its_evidence_is_what_the_model_does(measured: Measured) -> None:
    checkpoint = open_model(FIRST)
    assert measured.report.heads.keys() == {
        Head(kind, layer, head)
        for kind in {each.kind for each in measured.report.heads}
        for layer in range(checkpoint.config.layers(kind))
        for head in checkpoint.config.kept_heads(kind, layer)
    }
    each = max(
        (each for each in measured.report if each.role("gold:coreference")),
        key=lambda each: each.role("gold:coreference").score,  # type: ignore[union-attr]
    )
    role = each.role("gold:coreference")
    assert role is not None
    assert role.passed
    for one in (role.best[0], role.best[-1], role.worst[0]):
        trace = trace_text(checkpoint.model, checkpoint.tokenizer, one.source, target=one.target)
        assert trace.weights(*each.head)[one.query, one.key] == pytest.approx(one.score, abs=0.02)
