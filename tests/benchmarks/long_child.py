"""A process that records a text of 2 000 tokens and says, as JSON, what that took."""

from __future__ import annotations

import json
import time

from core.bundled import model_path
from core.checkpoints.native import load_checkpoint
from core.corpus.grammar.generate import generate
from core.text.tokenizer import Tokenizer
from core.trace.record import trace_text
from core.trace.trace import AttentionKind
from tests.benchmarks.memory import peak_megabytes

TOKENS = 2000


def main() -> None:
    checkpoint = load_checkpoint(model_path(None))
    sentences = generate(TOKENS // 4, seed=5, split="test")
    sources, targets = zip(*((one.source, one.target) for one in sentences), strict=True)
    source = _cut(" ".join(sources), checkpoint.tokenizer)
    target = _cut(" ".join(targets), checkpoint.tokenizer)
    start = time.perf_counter()
    trace = trace_text(checkpoint.model, checkpoint.tokenizer, source, target=target)
    recorded = time.perf_counter()
    weights = trace.weights(AttentionKind.ENCODER_SELF, 0, 0)
    mapped = time.perf_counter()
    assert weights.shape == (TOKENS + 1, TOKENS + 1)
    print(
        json.dumps(
            {
                "record_seconds": recorded - start,
                "map_milliseconds": 1000 * (mapped - recorded),
                "megabytes": peak_megabytes(),
            }
        )
    )


def _cut(text: str, tokenizer: Tokenizer) -> str:
    return text[: tokenizer.tokens(text)[TOKENS - 1].end]


if __name__ == "__main__":
    main()
