"""The recipe of a bundle, as PyInstaller runs it, with PyInstaller pretended.

`make bundle` builds one and tries it; that takes minutes.
"""

from __future__ import annotations

import fnmatch
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGING = ROOT / "resources" / "packaging"


@pytest.fixture(params=["linux", "win32", "darwin"])
def recipe(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What each step of the recipe was called with."""
    pytest.importorskip("packaging")
    called: dict[str, Any] = {"system": request.param, "EXE": []}

    def analysis(scripts: list[str], **options: Any) -> SimpleNamespace:
        called["Analysis"] = options | {"scripts": scripts}
        names = ("torch/test/a.so", "torch\\bin\\b", "torch/lib/c", "torch/bin/torch_shm_manager")
        binaries = [(name, "", "") for name in names]
        return SimpleNamespace(pure=[], scripts=scripts, binaries=binaries, datas=options["datas"])

    hooks = ModuleType("PyInstaller.utils.hooks")
    hooks.copy_metadata = lambda name: [(f"{name}.dist-info", name)]  # type: ignore[attr-defined]
    hooks.collect_submodules = lambda name: [f"{name}.x"]  # type: ignore[attr-defined]
    hooks.collect_data_files = lambda name: [(f"{name}/x.bin", name)]  # type: ignore[attr-defined]
    for name in ("PyInstaller", "PyInstaller.utils"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "PyInstaller.utils.hooks", hooks)
    source = compile((PACKAGING / "bundle.spec").read_text("utf-8"), "bundle.spec", "exec")
    scope = {
        "SPECPATH": str(PACKAGING),
        "Analysis": analysis,
        "PYZ": lambda pure: None,
        "EXE": lambda *parts, **options: called["EXE"].append(options),
        "COLLECT": lambda *parts, **options: called.update(COLLECT=(parts, options)),
        "BUNDLE": lambda *parts, **options: called.update(BUNDLE=options),
    }
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", request.param)
        exec(source, scope)
    return called


def test_every_file_of_the_packages_is_in_it(recipe: dict[str, Any]) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    inside = {str(Path(source)): folder for source, folder in recipe["Analysis"]["datas"]}
    for package, patterns in settings["tool"]["setuptools"]["package-data"].items():
        for path in (ROOT / package).rglob("*"):
            name = path.relative_to(ROOT / package).as_posix()
            plain = [pattern.removeprefix("**/") for pattern in patterns]
            named = any(fnmatch.fnmatch(f"/{name}", f"*/{pattern}") for pattern in plain)
            if path.is_file() and named and path.name != "py.typed":
                assert inside[str(path)] == path.parent.relative_to(ROOT).as_posix()


def test_what_is_imported_by_name_is_in_it(recipe: dict[str, Any]) -> None:
    modules = set(recipe["Analysis"]["hiddenimports"])
    assert {"core.commands.import_", "transformer_viz.desktop.man", "resources"} <= modules
    assert not [name for name in modules if "packaging" in name or "__init__" in name]
    assert "core.corpus.grammar.families.stories" in modules
    assert "sacrebleu.tokenizers.x" in modules
    assert ("sentencepiece/x.bin", "sentencepiece") in recipe["Analysis"]["datas"]
    assert recipe["Analysis"]["scripts"] == [str(ROOT / "main.py")]


def test_it_carries_the_licences_of_what_it_contains(recipe: dict[str, Any]) -> None:
    carried = {folder for source, folder in recipe["Analysis"]["datas"] if "dist-info" in source}
    assert {"transformer-viz", "torch", "PySide6-Essentials", "numpy"} <= carried
    assert "pytest" not in carried


def test_files_that_nothing_uses_stay_out(recipe: dict[str, Any]) -> None:
    parts, _options = recipe["COLLECT"]
    kept = [entry[0] for entry in parts[-2]]
    assert kept == ["torch/lib/c", "torch/bin/torch_shm_manager"]


def test_each_system_gets_its_programs(recipe: dict[str, Any]) -> None:
    programs = {options["name"]: options["console"] for options in recipe["EXE"]}
    expected = {"transformer-viz": True}
    if recipe["system"] == "win32":
        expected["transformer-viz-window"] = False
    assert programs == expected
    assert ("BUNDLE" in recipe) == (recipe["system"] == "darwin")
    for options in recipe["EXE"]:
        assert (options["icon"] is None) == (recipe["system"] == "linux")
