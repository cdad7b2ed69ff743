from __future__ import annotations

import ast
import errno
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core import files
from core.errors import UserError
from core.files import (
    atomic_write,
    atomic_write_text,
    drop_oldest,
    is_file,
    is_folder,
    is_same,
    is_there,
    open_regular,
    read_problem,
    read_regular,
    remove_leftovers,
)

ROOT = Path(__file__).resolve().parents[2]


def test_text_is_utf8_with_plain_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "größe.txt"
    atomic_write_text(path, "Straße\n駅\r\n")
    assert path.read_bytes() == "Straße\n駅\r\n".encode()


def test_the_new_content_replaces_the_old_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a"
    atomic_write_text(path, "old and longer")
    atomic_write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_readers_see_the_old_file_until_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")

    def write(temporary: Path) -> None:
        assert temporary.parent.parent == tmp_path
        assert temporary.name == path.name
        temporary.write_text("ne", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == "old"
        temporary.write_text("new", encoding="utf-8")

    atomic_write(path, write)
    assert path.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), RuntimeError("bug")])
def test_a_failing_writer_leaves_the_old_file_alone(tmp_path: Path, error: Exception) -> None:
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")

    def write(temporary: Path) -> None:
        temporary.write_text("half", encoding="utf-8")
        raise error

    with pytest.raises((UserError, RuntimeError)) as raised:
        atomic_write(path, write)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]
    if isinstance(error, OSError):
        assert str(raised.value) == (
            f"Could not write {path}: No space left on device; free some space. "
            "What was there before is unchanged."
        )
    else:
        assert raised.value is error


def test_a_rename_that_is_refused_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")

    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(UserError, match="Permission denied"):
        atomic_write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"Could not write .*missing"):
        atomic_write_text(tmp_path / "missing" / "a", "")


@pytest.mark.parametrize("name", [".", "folder", os.devnull])
def test_what_is_no_file_is_never_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match="not a file"):
        atomic_write_text(tmp_path / name, "")
    assert not Path(os.devnull).is_file()


def test_a_link_stays_and_its_target_changes(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old", encoding="utf-8")
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("this system lets nobody make links")
    atomic_write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_the_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    atomic_write_text(tmp_path / "atomic", "")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "atomic")}
    assert len(modes) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no such bits")
def test_a_writer_that_makes_a_private_file_of_its_own_changes_nothing(tmp_path: Path) -> None:
    def replace(temporary: Path) -> None:
        temporary.unlink()
        os.close(os.open(temporary, os.O_CREAT | os.O_WRONLY, 0o600))

    (tmp_path / "other.txt").write_text("", encoding="utf-8")
    atomic_write(tmp_path / "model.bin", replace)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("model.bin", "other.txt")]
    assert modes[0] == modes[1]


def leave_unfinished(directory: Path, *, age: float = 0.0) -> Path:
    """What a process that is killed in the middle of a write leaves, ``age`` seconds old."""
    script = f"""
import os, signal
from core.files import atomic_write
def write(temporary):
    temporary.write_text("half")
    temporary.with_name(".tmpcMt7sR").write_text("of a library")
    os.kill(os.getpid(), signal.SIGKILL)
atomic_write({str(directory / "model.bin")!r}, write)
"""
    before = set(directory.iterdir())
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = set(directory.iterdir()) - before
    written = time.time() - age
    os.utime(left, (written, written))
    return left


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    kept = ("model.safetensors", ".tmp", ".hidden", ".model.safetensors.0123abcd", ".tmpcMt7sR")
    for name in kept:
        (tmp_path / name).touch()
    leave_unfinished(tmp_path)
    remove_leftovers(tmp_path, older_than=0)
    assert {path.name for path in tmp_path.iterdir()} == set(kept)


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_a_write_sweeps_what_is_old_and_leaves_one_that_may_be_going_on(tmp_path: Path) -> None:
    stale = leave_unfinished(tmp_path, age=2 * 3600)
    recent = leave_unfinished(tmp_path)
    atomic_write_text(tmp_path / "a", "new")
    assert not stale.exists()
    assert recent.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="has no such permissions")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_file_keeps_its_permissions(tmp_path: Path, mode: int, permissions: None) -> None:
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")
    path.chmod(mode)
    atomic_write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text(encoding="utf-8") == "new"


