"""Other systems, and a bundle, as far as they can be pretended here."""

from __future__ import annotations

import importlib.util
import ntpath
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from core import system
from core.files import atomic_write_text, read_regular
from core.training import lock as lock_module
from core.training.run_folder import RunFolder


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


def refusing(times: int) -> Callable[[object, object], None]:
    """An ``os.replace`` that meets an open file a few times first."""
    real = os.replace
    left = [times]

    def replace(source: str, target: str) -> None:
        if left[0]:
            left[0] -= 1
            raise PermissionError(13, "The process cannot access the file")
        real(source, target)

    return replace  # type: ignore[return-value]


def test_a_module_runs_by_python_in_safe_path_mode() -> None:
    assert system.module_command("core", ["info", "base"]) == [
        *(sys.executable, "-P", "-m", "core", "info", "base"),
    ]


def test_a_bundle_runs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    for module in ("core", "transformer_viz"):
        assert system.module_command(module, ["info"]) == [sys.executable, "info"]


def test_on_windows_the_program_with_a_console_is_listened_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, windows: None
) -> None:
    window = tmp_path / "transformer-viz-window.exe"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(window))
    command = system.module_command("core", ["info"])
    assert command == [str(tmp_path / "transformer-viz.exe"), "info"]
    assert system.module_command("transformer_viz") == [str(window)]


def test_the_packages_come_first_and_the_current_folder_never() -> None:
    for path in ("", os.pathsep, f"{os.pathsep}elsewhere"):
        folders = system.module_environment(path)["PYTHONPATH"].split(os.pathsep)
        assert Path(folders[0], "core", "system.py").is_file()
        assert folders[1:] == [part for part in ["elsewhere"] if part in path]


def test_other_programs_get_their_own_libraries_back(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = {"LD_LIBRARY_PATH": "/bundle", "LD_LIBRARY_PATH_ORIG": "/own", "HOME": "/home"}
    assert system.outside_environment(inside) == inside
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert system.outside_environment(inside) == {"LD_LIBRARY_PATH": "/own", "HOME": "/home"}
    assert system.outside_environment({"LD_LIBRARY_PATH": "/bundle"}) == {}


def test_a_program_without_a_console_may_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    system.ensure_output()
    for stream in (sys.stdout, sys.stderr):
        assert stream.write("nowhere ✓")
        stream.flush()
        stream.close()


def test_menus_of_freedesktop(monkeypatch: pytest.MonkeyPatch) -> None:
    for platform, has in {
        "linux": True,
        "freebsd14": True,
        "darwin": False,
        "win32": False,
    }.items():
        monkeypatch.setattr(sys, "platform", platform)
        assert system.has_menus_of_freedesktop() is has


def test_the_signals_are_those_that_the_system_has(monkeypatch: pytest.MonkeyPatch) -> None:
    here = set(system.stop_signals())
    assert {signal.SIGINT, signal.SIGTERM} <= here
    monkeypatch.delattr(signal, "SIGHUP", raising=False)
    monkeypatch.setattr(signal, "SIGBREAK", 21, raising=False)
    assert set(system.stop_signals()) == {signal.SIGINT, signal.SIGTERM, 21}


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no terminals that hang up")
def test_nohup_is_respected() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert signal.SIGHUP not in system.stop_signals()
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        assert signal.SIGHUP in system.stop_signals()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_giving_way_never_raises_the_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "PRIO_PROCESS", 0, raising=False)
    monkeypatch.setattr(os, "getpriority", lambda which, pid: 12, raising=False)
    monkeypatch.setattr(
        os, "setpriority", lambda which, pid, value: set_to.append((pid, value)), raising=False
    )
    system.give_way(15, 7)
    system.give_way(10, 7)
    assert set_to == [(7, 15), (7, 12)]


def test_giving_way_fails_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(which: int, pid: int) -> int:
        raise ProcessLookupError(3, "No such process")

    monkeypatch.setattr(os, "getpriority", gone, raising=False)
    system.give_way(15, 7)
    monkeypatch.delattr(os, "setpriority", raising=False)  # as on Windows
    system.give_way(15)


