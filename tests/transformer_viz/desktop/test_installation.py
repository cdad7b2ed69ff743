"""The files of a desktop, read as a desktop reads them."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from core.errors import UserError
from tests.transformer_viz.models import save_tiny_model
from transformer_viz.desktop import installation as module
from transformer_viz.desktop.installation import ICON_SIZES, Installation, installed_command
from transformer_viz.shell.session_file import SUFFIX
from transformer_viz.startup import launch

ODD = '/opt/my "own" $HOME/100%/trans`former\\viz'


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "share", ("/usr/bin/transformer-viz",))


def entry(installation: Installation) -> configparser.SectionProxy:
    """Keys are case-sensitive, and a percent sign has no meaning of its own to the parser."""
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(installation.share / "applications/transformer-viz.desktop", encoding="utf-8")
    assert parser.sections() == ["Desktop Entry"]
    return parser["Desktop Entry"]


def words(value: str) -> list[str]:
    """`Exec` as the specification reads it: first the escapes of any value, then quotes."""
    value = value.replace("\\\\", "\\")
    found, word, quoted, signs = [], "", False, iter(value)
    for sign in signs:
        if sign == '"':
            quoted = not quoted
        elif quoted and sign == "\\":
            word += next(signs)
        elif sign == " " and not quoted:
            found.append(word)
            word = ""
        else:
            assert quoted or sign not in "\t\n'\\><~|&;$*?#()`", "reserved outside of quotes"
            word += sign
    assert not quoted
    return [word.replace("%%", "%") for word in [*found, word]]


def types(installation: Installation) -> dict[str, ElementTree.Element]:
    name = "{http://www.freedesktop.org/standards/shared-mime-info}mime-type"
    path = installation.share / "mime/packages/transformer-viz.xml"
    return {one.attrib["type"]: one for one in ElementTree.parse(path).getroot().iter(name)}


def matches(match: ElementTree.Element, data: bytes) -> bool:
    """A rule of the specification of shared MIME-info, for strings."""
    assert match.attrib["type"] == "string"
    first, _, last = match.attrib["offset"].partition(":")
    value = match.attrib["value"].encode()
    found = any(data.startswith(value, at) for at in range(int(first), int(last or first) + 1))
    nested = list(match)
    return found and (not nested or any(matches(one, data) for one in nested))


def is_model(installation: Installation, path: Path) -> bool:
    (magic,) = types(installation)["application/x-transformer-viz-model"].iter(
        "{http://www.freedesktop.org/standards/shared-mime-info}magic"
    )
    return any(matches(one, path.read_bytes()[:16384]) for one in magic)


def test_the_entry_opens_files_with_this_command(here: Installation) -> None:
    here.write()
    found = entry(here)
    assert words(found["Exec"]) == ["/usr/bin/transformer-viz", "%F"]
    assert found["TryExec"] == "/usr/bin/transformer-viz"
    assert found["Type"] == "Application"
    assert found["Terminal"] == "false"
    assert (here.share / f"icons/hicolor/scalable/apps/{found['Icon']}.svg").is_file()


def test_any_path_of_a_command_survives_the_quotes(tmp_path: Path) -> None:
    installation = Installation(tmp_path, (ODD, "/a b/main.py"))
    installation.write()
    assert words(entry(installation)["Exec"]) == [ODD, "/a b/main.py", "%F"]
    assert entry(installation)["TryExec"].replace("\\\\", "\\") == ODD


def test_the_types_are_the_same_everywhere(here: Installation) -> None:
    here.write()
    claimed = {*entry(here)["MimeType"].strip(";").split(";")}
    assert claimed == types(here).keys()
    component = ElementTree.parse(here.share / "metainfo/transformer-viz.metainfo.xml").getroot()
    assert {one.text for one in component.iter("mediatype")} == claimed
    assert component.attrib["type"] == "desktop-application"
    launchable = component.findtext("launchable")
    assert (here.share / "applications" / str(launchable)).is_file()
    categories = entry(here)["Categories"].strip(";").split(";")
    assert [one.text for one in component.iter("category")] == categories


def test_sessions_are_known_by_their_suffix_alone(here: Installation) -> None:
    here.write()
    globs = {
        one.attrib["pattern"]
        for kind in types(here).values()
        for one in kind.iter("{http://www.freedesktop.org/standards/shared-mime-info}glob")
    }
    assert globs == {f"*{SUFFIX}"}


def test_our_models_are_known_and_those_of_others_are_not(
    here: Installation, tmp_path: Path
) -> None:
    import numpy as np
    from safetensors.numpy import save_file

    here.write()
    assert is_model(here, save_tiny_model(tmp_path / "tiny.safetensors"))
    for name, metadata in {"pt": {"format": "pt"}, "none": None, "viz": {"by": "x"}}.items():
        save_file({"a": np.zeros(3)}, tmp_path / name, metadata)
        assert not is_model(here, tmp_path / name)


def test_each_icon_is_the_drawing_in_its_size(here: Installation, qapp: object) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    here.write()
    themes = here.share / "icons/hicolor"
    drawing = QSvgRenderer(str(themes / "scalable/apps/transformer-viz.svg"))
    for size in ICON_SIZES:
        stored = QImage(str(themes / f"{size}x{size}/apps/transformer-viz.png"))
        drawn = QImage(size, size, QImage.Format.Format_ARGB32)
        drawn.fill(Qt.GlobalColor.transparent)
        painter = QPainter(drawn)
        drawing.render(painter)
        painter.end()
        assert stored.size() == drawn.size()
        apart = [
            abs((stored.pixel(x, y) >> shift & 255) - (drawn.pixel(x, y) >> shift & 255))
            for x in range(size)
            for y in range(0, size, max(1, size // 16))
            for shift in (0, 8, 16, 24)
        ]
        assert sum(apart) / len(apart) < 3


def test_removal_leaves_what_others_put_there(here: Installation) -> None:
    other = here.share / "applications" / "other.desktop"
    other.parent.mkdir(parents=True)
    other.write_text("[Desktop Entry]\n")
    written = here.write()
    assert all(path.is_file() for path in written)
    assert here.remove() == written
    assert here.remove() == []
    assert [path for path in here.share.rglob("*") if path.is_file()] == [other]


def test_all_files_or_none(here: Installation, permissions: None) -> None:
    (here.share / "icons/hicolor").mkdir(parents=True)
    here.write()
    before = {path: path.read_bytes() for path in here.share.rglob("*") if path.is_file()}
    gone = here.share / "mime/packages/transformer-viz.xml"
    gone.unlink()
    locked = here.share / "metainfo"
    locked.chmod(0o500)
    try:
        with pytest.raises(UserError, match="metainfo"):
            here.write()
    finally:
        locked.chmod(0o700)
    after = {path: path.read_bytes() for path in here.share.rglob("*") if path.is_file()}
    assert after == {path: data for path, data in before.items() if path != gone}


def test_the_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    chosen = Installation.for_user({"XDG_DATA_HOME": str(tmp_path / "data")})
    assert chosen.share == tmp_path / "data"
    for environ in ({}, {"XDG_DATA_HOME": ""}, {"XDG_DATA_HOME": "relative"}):
        assert Installation.for_user(environ).share == Path.home() / ".local/share"


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_other_systems_are_told(
    platform: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert launch.main(["install-desktop"]) == 1
    assert "is for Linux desktops" in capsys.readouterr().err


def test_a_package_names_the_command_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = tmp_path / "usr"
    assert launch.main(["install-desktop", "--prefix", str(prefix)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == [str(path) for path in Installation.at(prefix).contents()]
    assert words(entry(Installation.at(prefix))["Exec"]) == ["transformer-viz", "%F"]
    assert not (prefix / "share/mime/mime.cache").exists()
    assert launch.main(["install-desktop", "--prefix", str(prefix), "--remove"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"removed {line}" for line in printed]


def test_the_command_is_the_one_that_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "transformer-viz"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script)])
    assert installed_command() == (str(script),)
    monkeypatch.setattr(sys, "argv", ["elsewhere/main.py"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert installed_command() == (str(script),)
    script.unlink()
    monkeypatch.setattr(module.sysconfig, "get_path", lambda name: str(tmp_path))
    assert installed_command() == (str(tmp_path / "python"), str(module.HOME / "main.py"))
    monkeypatch.setattr(module, "HOME", tmp_path)
    with pytest.raises(UserError, match="not installed"):
        installed_command()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert installed_command() == (str(tmp_path / "python"),)


def tool(folder: Path, name: str, code: int) -> None:
    """A program that notes its arguments and ends with that code."""
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$0 $*" >> {folder}/ran\nexit {code}\n')
    path.chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
def test_caches_are_updated_by_the_tools_that_are_there(
    here: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write()
    tools = tmp_path / "bin"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    assert here.update_caches() == []
    assert not (tools / "ran").exists()
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}/bin{os.pathsep}/usr/bin")
    tool(tools, "update-mime-database", 0)
    tool(tools, "update-desktop-database", 3)
    tool(tools, "gtk-update-icon-cache", 0)
    assert here.update_caches() == ["update-desktop-database failed with exit code 3."]
    ran = (tools / "ran").read_text()
    assert f"update-mime-database {here.share / 'mime'}\n" in ran
    assert "gtk-update-icon-cache" not in ran
    (here.share / "icons/hicolor/icon-theme.cache").touch()
    here.update_caches()
    assert "gtk-update-icon-cache" in (tools / "ran").read_text()


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="not installed")
def test_the_validator_of_freedesktop_agrees(here: Installation) -> None:
    here.write()
    path = here.share / "applications/transformer-viz.desktop"
    done = subprocess.run(["desktop-file-validate", str(path)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
