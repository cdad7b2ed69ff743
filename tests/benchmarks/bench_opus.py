"""Models as OPUS-MT's, decoded beside the same weights in two other programs.

Each round decodes with all three in turn, so that a busy machine slows them alike; each runs on as
many threads as make it fastest.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from core.checkpoints.opening import open_model
from core.decoding.batching import padded
from core.decoding.config import SearchConfig
from core.decoding.search import search
from core.model.transformer import Transformer
from tests.benchmarks.figure import Figure
from tests.benchmarks.opus import (
    END,
    OPUS,
    SMALL,
    Shape,
    load_marian,
    piece,
    save_ctranslate2,
    save_folder,
)

GENERATE, CTRANSLATE2 = "MarianMTModel.generate", "CTranslate2 float32"
CASES = ((1, 1, 40), (4, 1, 40), (1, 32, 20), (4, 32, 10))  # beam, sentences, tokens of an output
ROUNDS = 5
SOURCE_TOKENS = 20
Batch = list[list[int]]
Decode = Callable[[Batch], list[list[int]]]


def run() -> list[Figure]:
    figures: list[Figure] = []
    for shape in (SMALL, OPUS):
        with tempfile.TemporaryDirectory() as folder:
            figures += compare(shape, Path(folder))
    return figures


def compare(shape: Shape, folder: Path) -> Iterator[Figure]:
    """Milliseconds a step, and how many times as fast as each peer, in the median round."""
    save_folder(shape, folder / "marian")
    marian = load_marian(folder / "marian")
    save_ctranslate2(marian, folder / "ctranslate2")
    checkpoint = open_model(folder / "marian")
    usual = SearchConfig.of_model(checkpoint.provenance)
    for beam, size, tokens in CASES:
        batch = sentences(size, shape)
        config = replace(usual, beam=beam, max_length=tokens)
        ours = fastest(on_threads(our_search(checkpoint.model, config)), batch)
        theirs = {
            GENERATE: fastest(on_threads(marian_search(marian, beam, tokens)), batch),
            CTRANSLATE2: fastest(ctranslate2_searches(folder / "ctranslate2", beam, tokens), batch),
        }
        programs = [ours, *theirs.values()]
        require_same_work([decode(batch) for decode in programs], tokens)
        rounds = [[_seconds(decode, batch) for decode in programs] for _ in range(ROUNDS)]
        step = 1000 * statistics.median(seconds[0] for seconds in rounds) / tokens
        name = (
            f"{shape.name} shape, {'greedy' if beam == 1 else f'beam {beam}'}, batch {size}, a step"
        )
        for number, (peer, target) in enumerate(zip(theirs, (">= 1.8", ">= 1.0"), strict=True), 1):
            ratio = statistics.median(seconds[number] / seconds[0] for seconds in rounds)
            yield Figure(name, step, "ms", ratio=ratio, peer=peer, target=target)


def sentences(count: int, shape: Shape) -> Batch:
    """Random ids, of a few lengths."""
    ids = torch.Generator().manual_seed(0)
    lengths = [SOURCE_TOKENS - number % 5 for number in range(count)]
    return [torch.randint(2, shape.pad, (length,), generator=ids).tolist() for length in lengths]


def our_search(model: Transformer, config: SearchConfig) -> Decode:
    return lambda batch: [list(best.ids) for best, *_ in search(model, batch, config)]


def marian_search(marian: Any, beam: int, tokens: int) -> Decode:
    @torch.inference_mode()
    def decode(batch: Batch) -> list[list[int]]:
        pad = marian.config.pad_token_id
        source = padded([[*ids, END] for ids in batch], pad, torch.device("cpu"))
        found = marian.generate(
            source,
            attention_mask=(source != pad).long(),
            num_beams=beam,
            max_length=tokens + 1,  # the begin token counts
        )
        return [row[1:] for row in found.tolist()]

    return decode


def ctranslate2_searches(folder: Path, beam: int, tokens: int) -> list[Decode]:
    """With each number of threads."""
    import ctranslate2

    def searching(threads: int) -> Decode:
        translator = ctranslate2.Translator(
            str(folder), compute_type="float32", intra_threads=threads
        )

        def decode(batch: Batch) -> list[list[int]]:
            found = translator.translate_batch(
                [[piece(id) for id in (*ids, END)] for ids in batch],
                beam_size=beam,
                max_decoding_length=tokens,
            )
            return [[int(one) for one in result.hypotheses[0]] for result in found]

        return decode

    return [searching(threads) for threads in thread_counts()]


def thread_counts() -> list[int]:
    return sorted({1, torch.get_num_threads()})


def on_threads(decode: Decode) -> list[Decode]:
    """With each number of torch's threads."""

    def decoding(threads: int) -> Decode:
        def limited(batch: Batch) -> list[list[int]]:
            before = torch.get_num_threads()
            torch.set_num_threads(threads)
            try:
                return decode(batch)
            finally:
                torch.set_num_threads(before)

        return limited

    return [decoding(threads) for threads in thread_counts()]


def fastest(choices: Sequence[Decode], batch: Batch) -> Decode:
    """The first run of each warms it up."""
    for decode in choices:
        decode(batch)
    seconds = [min(_seconds(decode, batch) for _ in range(2)) for decode in choices]
    return choices[seconds.index(min(seconds))]


def require_same_work(found: Sequence[list[list[int]]], tokens: int) -> None:
    """Outputs of the same length and mostly the same tokens: beams may differ by a rounding."""
    ours, *others = ([ids[: tokens - 1] for ids in outputs] for outputs in found)
    for theirs in others:
        if any(len(ids) != tokens - 1 for ids in (*ours, *theirs)):
            raise RuntimeError("outputs are of different lengths: this compares different work")
        if sum(one == other for one, other in zip(ours, theirs, strict=True)) < 0.8 * len(ours):
            raise RuntimeError("a peer translates otherwise: this compares different work")


def _seconds(decode: Decode, batch: Batch) -> float:
    start = time.perf_counter()
    decode(batch)
    return time.perf_counter() - start
