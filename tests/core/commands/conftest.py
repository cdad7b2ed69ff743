from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., int]


@pytest.fixture
def command() -> Command:
    """command("train", "tiny", "--out", path …) runs one command in this process."""

    def run(name: str, *words: str | Path) -> int:
        module = importlib.import_module(f"core.commands.{name}")
        parser = argparse.ArgumentParser(prog=name)
        module.add_arguments(parser)
        return int(module.run(parser.parse_args([str(word) for word in words])))

    return run


@pytest.fixture(scope="session")
def small() -> tuple[str, ...]:
    """For ``--set``: what makes the preset "tiny" a matter of seconds."""
    return (
        *("d_model=16", "vocab_size=200", "encoder_layers=1", "decoder_layers=1"),
        *("grammar_pairs=100", "validation_pairs=6", "checkpoint_every=4", "log_every=4"),
        *("keep_checkpoints=3", "warmup=4"),
    )


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory, small: tuple[str, ...]) -> Path:
    """The folder of a finished run of 12 updates."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    module = importlib.import_module("core.commands.train")
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    words = f"tiny --out {folder} --steps 12 --threads 1 --set {' '.join(small)}"
    assert module.run(parser.parse_args(words.split())) == 0
    return folder
