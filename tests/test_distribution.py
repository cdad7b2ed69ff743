"""What is handed on: a source distribution that builds, and the wheel that is built from it.

Both are built by setuptools itself, from copies and without a network.
"""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import core
import resources
import transformer_viz
from transformer_viz.desktop.man_page import man_page

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("__pycache__", ".*_cache", "*.egg-info")
TREES = (".ci", "core", "docs", "resources", "tests", "transformer_viz")
MANUAL_PAGE = {"docs/transformer-viz.1"}  # made when the project is built
MADE = {"PKG-INFO", "setup.cfg"}  # by setuptools, for itself


def build(kind: str, source: Path, out: Path) -> Path:
    """Call a hook of the build backend as a front end does, and return the file that it made."""
    out.mkdir(exist_ok=True)
    script = f"from setuptools import build_meta\nprint(build_meta.build_{kind}({str(out)!r}))"
    command = [sys.executable, "-P", "-c", script]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stderr[-2000:]
    return out / done.stdout.strip().rsplit("\n", 1)[-1]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked."""
    setuptools = pytest.importorskip("setuptools")
    if int(setuptools.__version__.partition(".")[0]) < 77:
        pytest.skip("this setuptools is too old to build the project")
    folder = tmp_path_factory.mktemp("distribution")
    copy = folder / "copy"
    copy.mkdir()
    ignored = shutil.ignore_patterns(*LEFT_OUT)
    for path in ROOT.iterdir():
        if path.is_dir() and path.name in TREES:
            shutil.copytree(path, copy / path.name, ignore=ignored)
        elif path.is_file() and path.name not in MADE:
            shutil.copy2(path, copy)
    archive = build("sdist", copy, folder / "out")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(sdist: Path) -> Path:
    """The wheel that a distributor builds from the source distribution, unpacked."""
    archive = build("wheel", sdist, sdist.parent / "out")
    folder = sdist.parent / "wheel"
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    (path,) = wheel.glob("*.dist-info/METADATA")
    return email.message_from_string(path.read_text(encoding="utf-8"))


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def tracked() -> set[str]:
    """What belongs to the project: the files that git knows and that are still there."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a clone")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}


def test_the_source_distribution_is_the_whole_project(sdist: Path) -> None:
    listed = tracked()
    found = {name for name in names(sdist) - MADE if ".egg-info/" not in name} - MANUAL_PAGE
    assert listed - found == set()
    untracked = {name for name in found - listed if not name.endswith((".py", ".md"))}
    assert untracked == set()  # a file that is about to be added may be there


def test_a_distributor_can_build_test_and_read_it(sdist: Path) -> None:
    found = names(sdist)
    assert {"tests/conftest.py", "tests/screen.json", "pyproject.toml", "Makefile"} <= found
    assert {"main.py", "CHANGELOG.md", "docs/guide.md", ".ci/bootstrap.py"} <= found


def test_the_wheel_has_all_code_and_data_and_nothing_else(wheel: Path) -> None:
    packages = {Path(package.__path__[0]) for package in (core, transformer_viz, resources)}
    expected = {
        path.relative_to(ROOT).as_posix()
        for package in packages
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    expected = {name for name in expected if not name.startswith("resources/packaging/")}
    found = {name for name in names(wheel) if not re.match(r"[^/]+\.(dist-info|data)/", name)}
    assert found == expected
    assert {"core/py.typed", "transformer_viz/py.typed"} <= found


def test_the_wheel_has_the_manual_page_and_the_licences(wheel: Path) -> None:
    found = {name.partition("/")[2] for name in names(wheel) if name.startswith("transformer_viz-")}
    assert "data/share/man/man1/transformer-viz.1" in found
    (page,) = wheel.rglob("transformer-viz.1")
    assert page.read_text(encoding="utf-8") == man_page()
    assert {"licenses/LICENSE", "licenses/resources/THIRD-PARTY.md"} <= found


def test_the_metadata_are_complete(metadata: Message) -> None:
    assert metadata["Name"] == "transformer-viz"
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Author"] == "Transformer Viz contributors"
    assert metadata["Keywords"]
    classifiers = metadata.get_all("Classifier")
    assert classifiers is not None
    assert "Typing :: Typed" in classifiers
    assert not [one for one in classifiers if one.startswith("License ::")]  # PEP 639
    assert metadata["Project-URL"] is None
    assert metadata["Home-page"] is None


def test_the_text_of_the_index_points_nowhere_inside_the_project(metadata: Message) -> None:
    text = metadata.get_payload()
    assert isinstance(text, str)
    assert text.startswith("# Transformer Viz")
    assert metadata["Description-Content-Type"] == "text/markdown"
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    assert [link for link in links if not link.startswith("https://")] == []
    assert "![" not in text


def test_every_picture_of_the_readme_is_beside_it(sdist: Path) -> None:
    text = (sdist / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (sdist / link).exists()] == []


def test_the_wheel_runs(wheel: Path, tmp_path: Path) -> None:
    """From its own folder, with the packages of this environment."""
    environment = os.environ | {"PYTHONPATH": str(wheel), "PYTHONSAFEPATH": "1"}
    for module, words, said in (
        ("transformer_viz", ["--version"], "transformer-viz"),
        ("transformer_viz", ["install-desktop", "--prefix", "usr"], "transformer-viz.desktop"),
        ("core", ["corpus", "--count", "1"], "."),
    ):
        command = [sys.executable, "-m", module, *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert said in done.stdout
