from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from core.commands.listening import run_listened
from core.errors import UserError
from core.training import workers as module
from core.training.batch import Batch
from core.training.config import RunConfig
from core.training.run import resume_run, start_run
from core.training.run_folder import RunFolder
from core.training.updater import Update, Updater
from core.training.workers import ToldElsewhereError, Workers, joined

ROOT = Path(__file__).parents[3]


def torchrun(*arguments: str | Path) -> list[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return [*command, "--nproc-per-node", "2", *map(str, arguments)]


def train(out: Path, config: RunConfig) -> list[str]:
    """A run whose events are lines of stdout."""
    file = out.with_suffix(".json")
    file.write_text(json.dumps(config.to_dict()), encoding="utf-8")
    return torchrun("-m", "core", "train", file, "--out", out, "--json")


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def metrics(path: Path) -> list[dict[str, Any]]:
    """Without what depends on the clock."""
    clock = {"seconds", "other_seconds", "tokens_per_second"}
    text = RunFolder.open(path).metrics.read_text(encoding="utf-8")
    return [{k: v for k, v in line.items() if k not in clock} for line in lines(text)]


def state(path: Path) -> dict[str, torch.Tensor]:
    return safetensors.torch.load_file(RunFolder.open(path).state)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, copies_in: Callable[[Path], RunConfig]) -> Path:
    """The folder where two processes have written what they found, the second died of it."""
    folder = tmp_path_factory.mktemp("two")
    config = copies_in(folder).with_settings({"steps": 16, "log_every": 2, "probe_points": 0})
    (folder / "config.json").write_text(json.dumps(config.to_dict()), encoding="utf-8")
    script = ROOT / "tests" / "core" / "training" / "two_workers.py"
    done = subprocess.run(
        torchrun(script, folder), env=environment(), capture_output=True, text=True, timeout=120
    )
    assert (folder / "1.json").exists(), done.stderr
    return folder


def test_two_processes_exchange_values_and_fail_together(two: Path) -> None:
    first, second = (
        json.loads((two / f"{rank}.json").read_text(encoding="utf-8")) for rank in (0, 1)
    )
    for found in (first, second):
        assert found["sum"] == [3.0, 1.0]
        assert found["any"] == [True, False]
        assert found["gathered"] == [{"rank": 0}, {"rank": 1}]
        assert found["broadcast"] is True
        assert found["same"] is None
    for found, kind in ((first, "UserError"), (second, "ToldElsewhereError")):
        of_first, of_second, of_neither = found["agreed"]
        assert of_first == [kind, "0 failed"]
        assert of_second[0] == kind
        assert of_second[1].startswith("1 failed (process 1 on ")
        assert of_neither is None
        assert found["other"][0] == kind
        assert "has different data from process 0 on" in found["other"][1]
    assert "Another process of this run has ended" in first["lost"]


def test_two_processes_resumed_are_uninterrupted_to_the_bit(two: Path) -> None:
    stopped = lines((two / "stopped.json").read_text(encoding="utf-8"))
    assert stopped[-1]["step"] == 4  # and at 5 the second process was to stop
    assert metrics(two / "parts") == metrics(two / "whole")
    whole, parts = state(two / "whole"), state(two / "parts")
    assert whole.keys() == parts.keys()
    for name, tensor in whole.items():
        assert torch.equal(tensor, parts[name]), name
    assert not torch.equal(whole["rng.cpu"], whole["rng.cpu.1"])


def test_another_number_of_processes_cannot_go_on(two: Path) -> None:
    with pytest.raises(
        UserError, match=r"with 2 processes so far, and 1 would .* with torchrun, 2"
    ):
        resume_run(two / "parts", steps=20, tell=lambda _: None, should_stop=lambda: False)


