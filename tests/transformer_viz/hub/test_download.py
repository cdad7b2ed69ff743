from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.remote.cache import model_folder
from tests.core.remote.sites import Site, contents, marian_files, publish, resolved, serving
from tests.transformer_viz.hub.conftest import REPOSITORY, SIZE, Hub
from transformer_viz.engine.measuring import Progress
from transformer_viz.hub.download import UNREADABLE, About, ModelDownload


def test_nobody_is_asked_unasked(hub: Hub) -> None:
    hub.download.refresh()
    assert hub.child.asked == []
    assert hub.download.here == {}
    hub.put()
    hub.download.refresh()
    assert hub.download.here == {REPOSITORY: hub.folder}
    assert hub.child.asked == []


def test_first_asked_then_downloaded_one_at_a_time(hub: Hub, qtbot: QtBot) -> None:
    download = hub.download
    download.ask(REPOSITORY)
    assert (download.running, download.downloading) == (REPOSITORY, False)
    download.start("another/model")
    hub.answer()
    assert download.about == {REPOSITORY: About(REPOSITORY, "CC BY 4.0", SIZE, 0, hub.folder)}
    assert download.here == {}
    download.start(REPOSITORY)
    assert download.downloading
    hub.child.progressed.emit('{"done": 100, "total": 200, "seconds_left": 3.0}')
    assert download.progress == Progress(100, 200, 3.0)
    with qtbot.waitSignal(download.arrived) as arrived:
        hub.answer(SIZE)
    assert arrived.args == [REPOSITORY, hub.folder]
    assert download.here == {REPOSITORY: hub.folder}
    assert not download.running
    cache = ["--cache", str(hub.cache), "--json"]
    assert hub.child.asked == [
        ["get", REPOSITORY, "--about", *cache],
        ["get", REPOSITORY, *cache],
    ]


def test_what_was_here_all_along_needs_no_download(hub: Hub) -> None:
    hub.download.ask(REPOSITORY)
    hub.answer(SIZE)
    assert hub.download.here == {REPOSITORY: hub.folder}


def test_a_failure_is_kept_until_the_next_try(hub: Hub) -> None:
    hub.download.ask(REPOSITORY)
    hub.child.failed.emit("The hub cannot be reached.")
    assert hub.download.problems == {REPOSITORY: "The hub cannot be reached."}
    assert not hub.download.running
    hub.download.ask(REPOSITORY)
    assert hub.download.problems == {}
    hub.child.finished.emit({"size": "many"})
    assert hub.download.problems == {REPOSITORY: UNREADABLE}


def test_a_process_and_a_hub_on_loopback(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled in the middle, resumed, arrived."""
    weights, download = resolved(REPOSITORY, "pytorch_model.bin"), ModelDownload(tmp_path)
    with serving(Site()) as site:
        publish(site, REPOSITORY, marian_files())
        monkeypatch.setenv("HF_ENDPOINT", site.url)
        download.ask(REPOSITORY)
        qtbot.waitUntil(lambda: not download.running, timeout=60_000)
        assert download.about[REPOSITORY].here == 0
        site.slow[weights] = threading.Event()
        download.start(REPOSITORY)
        qtbot.waitUntil(
            lambda: download.progress is not None and download.progress.done > 64_000,
            timeout=60_000,
        )
        download.cancel()
        assert not download.running
        assert download.about[REPOSITORY].here > 64_000
        assert download.problems == {}
        site.slow.pop(weights).set()
        with qtbot.waitSignal(download.arrived, timeout=60_000) as arrived:
            download.start(REPOSITORY)
        folder = model_folder(REPOSITORY, tmp_path)
        assert arrived.args == [REPOSITORY, folder]
        assert contents(folder)["pytorch_model.bin"] == marian_files()["pytorch_model.bin"]
        assert site.given(weights)[1].startswith("bytes=")


def test_without_a_network_the_sentence_of_the_command(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    download = ModelDownload(tmp_path)
    download.ask(REPOSITORY)
    qtbot.waitUntil(lambda: not download.running, timeout=60_000)
    assert download.problems[REPOSITORY].startswith("127.0.0.1:9 cannot be reached; check the")
    assert "copy the model's folder" in download.problems[REPOSITORY]
