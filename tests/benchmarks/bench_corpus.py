"""A corpus too large to be held: reading it, encoding it, planning an epoch; and the memory of it.

The text is made up: words with the frequencies of a natural language, sentences of 25 words. Memory
is measured in a process of its own and extrapolated to the 4.5 million pairs of the paper's
English-German corpus (section 5.1).
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.benchmarks.child import output_of
from tests.benchmarks.figure import Figure, UnavailableError

PAIRS = 500_000
DIFFERENT_WORDS = 200_000
MEAN_WORDS = 25
BLOCK = 10_000
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ei", "an", "er")]


def run() -> list[Figure]:
    if not Path("/proc/self/clear_refs").exists():
        raise UnavailableError("only Linux tells the peak memory of a part of a program")
    with TemporaryDirectory() as folder:
        random = np.random.default_rng(0)
        files = [Path(folder) / "train.en", Path(folder) / "train.de"]
        for path in files:
            write_text(path, PAIRS, random)
        output = output_of("corpus_child", *map(str, files), folder)
    measured = json.loads(output)
    return [
        Figure("corpus: reading, twice", measured["pairs"] / measured["survey_seconds"], "pairs/s"),
        Figure("corpus: encoding", measured["pairs"] / measured["encode_seconds"], "pairs/s"),
        Figure("corpus: planning 4.5 M pairs", measured["plan_seconds"], "s"),
        Figure("corpus: peak while reading", measured["survey_megabytes"], "MB"),
        Figure("corpus: peak for the vocabulary", measured["vocabulary_megabytes"], "MB"),
        Figure("corpus: peak while encoding", measured["encode_megabytes"], "MB"),
        Figure("corpus: an epoch of 4.5 M pairs", measured["epoch_megabytes"], "MB"),
        Figure("corpus: peak, 4.5 M pairs", measured["megabytes"], "MB", target="< 2000"),
    ]


def write_text(path: Path, lines: int, random: np.random.Generator) -> None:
    """Lines of words of one to four syllables, the r-th most frequent one with 1 / (r + 2.7)."""
    parts = random.integers(len(SYLLABLES), size=(DIFFERENT_WORDS, 4))
    counts = random.integers(1, 5, size=DIFFERENT_WORDS)
    words = np.array(
        [
            "".join(SYLLABLES[part] for part in row[:count])
            for row, count in zip(parts, counts, strict=True)
        ]
    )
    weights = np.cumsum(1 / (np.arange(DIFFERENT_WORDS) + 2.7))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for _ in range(0, lines, BLOCK):
            lengths = 1 + random.poisson(MEAN_WORDS - 1, size=BLOCK)
            drawn = np.searchsorted(weights, random.random(lengths.sum()) * weights[-1])
            for sentence in np.split(words[drawn], np.cumsum(lengths)[:-1]):
                file.write(" ".join(sentence.tolist()) + ".\n")
