"""Models as OPUS-MT's, decoded beside the same weights in two other programs.

Each round decodes with all three in turn, so that a busy machine slows them alike; each runs on as
many threads as make it fastest.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from core.checkpoints.opening import open_model
from core.decoding.batching import padded
from core.decoding.config import SearchConfig
from core.decoding.search import search
from core.model.int8 import to_int8
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
CTRANSLATE2_INT8 = "CTranslate2 int8"
CASES = ((1, 1), (4, 1), (1, 32), (4, 32))  # beam, sentences
TOKENS = 20  # of a source, and of its output
ROUNDS = 5
PAUSE = 0.4  # seconds; threads of the program before look out for more work for 0.2 of them
Batch = list[list[int]]


class Run(NamedTuple):
    seconds: float
    found: list[list[int]]


Program = Callable[[Batch], Run]


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
    checkpoint, rounded = (open_model(folder / "marian") for _ in range(2))
    to_int8(rounded.model)
    usual = SearchConfig.of_model(checkpoint.provenance)
    with CTranslate2(folder / "ctranslate2") as ctranslate2:
        for beam, size in CASES:
            batch = sentences(size, shape)
            config = replace(usual, beam=beam, max_length=TOKENS)
            programs = [
                fastest(choices, batch)
                for choices in (
                    on_threads(our_search(checkpoint.model, config)),
                    on_threads(marian_search(marian, beam)),
                    ctranslate2.on_threads(beam, "float32"),
                    on_threads(our_search(rounded.model, config)),
                    ctranslate2.on_threads(beam, "int8"),
                )
            ]
            require_same_work([program(batch).found for program in programs[:3]])
            rounds = [[program(batch).seconds for program in programs] for _ in range(ROUNDS)]
            search_name = "greedy" if beam == 1 else f"beam {beam}"
            name = f"{shape.name} shape, {search_name}, batch {size}, a step"
            ours = 1000 * statistics.median(seconds[0] for seconds in rounds) / TOKENS
            for peer, number, target in ((GENERATE, 1, ">= 1.8"), (CTRANSLATE2, 2, ">= 1.0")):
                ratio = statistics.median(seconds[number] / seconds[0] for seconds in rounds)
                yield Figure(name, ours, "ms", ratio=ratio, peer=peer, target=target)
            in_8_bits = 1000 * statistics.median(seconds[3] for seconds in rounds) / TOKENS
            for peer, number, wanted in (
                ("itself in float32", 0, None),
                (CTRANSLATE2_INT8, 4, ">= 0.8"),
            ):
                ratio = statistics.median(seconds[number] / seconds[3] for seconds in rounds)
                yield Figure(
                    f"{name}, int8", in_8_bits, "ms", ratio=ratio, peer=peer, target=wanted
                )


def sentences(count: int, shape: Shape) -> Batch:
    """Random ids, of a few lengths."""
    ids = torch.Generator().manual_seed(0)
    lengths = [TOKENS - number % 5 for number in range(count)]
    return [torch.randint(2, shape.pad, (length,), generator=ids).tolist() for length in lengths]


def our_search(model: Transformer, config: SearchConfig) -> Program:
    return timed(lambda batch: [list(best.ids) for best, *_ in search(model, batch, config)])


def marian_search(marian: Any, beam: int) -> Program:
    @torch.inference_mode()
    def decode(batch: Batch) -> list[list[int]]:
        pad = marian.config.pad_token_id
        source = padded([[*ids, END] for ids in batch], pad, torch.device("cpu"))
        found = marian.generate(
            source,
            attention_mask=(source != pad).long(),
            num_beams=beam,
            max_length=TOKENS + 1,  # the begin token counts
        )
        return [row[1:] for row in found.tolist()]

    return timed(decode)


def timed(decode: Callable[[Batch], list[list[int]]]) -> Program:
    def program(batch: Batch) -> Run:
        time.sleep(PAUSE)
        start = time.perf_counter()
        found = decode(batch)
        return Run(time.perf_counter() - start, found)

    return program


class CTranslate2:
    """In a process of its own, which ends with the `with` block."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.ctranslate2_child", str(folder)]
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )

    def __enter__(self) -> CTranslate2:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.communicate()

    def on_threads(self, beam: int, type: str) -> list[Program]:
        """With each number of threads; ``type`` of the numbers."""
        return [self._program(beam, type, threads) for threads in thread_counts()]

    def _program(self, beam: int, type: str, threads: int) -> Program:
        def program(batch: Batch) -> Run:
            time.sleep(PAUSE)
            source = [[piece(id) for id in (*ids, END)] for ids in batch]
            asked = {"source": source, "beam": beam, "threads": threads, "tokens": TOKENS}
            asked["type"] = type
            assert self._child.stdin is not None
            assert self._child.stdout is not None
            print(json.dumps(asked), file=self._child.stdin, flush=True)
            line = self._child.stdout.readline()
            if not line:
                raise RuntimeError("ctranslate2_child ended before it had answered")
            answer = json.loads(line)
            return Run(answer["seconds"], [[int(one) for one in ids] for ids in answer["found"]])

        return program


def thread_counts() -> list[int]:
    return sorted({1, torch.get_num_threads()})


def on_threads(program: Program) -> list[Program]:
    """With each number of torch's threads."""

    def limited_to(threads: int) -> Program:
        def limited(batch: Batch) -> Run:
            before = torch.get_num_threads()
            torch.set_num_threads(threads)
            try:
                return program(batch)
            finally:
                torch.set_num_threads(before)

        return limited

    return [limited_to(threads) for threads in thread_counts()]


def fastest(choices: Sequence[Program], batch: Batch) -> Program:
    """The first run of each warms it up."""
    for program in choices:
        program(batch)
    seconds = [min(program(batch).seconds for _ in range(2)) for program in choices]
    return choices[seconds.index(min(seconds))]


def require_same_work(found: Sequence[list[list[int]]]) -> None:
    """Outputs of the same length and mostly the same tokens: beams may differ by a rounding."""
    ours, *others = ([ids[: TOKENS - 1] for ids in outputs] for outputs in found)
    for theirs in others:
        if any(len(ids) != TOKENS - 1 for ids in (*ours, *theirs)):
            raise RuntimeError("outputs are of different lengths: this compares different work")
        if sum(one == other for one, other in zip(ours, theirs, strict=True)) < 0.8 * len(ours):
            raise RuntimeError("a peer translates otherwise: this compares different work")
