from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import UserError
from core.training.lock import Lock

HOLD = (
    "import sys, time\n"
    "from pathlib import Path\n"
    "from core.training.lock import Lock\n"
    "with Lock(Path(sys.argv[1])):\n"
    "    print('held', flush=True)\n"
    "    sys.stdin.read()\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def holder(path: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        cwd=Path(__file__).resolve().parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_who_holds_it_and_since_when(path: Path) -> None:
    with Lock(path) as lock:
        values = json.loads(path.read_text(encoding="utf-8"))
        assert (values["pid"], values["host"]) == (os.getpid(), socket.gethostname())
        assert values["started"].endswith("+00:00")
        assert lock.owner() == os.getpid()
    assert not path.exists()
    assert lock.owner() is None


def test_a_second_holder_is_refused_in_one_sentence(path: Path) -> None:
    with Lock(path), pytest.raises(UserError) as raised, Lock(path):
        pass
    assert str(raised.value) == (
        f"{path.parent} is being trained by process {os.getpid()} on {socket.gethostname()}; "
        f"wait for it to finish, or stop it with: transformer-viz stop {path.parent}"
    )


def test_after_an_error_it_is_free(path: Path) -> None:
    with pytest.raises(ValueError, match="inside"), Lock(path):
        raise ValueError("inside")
    with Lock(path):
        pass


def test_a_killed_holder_leaves_a_file_that_binds_nobody(path: Path) -> None:
    child = holder(path)
    assert Lock(path).owner() == child.pid
    with pytest.raises(UserError, match=f"process {child.pid} on"), Lock(path):
        pass
    child.kill()
    child.communicate()
    assert path.exists()
    assert Lock(path).owner() is None
    with Lock(path) as lock:
        assert lock.owner() == os.getpid()


def test_a_pid_that_lives_on_as_another_process_binds_nobody(path: Path) -> None:
    values = {"pid": os.getpid(), "host": socket.gethostname(), "started": "2017-06-12T00:00:00Z"}
    path.write_text(json.dumps(values), encoding="utf-8")
    assert Lock(path).owner() is None
    with Lock(path):
        pass


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"could not be locked: No such file or directory"):
        Lock(tmp_path / "missing" / "lock").__enter__()
