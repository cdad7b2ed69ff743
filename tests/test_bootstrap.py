"""What the set-up does where something is missing; nothing is installed here."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from transformer_viz.startup import preflight

SCRIPT = Path(__file__).resolve().parent.parent / ".ci" / "bootstrap.py"
spec = importlib.util.spec_from_file_location("bootstrap", SCRIPT)
assert spec is not None
assert spec.loader is not None
bootstrap = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bootstrap)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The Debian packages that the set-up asked for; asking for them brings nothing."""
    packages: list[str] = []
    monkeypatch.setattr(bootstrap, "install_debian_packages", packages.extend)
    return packages


def without(monkeypatch: pytest.MonkeyPatch, library: str, *, root: bool) -> None:
    monkeypatch.setattr(preflight, "_loads", lambda name: name != library)
    monkeypatch.setattr(bootstrap, "missing_for_tests", lambda: ["hunspell"])
    monkeypatch.setattr(bootstrap, "may_install", lambda: root)


def test_root_on_debian_installs_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, installed: list[str]
) -> None:
    without(monkeypatch, "libxcb-cursor.so.0", root=True)
    bootstrap.install_system_libraries(dev=True)
    assert installed == ["libxcb-cursor0", "hunspell"]


def test_others_are_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, installed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    without(monkeypatch, "libxcb-cursor.so.0", root=False)
    bootstrap.install_system_libraries(dev=False)
    assert not installed
    assert "apt-get install libxcb-cursor0\n" in capsys.readouterr().err


def test_a_library_that_qt_links_stops_the_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "libEGL.so.1", root=False)
    with pytest.raises(bootstrap.SetupError, match="libegl1"):
        bootstrap.install_system_libraries(dev=False)


def test_what_tests_use_is_looked_for_on_disk_and_on_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "en_US.dic").touch()
    dictionaries = {str(tmp_path / "en_US.dic"): "english", str(tmp_path / "de_DE.dic"): "german"}
    monkeypatch.setattr(bootstrap, "TEST_DICTIONARIES", dictionaries)
    monkeypatch.setattr(bootstrap, "TEST_PROGRAMS", {"here": "a", "away": "b"})
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: name if name == "here" else None)
    assert bootstrap.missing_for_tests() == ["german", "b"]


def test_a_failed_step_is_named_with_the_log_of_its_output(
    capfd: pytest.CaptureFixture[str],
) -> None:
    step = "print('Reading database ... 5%'); raise SystemExit('no such package')"
    with pytest.raises(bootstrap.SetupError) as raised:
        bootstrap.run([bootstrap.sys.executable, "-c", step], "the packages")
    said = re.fullmatch(
        r"the packages could not be installed: no such package \(exit 1; see (.+)\)",
        str(raised.value),
    )
    assert said is not None
    log = Path(said[1])
    assert "Reading database ... 5%" in log.read_text(encoding="utf-8")
    log.unlink()
    assert capfd.readouterr() == ("", "")


def test_a_step_that_succeeds_says_nothing_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap.tempfile, "tempdir", str(tmp_path))
    bootstrap.run([bootstrap.sys.executable, "-c", "print('Unpacking ...')"], "the packages")
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())
