from __future__ import annotations

import itertools
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from core.errors import UserError
from core.training import tensorboard as tensorboard_module
from core.training.config import RunConfig
from core.training.run import resume_run, start_run


class Writer:
    """Stands in for torch's, which needs the package."""

    made: list[Writer]

    def __init__(self, folder: str, *, purge_step: int) -> None:
        self.folder = folder
        self.purge_step = purge_step
        self.scalars: list[tuple[str, float, int]] = []
        self.closed = False
        Writer.made.append(self)

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.scalars.append((name, value, step))

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def writers(monkeypatch: pytest.MonkeyPatch) -> list[Writer]:
    module: Any = types.ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    monkeypatch.setattr(tensorboard_module, "find_spec", lambda name: object())
    Writer.made = []
    return Writer.made


def test_the_curves_are_written_and_rewound(
    tmp_path: Path, copies: RunConfig, writers: list[Writer]
) -> None:
    copies = copies.with_settings({"tensorboard": True})
    run = tmp_path / "run"
    counter = itertools.count(1)
    start_run(run, copies, command="c", tell=print, should_stop=lambda: next(counter) == 9)
    resume_run(run, steps=None, tell=print, should_stop=lambda: False)
    first, second = writers
    assert first.folder == second.folder == str(run / "tensorboard")
    assert (first.purge_step, second.purge_step) == (1, 10)
    assert first.closed
    assert second.closed
    steps = [step for name, _, step in second.scalars if name == "step/train_loss"]
    assert steps == [12, 16, 20]
    names = {name for name, _, _ in second.scalars}
    assert {"step/learning_rate", "validation/valid_loss", "validation/bleu"} <= names
    assert "step/gloss_loss" not in names


def test_without_the_package_the_run_is_refused_before_it_begins(
    tmp_path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensorboard_module, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r'install it with: pip install "transformer-viz\[tens'):
        start_run(
            tmp_path / "run",
            copies.with_settings({"tensorboard": True}),
            command="c",
            tell=print,
            should_stop=lambda: False,
        )
    assert not (tmp_path / "run").exists()


def test_it_is_never_imported_unasked() -> None:
    code = "import sys, core.training.run; assert not any('tensorboard' == m for m in sys.modules)"
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True, timeout=120)
