"""A process that prepares two aligned files and reads an epoch; it says as JSON what that took."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from core.config import ModelConfig
from core.corpus.batching import plan_batches
from core.corpus.ragged import Ragged
from core.text.sentence_pieces import train_tokenizer
from core.training.batch import make_batch
from core.training.config import TrainingConfig
from core.training.data import TrainingData
from core.training.pairs import EncodedPairs
from core.training.preparation import unwatched
from core.training.survey import take_survey
from core.training.vocabulary import tokenizer_lines
from tests.benchmarks.memory import peak_megabytes

PAPER_PAIRS = 4_500_000
VOCABULARY = 8_000


def main() -> None:
    source, target, folder = sys.argv[1:]
    config = TrainingConfig(data=(f"{source},{target}",))
    measured: dict[str, float] = {}

    @contextmanager
    def phase(name: str) -> Iterator[None]:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
        start = time.perf_counter()
        yield
        measured[f"{name}_seconds"] = time.perf_counter() - start
        measured[f"{name}_megabytes"] = peak_megabytes()

    with phase("survey"):
        survey = take_survey(config, unwatched)
    with phase("vocabulary"):
        tokenizer = train_tokenizer(tokenizer_lines(survey, config, unwatched), VOCABULARY)
    with phase("encode"):
        data = TrainingData(survey, tokenizer, config, Path(folder) / "data")
        data.prepare(unwatched)
    pairs = data.epoch(0)
    model = ModelConfig(vocab_size=VOCABULARY)
    with phase("part"):
        read_epoch(first(pairs, len(pairs) // 4), model, config)
    with phase("epoch"):
        read_epoch(pairs, model, config)

    by_pair = (measured["epoch_megabytes"] - measured["part_megabytes"]) / (len(pairs) * 3 / 4)
    measured["epoch_megabytes"] += by_pair * (PAPER_PAIRS - len(pairs))
    measured["megabytes"] = max(
        megabytes for name, megabytes in measured.items() if name.endswith("_megabytes")
    )
    measured["pairs"] = len(pairs)
    lengths = np.resize(pairs.source.lengths, PAPER_PAIRS)
    start = time.perf_counter()
    plan(lengths, np.resize(pairs.target.lengths, PAPER_PAIRS), config)
    measured["plan_seconds"] = time.perf_counter() - start
    print(json.dumps(measured))


def first(pairs: EncodedPairs, count: int) -> EncodedPairs:
    source, target = (
        Ragged(side.segments, side.offsets[: count + 1]) for side in (pairs.source, pairs.target)
    )
    return EncodedPairs.unglossed(source, target)


def plan(
    source: np.ndarray, target: np.ndarray, config: TrainingConfig
) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return plan_batches(
        source,
        target,
        source_budget=config.source_batch_tokens,
        target_budget=config.target_batch_tokens,
        seed=config.seed,
        epoch=0,
    )


def read_epoch(pairs: EncodedPairs, model: ModelConfig, config: TrainingConfig) -> None:
    """Every batch, as tensors."""
    for indices in plan(pairs.source.lengths, pairs.target.lengths, config):
        make_batch(pairs, indices, model, torch.device("cpu"))


if __name__ == "__main__":
    main()
