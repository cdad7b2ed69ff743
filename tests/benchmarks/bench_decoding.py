"""The bundled model on sentences of the generated corpus, beside the same weights in the peer."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from core.bundled import bundled_models
from core.checkpoints.native import load_checkpoint
from core.corpus.grammar.generate import generate
from core.decoding.batching import padded
from core.decoding.config import SearchConfig
from core.decoding.search import search
from core.model.transformer import Transformer
from tests.benchmarks.figure import Figure, UnavailableError
from tests.benchmarks.marian import marian_twin

SENTENCES = 32
ROUNDS = 7
Batch = list[list[int]]
Decode = Callable[[Batch], list[tuple[int, ...]]]


def run() -> list[Figure]:
    """Each round decodes with both in turn, so that a busy machine slows both alike."""
    if not bundled_models():
        raise UnavailableError("there is no bundled model")
    checkpoint = load_checkpoint(bundled_models()[0])
    twin = marian_twin(checkpoint.model)
    sentences = [
        checkpoint.tokenizer.encode(sentence.source)
        for sentence in generate(SENTENCES, seed=5, split="test")
    ]
    figures = []
    for beam, name in ((1, "greedy"), (4, "beam 4")):
        ours, theirs = our_search(checkpoint.model, beam), their_search(twin, beam)
        for batches, size in (([[one] for one in sentences[:8]], 1), ([sentences], SENTENCES)):
            milliseconds, ratio = compare(ours, theirs, batches)
            figures.append(
                Figure(
                    f"{name}, batch {size}, per token",
                    milliseconds,
                    "ms",
                    ratio=ratio,
                    peer="MarianMTModel.generate",
                    target=">= 1.5",
                )
            )
    return figures


def our_search(model: Transformer, beam: int) -> Decode:
    config = SearchConfig(beam=beam)
    return lambda batch: [found[0].ids for found in search(model, batch, config)]


def their_search(twin: Any, beam: int) -> Decode:
    config = twin.config
    penalised = {} if beam == 1 else {"length_penalty": 0.6, "early_stopping": False}

    @torch.inference_mode()
    def decode(batch: Batch) -> list[tuple[int, ...]]:
        rows = [[*ids, config.eos_token_id] for ids in batch]
        source = padded(rows, config.pad_token_id, torch.device("cpu"))
        output = twin.generate(
            source,
            attention_mask=(source != config.pad_token_id).long(),
            max_new_tokens=source.shape[1] + 50,
            num_beams=beam,
            do_sample=False,
            **penalised,
        )
        specials = {config.pad_token_id, config.bos_token_id, config.eos_token_id}
        return [tuple(id for id in row if id not in specials) for row in output.tolist()]

    return decode


def compare(ours: Decode, theirs: Decode, batches: list[Batch]) -> tuple[float, float]:
    """Milliseconds a token, and how many times as fast as the peer, in the median round."""
    expected = [theirs(batch) for batch in batches]
    found = [ours(batch) for batch in batches]
    pairs = [pair for both in zip(found, expected, strict=True) for pair in zip(*both, strict=True)]
    # The peer has another length penalty and stops by another rule, so a rare one may differ.
    if sum(one == other for one, other in pairs) < 0.9 * len(pairs):
        raise RuntimeError("the peer translates otherwise: this compares different work")
    tokens = sum(len(ids) + 1 for batch in found for ids in batch)
    times, ratios = [], []
    for _ in range(ROUNDS):
        seconds = [_seconds(decode, batches) for decode in (ours, theirs)]
        times.append(1000 * seconds[0] / tokens)
        ratios.append(seconds[1] / seconds[0])
    return statistics.median(times), statistics.median(ratios)


def _seconds(decode: Decode, batches: list[Batch]) -> float:
    start = time.perf_counter()
    for batch in batches:
        decode(batch)
    return time.perf_counter() - start
