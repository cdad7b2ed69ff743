"""Taking the bundled model's attention apart: norms and ALTI+ of one sentence, and rollout."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from core.analysis.composition import rollout
from core.analysis.decomposition import MOST_TOKENS, decompose
from core.bundled import bundled_models
from core.checkpoints.native import load_checkpoint
from core.trace.record import trace_text
from tests.benchmarks.figure import Figure, UnavailableError

ROUNDS = 5
WORDS = "the old dog slept in the garden because it was too tired to cross the street with me "


def run() -> list[Figure]:
    if not bundled_models():
        raise UnavailableError("there is no bundled model")
    checkpoint = load_checkpoint(bundled_models()[0])
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    figures = []
    for count, target in ((20, "< 1000"), (MOST_TOKENS, None)):
        words = (WORDS * MOST_TOKENS).split()
        text = " ".join(words[: count - 1])
        while len(tokenizer.encode(text)) >= count:
            text = text.rpartition(" ")[0]
        trace = trace_text(model, tokenizer, text, target=text)
        tokens = len(trace.source_tokens)
        for name, work in (
            ("norms and ALTI+", lambda trace=trace: decompose(model, trace)),
            ("rollout", lambda trace=trace: rollout(trace)),
        ):
            figure = f"{name}, {tokens} + {len(trace.target_tokens)} tokens"
            figures.append(Figure(figure, _milliseconds(work), "ms", target=target))
    return figures


def _milliseconds(work: Callable[[], object]) -> float:
    """The median of some rounds after one that warms up."""
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)
