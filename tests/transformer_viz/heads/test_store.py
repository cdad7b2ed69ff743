"""What comes with the program was measured on the very models that come with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.bundled import bundled_models, measured_heads
from core.checkpoints.opening import open_model
from core.heads import AttentionKind
from core.text.words import word_span
from core.trace.record import trace_text
from transformer_viz.engine.checksums import checksum
from transformer_viz.heads.store import Question, Store
from transformer_viz.heads.wording import GOLD

TRANSLATORS = [path for path in bundled_models() if path.stem != "parse-en"]


@pytest.mark.parametrize("path", TRANSLATORS, ids=lambda path: path.stem)
def test_each_model_is_measured_beforehand(path: Path) -> None:
    measured = Store(None, measured_heads()).read(checksum(path))
    assert measured is not None, "see resources/heads/README.md"
    assert measured.question == Question(importance=True)
    assert measured.day == ""
    assert [*measured.report.alignments] == ["alignment_error_fed", "alignment_error_predicted"]
    checkpoint = open_model(path)
    assert list(measured.report.heads) == list(checkpoint.config.every_head())
    shown = [
        (each.head, evidence)
        for each in measured.report
        if each.head.kind is AttentionKind.ENCODER_SELF
        for role in each.roles
        if role.sort.startswith(GOLD) and role.best
        for evidence in (role.best[0], role.worst[-1])
    ]
    assert shown
    for head, one in shown[:: len(shown) // 5]:
        trace = trace_text(checkpoint.model, checkpoint.tokenizer, one.source, target=one.target)
        query, key = (word_span(trace.source_tokens, place) for place in (one.query, one.key))
        weights = trace.weights(*head)[query.start : query.stop, key.start : key.stop]
        assert weights.sum(axis=1).mean() == pytest.approx(one.score, abs=0.02)


def test_of_any_other_model_nothing_is_known() -> None:
    assert Store(None, measured_heads()).read("0" * 64) is None
