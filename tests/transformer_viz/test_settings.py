import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from transformer_viz import settings
from transformer_viz.settings import Settings, SettingsFile, parse
from transformer_viz.theme import ThemeChoice


def test_every_field_has_a_check() -> None:
    assert set(settings._CHECKS) == set(asdict(Settings()))


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / "deep" / "folder")
    saved = replace(
        Settings(),
        theme=ThemeChoice.DARK,
        text="Grüße \ud800 \U0001f600",
        alpha=0.8,
        geometry=(-5, 10, 1440, 900),
        recent_files=("/models/a.safetensors",),
    )
    assert file.save(saved) is None
    assert file.load() == (saved, None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theme", "pink"),
        ("theme", ["dark"]),
        ("beam", 0),
        ("beam", True),
        ("beam", 2.5),
        ("alpha", "0.6"),
        ("alpha", float("nan")),
        ("threads", -1),
        ("recent_files", ["a", 3]),
        ("recent_files", ["x"] * 11),
        ("geometry", [1, 2, 3]),
        ("geometry", [0, 0, 2**40, 5]),
        ("maximized", "false"),
        ("text", 7),
    ],
)
def test_a_bad_field_falls_back_alone(name: str, value: object) -> None:
    other = "dark" if name != "theme" else "light"
    data = {"theme": other, "hint_done": True, name: value}
    parsed, bad = parse(json.dumps(data).encode())
    assert bad == [name]
    assert getattr(parsed, name) == getattr(Settings(), name)
    assert parsed.hint_done


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[1]", b"null", b"\xff\xfe", b"[" * 100_000, b'"theme"'],
    ids=["empty", "cut", "list", "null", "not utf-8", "deep", "string"],
)
def test_a_bad_file_is_kept_beside(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "settings.json").write_bytes(data)
    file = SettingsFile(tmp_path)
    loaded, notice = file.load()
    assert loaded == Settings()
    assert notice is not None
    assert "settings.json.bad" in notice
    file.save(Settings(theme=ThemeChoice.DARK))
    assert (tmp_path / "settings.json.bad").read_bytes() == data
    assert file.load() == (Settings(theme=ThemeChoice.DARK), None)


def test_a_field_of_a_newer_version_is_passed_over() -> None:
    parsed, bad = parse(b'{"hologram": true, "theme": "dark"}')
    assert parsed == Settings(theme=ThemeChoice.DARK)
    assert bad == []


def test_a_folder_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    file = SettingsFile(blocked / "config")
    assert file.load() == (Settings(), None)
    assert file.save(Settings()) == f"Settings cannot be saved in {blocked / 'config'}."
    assert file.save(Settings()) is None


@pytest.mark.usefixtures("permissions")
def test_a_read_only_folder_is_said_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    file = SettingsFile(tmp_path)
    assert file.save(Settings()) is not None
    assert file.save(Settings()) is None


def test_without_a_folder_nothing_is_remembered() -> None:
    file = SettingsFile(None)
    file.save(Settings(theme=ThemeChoice.DARK))
    assert file.load() == (Settings(), None)


def test_history_and_recent_files_keep_the_newest_once() -> None:
    remembered = Settings()
    for number in range(40):
        remembered = remembered.remember_text(f"Sentence {number}.")
    remembered = remembered.remember_text("Sentence 35.")
    assert remembered.history[:2] == ("Sentence 35.", "Sentence 39.")
    assert len(remembered.history) == settings.HISTORY
    assert remembered.history.count("Sentence 35.") == 1
    assert remembered.remember_text("  ") is remembered
    assert remembered.remember_text("x" * 20_000) is remembered
    files = remembered.remember_file("a").remember_file("b").remember_file("a")
    assert files.recent_files == ("a", "b")
