"""The planted model copies its source through one head of cross-attention alone."""

from __future__ import annotations

import math

import pytest

from core.analysis.ablation import ablate
from core.analysis.importance import importance
from core.analysis.sample import Sample
from core.decoding.config import SearchConfig
from core.decoding.scoring import score_targets
from core.heads import AttentionKind, Head
from core.model.gates import Gates
from tests.core.analysis.planted import COPYING, heads, planted

TEXTS = ("the dog crossed the street .", "it was a small house", "the tired child saw the zebra .")
SAMPLE = Sample(name="copies", sources=TEXTS, references=tuple((text,) for text in TEXTS))
SHORT = SearchConfig(max_extra=2)
OTHERS = [head for head, _ in heads() if head != COPYING]


def test_without_the_head_that_copies_nothing_is_left() -> None:
    checkpoint = planted()
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    done: list[int] = []
    effect = ablate(
        *(model, tokenizer, SAMPLE, Gates.of(model.config, {COPYING: 0.0})),
        search=SHORT,
        progress=done.append,
    )
    assert (effect.sentences, effect.changed) == (3, 100.0)
    assert (effect.before.exact, effect.after.exact) == (100.0, 0.0)
    assert effect.before.bleu == pytest.approx(100.0)
    assert effect.after.chrf < 20 < effect.before.chrf
    assert effect.before.pronoun is effect.after.pronoun is None
    ids = [tokenizer.encode(text) for text in TEXTS]
    tokens = [float(value) for scored in score_targets(model, ids, ids) for value in scored]
    assert effect.before.loss == pytest.approx(-math.fsum(tokens) / len(tokens), rel=1e-6)
    # Then every token of the vocabulary is as good as any other.
    assert effect.after.loss == pytest.approx(math.log(model.config.vocab_size), rel=0.2)
    assert done == [3, 6]


def test_all_other_heads_may_go() -> None:
    checkpoint = planted()
    gates = Gates.of(checkpoint.config, dict.fromkeys(OTHERS, 0.0))
    effect = ablate(checkpoint.model, checkpoint.tokenizer, SAMPLE, gates, search=SHORT)
    assert effect.changed == 0.0
    assert effect.after.exact == 100.0
    assert effect.after.loss == pytest.approx(effect.before.loss, abs=1e-5)


def test_the_important_head_is_the_one_that_copies() -> None:
    checkpoint = planted()
    ids = [checkpoint.tokenizer.encode(text) for text in TEXTS]
    found = importance(checkpoint.model, list(zip(ids, ids, strict=True)))
    by_head = {
        Head(kind, layer, head): found[kind][layer, head]
        for kind in AttentionKind
        for layer in range(checkpoint.config.layers(kind))
        for head in range(checkpoint.config.heads(kind))
    }
    assert max(by_head, key=lambda head: by_head[head]) == COPYING
    assert all(by_head[head] == pytest.approx(0.0, abs=1e-9) for head in OTHERS)
