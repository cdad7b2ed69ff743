from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from core.errors import UserError
from core.files import (
    atomic_write,
    atomic_write_text,
    drop_oldest,
    read_problem,
    remove_leftovers,
)


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
        assert temporary.parent == tmp_path
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


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    left = (".model.safetensors.0123abcd", ".tmpcMt7sR")  # ours, and safetensors' own
    kept = ("model.safetensors", ".tmp", ".hidden", "state.tmpcMt7sR")
    for name in (*left, *kept):
        (tmp_path / name).touch()
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(kept)


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
