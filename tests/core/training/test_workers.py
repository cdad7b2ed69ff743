from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from core.errors import UserError
from core.training.workers import Workers, joined

ROOT = Path(__file__).parents[3]

TWO = """
import json, os, sys
from pathlib import Path

from core.errors import UserError
from core.training.signals import StopRequest
from core.training.workers import joined

def refused(call):
    try:
        call()
    except UserError as error:
        return str(error)

def fail_in(rank):
    with workers.agreed():
        if workers.rank >= rank:
            raise UserError(f"{workers.rank} failed")

def keep():
    Path(sys.argv[1], f"{workers.rank}.json").write_text(json.dumps(found))

found = {}
try:
    with StopRequest(), joined() as workers:
        found["sum"] = workers.sum(workers.rank + 1, 0.5)
        found["any"] = [workers.any(workers.rank == 1), workers.any(False)]
        found["gathered"] = workers.gather({"rank": workers.rank})
        found["broadcast"] = workers.broadcast(workers.first)
        found["agreed"] = [refused(lambda: fail_in(rank)) for rank in (0, 1, 2)]
        found["same"] = refused(lambda: workers.require_same("this", "data"))
        found["other"] = refused(lambda: workers.require_same(workers.rank, "data"))
        keep()
        if workers.rank == 1:
            os._exit(3)
        workers.sum(1)
except UserError as error:
    found["lost"] = str(error)
    keep()
"""


def two_processes(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, env=environment(), timeout=120
    )


def command(*arguments: str | Path) -> list[str]:
    """What torchrun stands for."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return [*torchrun, "--nproc-per-node", "2", *map(str, arguments)]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def test_two_processes_exchange_values_and_notice_failures(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(TWO, encoding="utf-8")
    two_processes(tmp_path / "two.py", tmp_path)
    first, second = (
        json.loads((tmp_path / f"{rank}.json").read_text(encoding="utf-8")) for rank in (0, 1)
    )
    lost = first.pop("lost")
    assert "Another process of this run has ended" in lost
    assert first == second
    assert first["sum"] == [3.0, 1.0]
    assert first["any"] == [True, False]
    assert first["gathered"] == [{"rank": 0}, {"rank": 1}]
    assert first["broadcast"] is True
    assert first["agreed"] == ["0 failed", "1 failed", None]
    assert first["same"] is None
    assert "Process 1 on " in first["other"]
    assert "has other data than process 0" in first["other"]


def test_one_process_needs_nobody() -> None:
    for alone in ({}, {"RANK": "0", "WORLD_SIZE": "1"}):
        with joined(alone) as workers:
            assert workers == Workers()
            assert not torch.distributed.is_initialized()
    assert workers.sum(1, 2.5) == (1, 2.5)
    assert workers.any(True)
    assert workers.gather("value") == ["value"]
    assert workers.broadcast("value") == "value"
    module = torch.nn.Linear(1, 1)
    assert workers.parallel(module) is module
    with pytest.raises(UserError, match="failed"), workers.agreed():
        raise UserError("failed")


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("cuda", "2 processes on this machine need as many CUDA devices, and PyTorch finds 1"),
        ("cuda:1", "takes a device of its own; give cuda or cpu, not cuda:1"),
        ("mps", "give cuda or cpu, not mps"),
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
    launched: dict[str, Any] = {"RANK": "1", "WORLD_SIZE": "2"}
    with pytest.raises(UserError, match="Process 1 of 2 cannot reach the others"), joined(launched):
        pass
