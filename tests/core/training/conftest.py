from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from core.config import ModelConfig
from core.training.config import RunConfig, TrainingConfig

WORDS = ("eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht")


def _write_copies(path: Path, count: int, seed: int = 0) -> Path:
    random = Random(seed)
    lines: dict[str, None] = {}
    while len(lines) < count:
        lines[" ".join(random.choices(WORDS, k=random.randint(2, 6)))] = None
    path.write_text("".join(f"{line}\t{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def write_copies() -> Callable[..., Path]:
    """write_copies(path, count, seed=0): different sentences of two to six words, each its own
    translation, as a TSV file.
    """
    return _write_copies


@pytest.fixture
def copies(tmp_path: Path, copies_in: Callable[[Path], RunConfig]) -> RunConfig:
    """A tiny run, a few updates an epoch, on sentences that are to be copied."""
    return copies_in(tmp_path)


@pytest.fixture(scope="session")
def copies_in() -> Callable[[Path], RunConfig]:
    """copies_in(folder): ``copies`` with its data in that folder."""
    return _copies_in


def _copies_in(folder: Path) -> RunConfig:
    data = _write_copies(folder / "copies.tsv", 60)
    return RunConfig(
        model=ModelConfig(
            vocab_size=50,
            d_model=16,
            encoder_layers=1,
            decoder_layers=2,
            encoder_heads=2,
            decoder_heads=2,
            encoder_d_ff=32,
            decoder_d_ff=32,
            dropout=0.2,
        ),
        training=TrainingConfig(
            data=(str(data),),
            validation_pairs=5,
            max_length=40,
            source_batch_tokens=60,
            target_batch_tokens=60,
            steps=20,
            warmup=5,
            cooldown=0.2,
            log_every=4,
            validate_every=10,
            checkpoint_every=8,
            keep_checkpoints=3,
            average_last=2,
            probes=("eins zwei drei",),
            probe_points=4,
            device="cpu",
            threads=1,
        ),
    )
