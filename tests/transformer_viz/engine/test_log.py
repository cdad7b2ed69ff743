import logging
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from transformer_viz.engine.log import (
    MOST_BYTES,
    OLD_FILES,
    SHOWN_BYTES,
    end_log,
    log_folder,
    read_log,
    start_log,
    versions,
)


@pytest.fixture(autouse=True)
def _log_ends() -> Iterator[None]:
    level = logging.getLogger().level
    yield
    end_log()
    logging.getLogger().setLevel(level)


def test_errors_and_warnings_go_to_the_file(tmp_path: Path) -> None:
    path = start_log(tmp_path / "deep" / "logs")
    assert path is not None
    try:
        raise RuntimeError("it broke")
    except RuntimeError:
        logging.getLogger("somewhere").exception("Failed")
    warnings.warn("old thing", stacklevel=1)
    text = read_log(path)
    assert "Started: Python" in text
    assert "ERROR somewhere: Failed" in text
    assert "RuntimeError: it broke" in text
    assert "old thing" in text


def test_the_file_stays_small(tmp_path: Path) -> None:
    path = start_log(tmp_path)
    assert path is not None
    for _ in range(20):
        logging.getLogger().error("x" * (MOST_BYTES // 4))
    files = list(tmp_path.iterdir())
    assert len(files) == 1 + OLD_FILES
    assert all(file.stat().st_size <= MOST_BYTES for file in files)


def test_nothing_is_lost_while_another_window_has_the_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On Windows, where an open file cannot be renamed."""

    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr("transformer_viz.engine.log.replace", refuse)
    path = start_log(tmp_path)
    assert path is not None
    for number in range(4):
        logging.getLogger().error("%d %s", number, "x" * (MOST_BYTES // 2))
    text = path.read_text(encoding="utf-8")
    assert [number for number in range(4) if f"ERROR root: {number} x" in text] == [0, 1, 2, 3]
    assert capsys.readouterr().err == ""


def test_a_folder_that_cannot_be_written_means_no_log(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    before = list(logging.getLogger().handlers)
    assert start_log(blocked / "logs") is None
    assert logging.getLogger().handlers == before


def test_the_end_of_a_long_log_is_shown_from_a_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    lines = [f"line {number:06} ü" for number in range(20_000)]
    path.write_text("\n".join(lines), encoding="utf-8")
    shown = read_log(path).split("\n")
    assert shown[-1] == lines[-1]
    assert shown[0] in lines
    assert len("\n".join(shown).encode()) <= SHOWN_BYTES
    assert "cannot be read" in read_log(tmp_path / "missing.log")


def test_lone_surrogates_do_no_harm(tmp_path: Path) -> None:
    path = start_log(tmp_path)
    assert path is not None
    logging.getLogger().error("bad \ud800 text")
    assert "bad ? text" in read_log(path)


def test_the_settings_folder_of_the_command_line_takes_the_log_too(tmp_path: Path) -> None:
    assert log_folder(tmp_path) == tmp_path
    assert log_folder(None).name


def test_versions_name_no_user() -> None:
    said = " ".join(versions())
    assert "Python" in said
    assert "PySide6" in said
    assert str(Path.home()) not in said
