"""Runs with each kernel of matrix products: which they take, keep and record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from core.errors import UserError
from core.model.kernels import PRESENT
from core.model.product import chosen
from core.model.product_choice import (
    MKL_PACKED,
    ONEDNN,
    TORCH,
    UNMEASURED,
    VARIABLE,
    ProductChoice,
    forced,
)
from core.presets import preset
from core.training.config import RunConfig
from core.training.events import Finished, Started
from core.training.run_folder import RunFolder
from tests.core.training.test_run import lines, resume, start, stop_after, tensors, without_times

MEASURED = ProductChoice(
    training=ONEDNN, columns=True, small=(TORCH,) * 4, large=(MKL_PACKED,) * 4, training_threads=1
)


def edit(path: Path, **changes: Any) -> None:
    """Change run.json; None removes."""
    values = json.loads(path.read_text(encoding="utf-8")) | changes
    kept = {name: value for name, value in values.items() if value is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")


@pytest.mark.parametrize("kernel", PRESENT)
def test_resumed_is_uninterrupted_to_the_bit(
    tmp_path: Path, copies: RunConfig, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = copies.with_settings({"product": kernel})
    start(tmp_path / "whole", copies)
    start(tmp_path / "parts", copies, stop_after(7))
    monkeypatch.setenv(VARIABLE, TORCH)  # which is for new runs
    resume(tmp_path / "parts")
    assert chosen() == forced(kernel)
    first, second = RunFolder.open(tmp_path / "whole"), RunFolder.open(tmp_path / "parts")
    for mine, theirs in ((first.model, second.model), (first.state, second.state)):
        ours, other = tensors(mine), tensors(theirs)
        assert all(torch.equal(tensor, other[name]) for name, tensor in ours.items())
    assert without_times(first.metrics) == without_times(second.metrics)
    assert lines(first.samples) == lines(second.samples)


def test_what_was_measured_stays(
    tmp_path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr("core.training.machine.best_choice", lambda _: MEASURED)
    copies = copies.with_settings({"threads": None})
    events = start(tmp_path / "run", copies, stop_after(3))
    record = RunFolder.open(tmp_path / "run").read_record()
    assert record[1]["products"] == MEASURED.to_dict()
    assert record[0].training.product == "auto"
    assert record[0].training.threads == 1
    (started,) = (event for event in events if isinstance(event, Started))
    assert started.products == MEASURED.summary()
    monkeypatch.setattr("core.training.machine.best_choice", pytest.fail)
    resume(tmp_path / "run", should_stop=stop_after(3))
    assert chosen() == MEASURED
    assert RunFolder.open(tmp_path / "run").read_record() == record


def test_a_run_of_an_earlier_version(tmp_path: Path, copies: RunConfig) -> None:
    start(tmp_path / "run", copies, stop_after(3))
    folder = RunFolder.open(tmp_path / "run")
    training = {**copies.training.to_dict()}
    del training["product"]
    edit(folder.record, products=None, training=training)
    resume(tmp_path / "run", should_stop=stop_after(3))
    assert chosen() == UNMEASURED


def test_a_kernel_that_is_gone(
    tmp_path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(tmp_path / "run", copies.with_settings({"product": ONEDNN}), stop_after(3))
    monkeypatch.delitem(PRESENT, ONEDNN)
    before = RunFolder.open(tmp_path / "run").read_record()[1]
    events = resume(tmp_path / "run")
    (started,) = (event for event in events if isinstance(event, Started))
    assert started.data[-1] == (
        "the run began with matrix products by onednn, which this PyTorch lacks; "
        "torch's own are used, so the last digits may differ"
    )
    assert RunFolder.open(tmp_path / "run").read_record()[1] == before
    with pytest.raises(UserError, match="lacks the kernel onednn"):
        start(tmp_path / "other", copies.with_settings({"product": ONEDNN}))


def test_a_damaged_record(tmp_path: Path, copies: RunConfig) -> None:
    start(tmp_path / "run", copies, stop_after(3))
    edit(RunFolder.open(tmp_path / "run").record, products={"training": "magic"})
    with pytest.raises(UserError, match='"products" does not say'):
        resume(tmp_path / "run")


def test_only_kernels_can_be_set(copies: RunConfig) -> None:
    with pytest.raises(UserError, match="product = 'blas' is not possible"):
        copies.with_settings({"product": "blas"})


def test_each_kernel_trains_as_well(tmp_path: Path) -> None:
    """The preset tiny, made short: last digits differ from update to update, and the losses of
    validation by no more than another order of sums explains."""
    config = preset("tiny").with_settings(
        {
            **{"grammar_pairs": 400, "validation_pairs": 40, "steps": 30, "validate_every": 30},
            **{"source_batch_tokens": 400, "target_batch_tokens": 400, "vocab_size": 300},
            **{"device": "cpu", "threads": 1, "probes": [], "average_last": 1, "log_every": 30},
        }
    )
    losses = {}
    for kernel in PRESENT:
        events = start(tmp_path / kernel, config.with_settings({"product": kernel}))
        assert isinstance(events[-1], Finished)
        losses[kernel] = events[-1].valid_loss
    assert max(losses.values()) < min(losses.values()) * 1.002, losses