@pytest.mark.skipif(sys.platform == "win32", reason="has no such permissions")
def test_a_private_file_is_for_its_owner_alone_unless_it_was_opened_to_others(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a"
    atomic_write_text(path, "typed", private=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    atomic_write_text(path, "typed", private=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_probes_say_no_where_the_system_raises(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert is_there(tmp_path)
    assert is_folder(tmp_path)
    assert not is_file(tmp_path)
    assert is_file(tmp_path / "file")
    for strange in ("x" * 5_000, "a/" * 5_000, str(tmp_path / "file" / "below"), "zero\0byte"):
        assert not is_there(strange)
        assert not is_file(strange)
        assert not is_folder(strange)


@pytest.mark.usefixtures("permissions")
def test_probes_say_no_in_a_folder_that_one_may_not_enter(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir()
    (locked / "file").touch()
    locked.chmod(0o000)
    try:
        assert not is_there(locked / "file")
        assert not is_same(locked / "file", locked / "file")
        with pytest.raises(UserError, match="may not be read; change its permissions"):
            open_regular(locked / "file")
    finally:
        locked.chmod(0o700)


PROBES = {"exists", "is_file", "is_dir", "samefile"}


@pytest.mark.parametrize("package", ["core", "transformer_viz"])
def test_nothing_probes_a_path_by_a_method_that_raises(package: str) -> None:
    """Path.exists() and its like raise EACCES, ENAMETOOLONG and ESTALE before Python 3.14."""
    for module in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                no_path = ast.unparse(node.func.value) in {"os.path", "info"}  # info: of an archive
                assert node.func.attr not in PROBES or no_path, f"{module}:{node.lineno}"


def test_a_regular_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_regular(path, most=5) == b"12345"
    with pytest.raises(UserError, match=r"a is too large: it has 5 bytes and the limit is 4\.$"):
        read_regular(path, most=4)
    with pytest.raises(UserError, match="does not exist"):
        read_regular(tmp_path / "b", most=5)
    with pytest.raises(UserError, match="is a folder, not a file"):
        read_regular(tmp_path, most=5)
    with pytest.raises(UserError, match="is not a file name"):
        read_regular("zero\0byte", most=5)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_what_never_ends_or_never_begins_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UserError, match="is a pipe or a device, not a file"):
            open_regular(path)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="this system has no /proc")
def test_a_file_without_a_size_is_bounded_too() -> None:
    with pytest.raises(UserError, match=r"too large: the limit is 10 bytes"):
        read_regular("/proc/self/maps", most=10)


def test_the_files_written_last_are_kept(tmp_path: Path) -> None:
    for written, name in enumerate(("c.json", "a.json", "b.json", "other.txt")):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (written, written))
    drop_oldest(tmp_path, "*.json", keep=2)
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", "b.json", "other.txt"}


def test_what_stands_in_the_way_of_reading_is_said_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        (tmp_path / "a").read_bytes()
    assert read_problem("a", missing.value) == "a does not exist; check the name."
    assert read_problem("a", PermissionError()) == "a may not be read; change its permissions."
    broken = OSError(errno.EIO, "Input/output error")
    assert read_problem("a", broken) == "Could not read a: Input/output error."


def test_a_path_longer_than_any_is_named_by_its_ends() -> None:
    assert files.shown_path("/a/b") == "/a/b"
    named = files.shown_path(f"/begin{'x' * 5_000}end.npz")
    assert len(named) < 500
    assert named.startswith("/beginxx")
    assert named.endswith("xxend.npz")
