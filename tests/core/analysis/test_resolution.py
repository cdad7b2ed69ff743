from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from core.analysis import resolution
from core.analysis.resolution import resolving_heads
from core.config import ModelConfig
from core.corpus.grammar.generate import minimal_pairs
from core.corpus.grammar.sentence import Sentence
from core.evaluation.pronouns import as_pieces, observe
from core.heads import AttentionKind, Head
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.text.sentence_pieces import train_tokenizer
from core.text.tokenizer import Tokenizer

Pairs = Sequence[tuple[Sentence, Sentence]]


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    return list(minimal_pairs(6, seed=3, split="test"))


@pytest.fixture(scope="module")
def tokenizer(pairs: Pairs) -> Tokenizer:
    texts = [text for pair in pairs for each in pair for text in (each.source, each.target)]
    return train_tokenizer(texts, 160)


@pytest.fixture(scope="module")
def model(tokenizer: Tokenizer) -> Transformer:
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        d_model=16,
        encoder_layers=3,
        decoder_layers=2,
        encoder_heads=4,
        decoder_heads=2,
        encoder_d_ff=32,
        decoder_d_ff=32,
    )
    result = Transformer(config)
    initialise(result, seed=1)
    return result.eval()


def test_a_head_counts_where_it_is_right_in_both_sentences(
    model: Transformer, tokenizer: Tokenizer, pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = observe(model, [as_pieces(one, tokenizer) for pair in pairs for one in pair])
    monkeypatch.setattr(resolution, "BATCH", 4)
    checks: list[None] = []
    shares = resolving_heads(model, tokenizer, pairs, check=lambda: checks.append(None))
    assert len(checks) == 3, "between batches"
    assert len(shares) == 3 * 4 + 2 * 2
    for head, share in shares.items():
        of_kind = head.kind is AttentionKind.ENCODER_SELF
        hits: Any = (seen.encoder_hit if of_kind else seen.cross_hit)[:, head.layer, head.head]
        assert share == pytest.approx(float(np.mean(hits[0::2] & hits[1::2])))
    assert Head(AttentionKind.DECODER_SELF, 0, 0) not in shares


def test_who_is_always_right_has_all_of_them(
    model: Transformer, tokenizer: Tokenizer, pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One head always, one in the first sentence of each pair, the others never."""

    def told(_model: Transformer, sentences: Sequence[Any]) -> Any:
        seen = observe(model, sentences)
        seen.encoder_hit[:] = False
        seen.encoder_hit[:, 1, 2] = True
        seen.encoder_hit[0::2, 1, 3] = True
        return seen

    monkeypatch.setattr(resolution, "observe", told)
    shares = resolving_heads(model, tokenizer, pairs)
    assert shares[Head(AttentionKind.ENCODER_SELF, 1, 2)] == 1.0
    assert shares[Head(AttentionKind.ENCODER_SELF, 1, 3)] == 0.0
