"""`transformer-viz get` as a process, against a hub on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from core.remote.pairs import PAIRS
from tests.core.remote.sites import Site, contents, marian_files, publish, resolved, serving

ROOT = Path(__file__).resolve().parents[3]
REPOSITORY = "Helsinki-NLP/opus-mt-en-de"


@pytest.fixture
def hub() -> Iterator[Site]:
    with serving(Site()) as site:
        publish(site, REPOSITORY, marian_files())
        yield site


def environment(hub: Site | None, **more: str) -> Mapping[str, str]:
    endpoint = "http://127.0.0.1:9" if hub is None else hub.url
    return {**os.environ, "HF_ENDPOINT": endpoint, **more}


def get(hub: Site | None, *words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "core", "get", *map(str, words)],
        cwd=ROOT,
        env=environment(hub, **more),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


def answer(run: subprocess.CompletedProcess[str]) -> Any:
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_about_then_get_then_nothing_more_to_ask(hub: Site, tmp_path: Path) -> None:
    about = answer(get(hub, "en-de", "--about", "--cache", tmp_path, "--json"))
    assert about["licence"] == "CC BY 4.0"
    assert about["here"] == 0
    assert not list(tmp_path.iterdir())
    run = get(hub, "en-de", "--cache", tmp_path)
    assert run.returncode == 0, run.stderr
    folder = Path(run.stdout.strip())
    assert folder == Path(about["folder"])
    assert sum(map(len, contents(folder).values())) == about["size"]
    assert run.stderr == (
        f"{REPOSITORY}: 0.3 MB; licence: CC BY 4.0\nAll files match the hub's checksums.\n"
    )
    hub.asked.clear()
    again = answer(get(hub, REPOSITORY, "--cache", tmp_path, "--json"))
    assert again == {**about, "here": about["size"]}
    assert hub.asked == []
    offline = get(None, "en-de", "--cache", tmp_path)
    assert offline.stdout == run.stdout
    assert offline.stderr == f"{REPOSITORY} is already downloaded; licence: CC BY 4.0\n"


def test_progress_as_json_lines(hub: Site, tmp_path: Path) -> None:
    run = get(hub, "en-de", "--cache", tmp_path, "--json")
    size = answer(run)["size"]
    lines = [json.loads(line) for line in run.stderr.splitlines()]
    assert lines[-1] == {"done": size, "total": size, "seconds_left": 0.0}


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL])
def test_a_download_that_was_ended_goes_on(
    hub: Site, tmp_path: Path, ended_by: signal.Signals
) -> None:
    weights = resolved(REPOSITORY, "pytorch_model.bin")
    hub.slow[weights] = threading.Event()
    process = subprocess.Popen(
        [sys.executable, "-m", "core", "get", "en-de", "--cache", str(tmp_path), "--json"],
        cwd=ROOT,
        env=environment(hub),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # a shell that starts the tests in the background would have it ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    while json.loads(process.stderr.readline())["done"] < 64_000:
        pass
    process.send_signal(ended_by)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == (130 if ended_by is signal.SIGINT else -signal.SIGKILL)
    assert b"Traceback" not in errors
    hub.slow.pop(weights).set()
    here = answer(get(hub, "en-de", "--about", "--cache", tmp_path, "--json"))["here"]
    assert here >= 64_000
    folder = Path(answer(get(hub, "en-de", "--cache", tmp_path, "--json"))["folder"])
    assert contents(folder)["pytorch_model.bin"] == marian_files()["pytorch_model.bin"]
    assert hub.given(weights)[0] == ""
    assert int(hub.given(weights)[1].strip("bytes=-")) >= 64_000 - 100


def test_without_a_network_one_sentence(tmp_path: Path) -> None:
    run = get(None, "en-de", "--cache", tmp_path)
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr == (
        "transformer-viz get: 127.0.0.1:9 cannot be reached; check the network and try again, or "
        "copy the model's folder from a computer that has it and open that (File, Open; or "
        "--model FOLDER).\n"
    )
    run = get(None, "en-de", "--cache", tmp_path, HF_HUB_OFFLINE="1")
    assert run.returncode == 1
    assert run.stderr.startswith("transformer-viz get: HF_HUB_OFFLINE is set, so 127.0.0.1:9 is")
    assert not list(tmp_path.iterdir())


def test_the_list_asks_nobody() -> None:
    run = get(None)
    assert run.returncode == 0
    assert len(run.stdout.splitlines()) == len(PAIRS)
    assert "en-de   English to German\n" in run.stdout
    assert answer(get(None, "--json"))[0].keys() == {"pair", "source", "target", "repository"}


def test_a_name_that_is_none() -> None:
    run = get(None, "german")
    assert run.returncode == 1
    assert (
        "'german' is neither a language pair, such as en-de, nor a repository, OWNER/NAME;"
        in run.stderr
    )


def test_a_model_in_the_cache_of_the_hub_is_not_asked_for(hub: Site, tmp_path: Path) -> None:
    """As `transformers` leaves it there; with --cache the folder that is named is filled."""
    revision = "d" * 40
    folder = tmp_path / "hub" / "models--Helsinki-NLP--opus-mt-en-de" / "snapshots" / revision
    folder.mkdir(parents=True)
    for name, data in marian_files().items():
        (folder / name).write_bytes(data)
    here = {"HF_HUB_CACHE": str(tmp_path / "hub"), "XDG_CACHE_HOME": str(tmp_path / "own")}
    run = get(hub, "en-de", **here)
    assert run.stdout.strip() == str(folder)
    assert run.stderr.startswith(f"{REPOSITORY} is already downloaded, in the Hugging Face cache")
    assert answer(get(hub, "en-de", "--about", "--json", **here))["revision"] == revision
    assert hub.asked == []
    answer(get(hub, "en-de", "--cache", tmp_path / "mine", "--json", **here))
    assert hub.asked
