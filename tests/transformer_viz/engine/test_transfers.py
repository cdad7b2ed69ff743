import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.errors import UserError
from core.files import atomic_write
from transformer_viz.engine.transfers import Progress, Transfers


@pytest.fixture
def transfers(qapp: object) -> Iterator[Transfers]:
    made = Transfers()
    yield made
    made.close()


@pytest.fixture
def said(transfers: Transfers) -> list[str]:
    heard: list[str] = []
    transfers.failed.connect(heard.append)
    return heard


def test_a_saving_says_how_far_it_is_and_ends(transfers: Transfers, qtbot: QtBot) -> None:
    shares: list[float] = []
    ended: list[str] = []
    go = threading.Event()
    transfers.changed.connect(lambda: shares.append(transfers.share))

    def job(progress: Progress) -> str:
        progress(1, 4)
        progress(3, 4)
        go.wait(5)
        return "done"

    transfers.save("a.npz", job, ended.append)
    assert transfers.saving == "a.npz"
    qtbot.waitUntil(lambda: 0.75 in shares)
    go.set()
    qtbot.waitUntil(lambda: ended == ["done"])
    assert (transfers.saving, transfers.share) == ("", 0.0)


def test_a_second_saving_is_refused_while_one_runs(
    transfers: Transfers, said: list[str], qtbot: QtBot
) -> None:
    go = threading.Event()
    ended: list[bool] = []
    transfers.save("a.npz", lambda _progress: go.wait(5), ended.append)
    transfers.save("b.npz", lambda _progress: True, ended.append)
    (sentence,) = said
    assert "a.npz is still being saved" in sentence
    go.set()
    qtbot.waitUntil(lambda: len(ended) == 1)


def test_what_is_cancelled_leaves_the_file_as_it_was(
    transfers: Transfers, said: list[str], qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"before")
    started, go, stopped = threading.Event(), threading.Event(), threading.Event()

    def job(progress: Progress) -> None:
        def write(temporary: Path) -> None:
            temporary.write_bytes(b"half")
            started.set()
            go.wait(5)
            try:
                progress(1, 2)
            finally:
                stopped.set()

        atomic_write(path, write)

    transfers.save(path.name, job, lambda _: pytest.fail("it was cancelled"))
    started.wait(5)
    transfers.cancel()
    assert transfers.saving == ""
    go.set()
    assert stopped.wait(5)
    transfers.close()
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
    assert said == []


def test_failures_are_one_sentence(transfers: Transfers, said: list[str], qtbot: QtBot) -> None:
    def fail(error: Exception) -> None:
        raise error

    transfers.save("a", lambda _p: fail(UserError("No room.")), lambda _: None)
    qtbot.waitUntil(lambda: len(said) == 1)
    transfers.open(lambda: fail(RuntimeError("odd")), lambda _: None, said.append)
    qtbot.waitUntil(lambda: len(said) == 2)
    assert said[0] == "No room."
    assert "RuntimeError: odd" in said[1]
    assert transfers.saving == ""


def test_the_newest_opening_wins(transfers: Transfers, qtbot: QtBot) -> None:
    go, busy = threading.Event(), threading.Event()
    opened: list[str] = []

    def slow() -> str:
        busy.set()
        go.wait(5)
        return "old"

    transfers.open(slow, opened.append, opened.append)
    busy.wait(5)
    transfers.open(lambda: "new", opened.append, opened.append)
    go.set()
    qtbot.waitUntil(lambda: opened == ["new"])