def test_two_processes_train_as_one_does_with_twice_the_batches(
    tmp_path: Path, copies: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = RunConfig(
        model=dataclasses.replace(copies.model, dropout=0.0),
        training=dataclasses.replace(
            copies.training,
            precision="fp64",
            accumulation=2,
            source_batch_tokens=75,
            target_batch_tokens=75,
            clip_norm=1.0,
            steps=6,
            log_every=1,
            validate_every=3,
            checkpoint_every=6,
            probe_points=0,
        ),
    )
    done = subprocess.run(
        train(tmp_path / "two", copies), env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = [event["event"] for event in lines(done.stdout)]
    assert (told[0], told.count("step"), told[-1]) == ("started", 6, "finished")

    sizes = []
    apply = Updater.apply

    def watched(self: Updater, batches: list[Batch], number: int) -> Update | None:
        sizes.append(len(batches))
        return apply(self, batches, number)

    monkeypatch.setattr(Updater, "apply", watched)
    one = copies.with_settings({"accumulation": 4})
    start_run(tmp_path / "one", one, command="", tell=lambda _: None, should_stop=lambda: False)
    assert {4, 1} <= set(sizes)  # and where there is 1, the second process has none

    for ours, theirs in zip(metrics(tmp_path / "two"), metrics(tmp_path / "one"), strict=True):
        assert ours.keys() == theirs.keys()
        for name in ours.keys() - {"position_cosine"}:  # which is that of one batch
            value = theirs[name]
            assert ours[name] == (value if isinstance(value, str) else approx(value)), name
    mine, other = state(tmp_path / "two"), state(tmp_path / "one")
    weights = [name for name in mine if name.startswith("weights.")]
    assert len(weights) > 10
    for name in weights:
        assert mine[name].dtype == torch.float64
        torch.testing.assert_close(mine[name], other[name], rtol=0, atol=1e-6)


def approx(value: float) -> Any:
    return pytest.approx(value, rel=1e-6, abs=1e-6)


def test_torchrun_that_is_ended_ends_a_run_with_its_state(
    tmp_path: Path, copies: RunConfig
) -> None:
    endless = copies.with_settings({"steps": 100_000, "log_every": 1, "probe_points": 0})
    with subprocess.Popen(
        train(tmp_path / "run", endless),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["step"] == 2:
                break
        process.send_signal(signal.SIGTERM)
        last = lines(process.stdout.read())[-1]
    assert last["event"] == "interrupted"
    header = (tmp_path / "run" / "state" / "state.safetensors").read_bytes()[:100_000]
    assert f'\\"update\\": {last["step"]},'.encode() in header


@pytest.mark.parametrize("failure", [UserError("the disk is full"), ToldElsewhereError("it is")])
def test_the_first_process_alone_tells_events_and_what_all_failed_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failure: UserError
) -> None:
    @contextmanager
    def second() -> Iterator[Workers]:
        yield Workers(rank=1, count=2)

    def fail(*_: Any) -> None:
        raise failure

    monkeypatch.setattr(module, "joined", second)
    if isinstance(failure, ToldElsewhereError):
        assert run_listened(fail, as_json=True) == 1
    else:
        with pytest.raises(UserError, match="the disk is full"):
            run_listened(fail, as_json=True)
    assert capsys.readouterr() == ("", "")


def test_one_process_needs_nobody() -> None:
    for alone in ({}, {"RANK": "0", "WORLD_SIZE": "1"}):
        with joined(alone) as workers:
            assert workers == Workers()
            assert not torch.distributed.is_initialized()
    assert workers.sum(1, 2.5) == (1, 2.5)
    assert workers.any(True)
    assert workers.gather("value") == ["value"]
    assert workers.broadcast("value") == "value"
    layer = torch.nn.Linear(1, 1)
    assert workers.parallel(layer) is layer
    with pytest.raises(UserError, match="failed"), workers.agreed():
        raise UserError("failed")


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("cuda", "2 processes on this machine need as many CUDA devices, but PyTorch finds 1"),
        ("cuda:1", "needs a device of its own; use cuda or cpu, not cuda:1"),
        ("mps", "use cuda or cpu, not mps"),
    ],
)
def test_devices_that_cannot_be_shared_out(
    monkeypatch: pytest.MonkeyPatch, device: str, message: str
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    workers = Workers(rank=1, count=2, local_rank=1, local_count=2)
    with pytest.raises(UserError, match=message):
        workers.claim(torch.device(device))
    workers.claim(torch.device("cpu"))


def test_processes_that_nobody_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    launched = {"RANK": "1", "WORLD_SIZE": "2"}
    with pytest.raises(UserError, match="Process 1 of 2 cannot reach the others"), joined(launched):
        pass