def test_a_file_that_is_open_for_an_instant_is_replaced(
    tmp_path: Path, windows: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    monkeypatch.setattr(os, "replace", refusing(3))
    atomic_write_text(target, "new")
    assert target.read_text() == "new"


def test_a_file_that_stays_open_is_refused(
    tmp_path: Path, windows: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", refusing(99))
    with pytest.raises(PermissionError):
        system.replace(tmp_path / "a", tmp_path / "b")


def test_elsewhere_the_first_refusal_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "replace", refusing(1))
    with pytest.raises(PermissionError):
        system.replace(tmp_path / "a", tmp_path / "b")


def test_what_is_open_is_left_for_the_next_time(
    tmp_path: Path, windows: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunFolder(tmp_path)
    for step in (1, 2, 3):
        run.checkpoint(step).parent.mkdir(exist_ok=True)
        run.checkpoint(step).touch()
    unlink = Path.unlink
    opened = {run.checkpoint(1)}

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path in opened:
            raise PermissionError(13, "The process cannot access the file")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    run.prune_checkpoints(1)
    assert run.checkpoints() == [run.checkpoint(1), run.checkpoint(3)]
    opened.clear()
    run.prune_checkpoints(1)
    assert run.checkpoints() == [run.checkpoint(3)]
    opened.add(run.checkpoint(3))
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(PermissionError):
        system.discard(run.checkpoint(3))


def test_removing_what_is_not_there(tmp_path: Path) -> None:
    system.remove(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("C:\\short.npz", "C:\\short.npz"),
        (f"C:\\{'a' * 250}\\x.npz", f"\\\\?\\C:\\{'a' * 250}\\x.npz"),
        (f"\\\\host\\{'a' * 250}", f"\\\\?\\UNC\\host\\{'a' * 250}"),
        (f"\\\\?\\C:\\{'a' * 250}", f"\\\\?\\C:\\{'a' * 250}"),
    ],
)
def test_long_paths_of_windows(
    path: str, expected: str, monkeypatch: pytest.MonkeyPatch, windows: None
) -> None:
    monkeypatch.setattr(os.path, "abspath", ntpath.normpath)
    assert system.any_length(path) == expected


def test_other_systems_take_a_path_as_it_is(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 200) / ("b" * 200)
    deep.mkdir(parents=True)
    atomic_write_text(deep / "c.txt", "text")
    assert read_regular(deep / "c.txt", most=10) == b"text"


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", " ", "a/b", "a\\b", "a:b", 'a"b', "a?", "a\nb", "a."),
        *("CON", "con", "Aux.txt", "COM1", "lpt9.tar.gz", "nul"),
    ],
)
def test_names_that_some_system_refuses(name: str) -> None:
    assert system.name_problem(name).endswith(".")


@pytest.mark.parametrize("name", ["base-1", "äpfel 2", "console", "com", "com10", ".hidden", "a.b"])
def test_names_that_every_system_has(name: str) -> None:
    assert system.name_problem(name) == ""


def test_a_title_becomes_a_name() -> None:
    assert system.portable_name("Heads map: encoder 4.1 / “it”") == "heads-map-encoder-4-1-it"
    for title in ("CON", "aux", "Nul!", "x" * 500, "a. "):
        assert system.name_problem(system.portable_name(title)) == ""
        assert len(system.portable_name(title)) <= 101


def test_a_command_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["transformer-viz", "train", "my run", 'a="b"']
    monkeypatch.setattr(sys, "platform", "linux")
    assert system.shell_line(words) == "transformer-viz train 'my run' 'a=\"b\"'"
    monkeypatch.setattr(sys, "platform", "win32")
    assert system.shell_line(words) == 'transformer-viz train "my run" a=\\"b\\"'


def lock_of_windows(monkeypatch: pytest.MonkeyPatch, held: set[int]) -> ModuleType:
    """The module as Windows imports it, with a lock of bytes of files that are open."""

    def locking(descriptor: int, mode: int, count: int) -> None:
        assert (mode, count) == (2, 1)
        assert os.lseek(descriptor, 0, os.SEEK_CUR) > 1_000_000  # the text stays readable
        inode = os.fstat(descriptor).st_ino
        if inode in held:
            raise PermissionError(13, "Permission denied")
        held.add(inode)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "fcntl", None)  # type: ignore[arg-type]
    spec = importlib.util.spec_from_file_location("lock_of_windows", lock_module.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_lock_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: set[int] = set()
    module = lock_of_windows(monkeypatch, held)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    lock = module.Lock(tmp_path / "lock")
    closed_before_removed: list[bool] = []
    unlink = Path.unlink

    def watched(path: Path, missing_ok: bool = False) -> None:
        closed_before_removed.append(_is_closed(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", watched)
    with lock:
        assert lock.owner() == os.getpid()
        with pytest.raises(module.UserError, match="being trained by process"):
            module.Lock(tmp_path / "lock").__enter__()
    assert closed_before_removed == [True]
    assert not (tmp_path / "lock").exists()


def _is_closed(path: Path) -> bool:
    """Whether no descriptor of this process is open on it."""
    for number in range(3, 256):
        try:
            if os.path.samestat(os.fstat(number), path.stat()):
                return False
        except OSError:
            continue
    return True
