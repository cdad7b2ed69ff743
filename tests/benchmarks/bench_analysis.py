"""Measuring the heads of the bundled model over 1 000 generated sentences, and how much depends on
each of them."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.analysis.forced import forced_pairs, token_counts
from core.analysis.heads import measure_heads
from core.analysis.importance import importance
from core.analysis.passes import recorded_passes
from core.analysis.sample import GRAMMAR, read_sample
from core.bundled import bundled_models
from core.checkpoints.native import load_checkpoint
from core.heads import AttentionKind
from tests.benchmarks.figure import Figure, UnavailableError

SENTENCES = 1_000


def run() -> list[Figure]:
    if not bundled_models():
        raise UnavailableError("there is no bundled model")
    checkpoint = load_checkpoint(bundled_models()[0])
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    sample = read_sample(GRAMMAR, SENTENCES)
    forced = forced_pairs(model, tokenizer, sample)
    ids = [(pair.source_ids, pair.target_ids) for pair in forced.pairs]

    def maps() -> None:
        for passed in recorded_passes(model, forced.pairs):
            for kind in AttentionKind:
                for layer in range(passed.layers(kind)):
                    passed.weights(kind, layer)

    def heads() -> None:
        counts = token_counts(tokenizer, GRAMMAR)
        measure_heads(model, tokenizer, forced.pairs, counts=counts, gold=forced.gold)

    title = f"{SENTENCES:,} sentences"
    return [
        Figure(f"{title}: their maps alone", _seconds(maps), "s"),
        Figure(f"{title}: statistics, roles, gold, evidence", _seconds(heads), "s", target="< 60"),
        Figure(
            f"{title}: importance", _seconds(lambda: importance(model, ids)), "s", target="< 90"
        ),
    ]


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
