import json
import os
import stat
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from transformer_viz.state import settings
from transformer_viz.state.options import ThemeChoice, ViewOptions
from transformer_viz.state.settings import Settings, SettingsFile, parse


def test_every_field_has_a_check() -> None:
    assert {*settings._CHECKS, "options"} == set(asdict(Settings()))


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
    parsed, bad, *_unknown = parse(json.dumps(data).encode())
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


def test_fields_of_a_newer_version_survive_a_save(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"hologram": {"depth": 3}, "theme": "dark", "options": {"depth": 4}}')
    file = SettingsFile(tmp_path)
    loaded, notice = file.load()
    assert loaded == Settings(theme=ThemeChoice.DARK)
    assert notice is None
    file.save(replace(loaded, alpha=1.0))
    saved = json.loads(path.read_text())
    assert saved["hologram"] == {"depth": 3}
    assert saved["options"] == {"depth": 4, **asdict(ViewOptions())}
    assert (saved["version"], saved["theme"], saved["alpha"]) == (1, "dark", 1.0)


def test_one_bad_option_falls_back_alone() -> None:
    data = {"options": {"threshold": 7, "merge_words": True, "of_the_future": 1}}
    parsed, bad, *_unknown = parse(json.dumps(data).encode())
    assert bad == ["options.threshold"]
    assert parsed.options == ViewOptions(merge_words=True)


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_a_file_that_may_not_be_read_or_written_is_left_alone(tmp_path: Path, mode: int) -> None:
    """As the files of a system that manages its users' settings are."""
    path = tmp_path / "settings.json"
    path.write_text('{"theme": "dark"}')
    path.chmod(mode)
    file = SettingsFile(tmp_path)
    loaded, notice = file.load()
    assert loaded.theme is (ThemeChoice.DARK if mode else ThemeChoice.SYSTEM)
    assert notice is not None
    assert notice.startswith("Settings will not be saved")
    assert str(path) in notice
    assert file.save(Settings(alpha=1.0)) is None
    assert stat.S_IMODE(path.stat().st_mode) == mode
    path.chmod(0o600)
    assert path.read_text() == '{"theme": "dark"}'
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settings.json")
    loaded, notice = SettingsFile(tmp_path).load()
    assert loaded == Settings()
    assert notice is not None
    assert "is a pipe or a device" in notice


def test_settings_hold_what_was_typed_so_they_are_private(tmp_path: Path) -> None:
    SettingsFile(tmp_path).save(Settings(text="typed"))
    assert stat.S_IMODE((tmp_path / "settings.json").stat().st_mode) == 0o600


def test_two_windows_lose_nothing_of_each_other(tmp_path: Path) -> None:
    SettingsFile(tmp_path).save(Settings(recent_files=("old", "older")))
    first, second = SettingsFile(tmp_path), SettingsFile(tmp_path)
    one, _ = first.load()
    other, _ = second.load()
    one = replace(
        one.remember_file("of one").remember_text("typed in one"),
        alpha=1.0,
        options=ViewOptions(merge_words=True),
    )
    other = replace(
        other.remember_file("of other").remember_text("typed in other"),
        beam_size=8,
        options=ViewOptions(threshold=0.5),
    )
    for _again in range(2):
        first.save(one)
        second.save(other)
    merged, _ = SettingsFile(tmp_path).load()
    assert (merged.alpha, merged.beam_size) == (1.0, 8)
    assert merged.options == ViewOptions(merge_words=True, threshold=0.5)
    assert merged.recent_files == ("of other", "old", "older", "of one")
    assert merged.history == ("typed in other", "typed in one")


def test_a_run_that_was_removed_in_one_window_stays_removed(tmp_path: Path) -> None:
    SettingsFile(tmp_path).save(Settings(runs=("a", "b")))
    first, second = SettingsFile(tmp_path), SettingsFile(tmp_path)
    one, _ = first.load()
    other, _ = second.load()
    first.save(replace(one, runs=("b",)))
    second.save(replace(other, runs=("a", "b", "c")))
    assert SettingsFile(tmp_path).load()[0].runs == ("b", "c")


def test_settings_that_are_set_aside_are_kept(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path)
    file.save(Settings(alpha=1.0))
    notice = file.set_aside()
    (kept,) = tmp_path.iterdir()
    assert notice == f"Starting with default settings; the previous ones are kept as {kept}."
    assert json.loads(kept.read_text())["alpha"] == 1.0
    assert file.load() == (Settings(), None)
    assert SettingsFile(tmp_path).set_aside() is None


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
