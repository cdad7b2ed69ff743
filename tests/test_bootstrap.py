"""What the set-up does where something is missing; nothing is installed here."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from transformer_viz import preflight

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


def test_a_failed_step_names_what_failed() -> None:
    with pytest.raises(bootstrap.SetupError, match=r"the packages .*exit 3"):
        bootstrap.run([bootstrap.sys.executable, "-c", "raise SystemExit(3)"], "the packages")
