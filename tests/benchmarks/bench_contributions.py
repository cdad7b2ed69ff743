"""Taking one sentence apart: norms, ALTI+ and rollout in the bundled model; the layer lens and
direct contributions in one of the paper's base size."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from core.analysis.composition import rollout
from core.analysis.decomposition import MOST_TOKENS, decompose
from core.analysis.readout import direct_parts, layer_lens, pushed_words
from core.bundled import bundled_models
from core.checkpoints.native import load_checkpoint
from core.config import ModelConfig
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.trace.record import trace_text
from core.trace.record_states import record_states
from tests.benchmarks.figure import Figure, UnavailableError
from tests.benchmarks.large_model import source_text

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
    return [*figures, *_base_size(tokenizer)]


def _base_size(tokenizer: Tokenizer) -> list[Figure]:
    """What the views of states compute for a sentence of 20 + 20 tokens."""
    model = Transformer(ModelConfig(vocab_size=37_000)).eval()
    initialise(model, seed=1)
    text = source_text(19, tokenizer)
    trace = trace_text(model, tokenizer, text, target=text)
    states = record_states(model, trace)
    direct = direct_parts(model, states, 5)
    size = f"base size, {len(trace.source_tokens)} + {len(trace.target_tokens)} tokens"
    return [
        Figure(f"{name}, {size}", _milliseconds(work), "ms", target=target)
        for name, work, target in (
            ("states", lambda: record_states(model, trace), None),
            ("layer lens", lambda: layer_lens(model, trace, states), "< 200"),
            ("parts of an output", lambda: direct_parts(model, states, 5), None),
            ("words of a head", lambda: pushed_words(model, direct, [2]), None),
        )
    ]


def _milliseconds(work: Callable[[], object]) -> float:
    """The median of some rounds after one that warms up."""
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)
