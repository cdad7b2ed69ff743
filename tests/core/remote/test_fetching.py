from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from core.errors import UserError
from core.remote import fetching
from core.remote.fetching import RemoteFile, bytes_here, fetch, total_size
from tests.core.remote.sites import Site

DATA = bytes(range(256)) * 2_000
INSTEAD = "copy the file by hand"


def remote(site: Site, folder: Path, data: bytes = DATA, name: str = "a.bin") -> RemoteFile:
    site.files.setdefault(f"/{name}", data)
    return RemoteFile(
        url=f"{site.url}/{name}",
        path=folder / name,
        size=len(data),
        checksum=f"sha256:{hashlib.sha256(data).hexdigest()}",
    )


def bring(*files: RemoteFile) -> list[int]:
    heard: list[int] = []
    fetch(files, files[0].path.parent, heard.append, INSTEAD)
    return heard


def test_progress_counts_all_files_and_what_is_here_is_not_asked_for(
    site: Site, tmp_path: Path
) -> None:
    files = [remote(site, tmp_path), remote(site, tmp_path, b"small", "b.txt")]
    assert (bytes_here(files), total_size(files)) == (0, len(DATA) + 5)
    heard = bring(*files)
    assert heard == sorted(heard)
    assert len(heard) > 4
    assert heard[-1] == len(DATA) + 5
    assert [file.path.read_bytes() for file in files] == [DATA, b"small"]
    assert not list(tmp_path.glob("*.part"))
    site.asked.clear()
    assert bring(*files) == [len(DATA), len(DATA) + 5]
    assert site.asked == []


def test_a_part_is_continued(site: Site, tmp_path: Path) -> None:
    file = remote(site, tmp_path)
    file.part.write_bytes(DATA[:100_000])
    assert file.here == 100_000
    heard = bring(file)
    assert heard[0] > 100_000
    assert site.given("/a.bin") == ["bytes=100000-"]
    assert file.path.read_bytes() == DATA


def test_a_whole_part_is_only_checked(site: Site, tmp_path: Path) -> None:
    file = remote(site, tmp_path)
    file.part.write_bytes(DATA)
    bring(file)
    assert site.asked == []
    assert file.path.read_bytes() == DATA


def test_a_site_that_cannot_go_on_there_starts_over(site: Site, tmp_path: Path) -> None:
    site.ranges = False
    file = remote(site, tmp_path)
    file.part.write_bytes(b"x" * 100_000)
    bring(file)
    assert file.path.read_bytes() == DATA


def test_what_is_here_and_is_not_what_the_site_has_now_comes_again(
    site: Site, tmp_path: Path
) -> None:
    for old in (DATA[::-1], DATA[:-1]):
        file = remote(site, tmp_path)
        file.path.write_bytes(old)
        bring(file)
        assert file.path.read_bytes() == DATA


def test_an_empty_file(site: Site, tmp_path: Path) -> None:
    file = remote(site, tmp_path, b"", "empty")
    bring(file)
    assert file.path.read_bytes() == b""


@pytest.mark.parametrize("part", [b"wrong" * 1_000, DATA + b"too long"])
def test_a_part_of_something_else_is_found_out(site: Site, tmp_path: Path, part: bytes) -> None:
    file = remote(site, tmp_path)
    file.part.write_bytes(part)
    if len(part) < len(DATA):
        with pytest.raises(UserError, match=r"a\.bin arrived damaged: its checksum .*try again"):
            bring(file)
    bring(file)
    assert file.path.read_bytes() == DATA


def test_a_connection_that_breaks_is_taken_up_again(site: Site, tmp_path: Path) -> None:
    site.broken["/a.bin"] = [200_000, 100_000, 0, 50_000]
    file = remote(site, tmp_path)
    bring(file)
    starts = [int(range_.strip("bytes=-") or 0) for range_ in site.given("/a.bin")]
    assert starts == sorted(starts)
    assert len(starts) == 5
    assert starts[1] > 0
    assert file.path.read_bytes() == DATA


def test_one_that_breaks_for_good_leaves_the_part(site: Site, tmp_path: Path) -> None:
    site.broken["/a.bin"] = [200_000] + [0] * fetching.TRIES
    file = remote(site, tmp_path)
    with pytest.raises(UserError, match=r"127\.0\.0\.1:\d+ cannot be reached; .*copy the file"):
        bring(file)
    assert 0 < file.here <= 200_000
    assert not file.path.exists()
    bring(file)
    assert file.path.read_bytes() == DATA


def test_other_bytes_than_announced_are_thrown_away(site: Site, tmp_path: Path) -> None:
    file = remote(site, tmp_path)
    for data, what in {DATA[:-1]: "size", DATA + b"!": "size", DATA[::-1]: "checksum"}.items():
        site.files["/a.bin"] = data
        with pytest.raises(UserError, match=f"its {what} does not match the announced one"):
            bring(file)
        assert list(tmp_path.iterdir()) == [tmp_path / ".lock"]


def test_without_a_checksum_nothing_is_resumed(site: Site, tmp_path: Path) -> None:
    remote(site, tmp_path)
    site.lengths = False
    file = RemoteFile(url=f"{site.url}/a.bin", path=tmp_path / "a.bin")
    file.part.write_bytes(b"old")
    assert total_size([file]) is None
    bring(file)
    assert site.given("/a.bin") == [""]
    assert file.path.read_bytes() == DATA


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "requires a valid login"),
        (403, "denied access"),
        (404, "does not have it, or no longer has it"),
        (429, "received too many requests"),
        (503, "has a server error"),
    ],
)
def test_a_refusal_is_final(site: Site, tmp_path: Path, status: int, message: str) -> None:
    file = remote(site, tmp_path)
    site.refused["/a.bin"] = status
    with pytest.raises(UserError, match=rf"{message} \({status}\).* copy the file by hand\."):
        bring(file)
    assert len(site.asked) == 1


def test_without_a_network(site: Site, tmp_path: Path) -> None:
    file = RemoteFile(url="http://127.0.0.1:9/a.bin", path=tmp_path / "a.bin", size=3)
    with pytest.raises(UserError) as caught:
        bring(file)
    assert str(caught.value) == (
        "127.0.0.1:9 cannot be reached; check the network and try again, or copy the file by hand."
    )


def test_one_process_at_a_time(site: Site, tmp_path: Path) -> None:
    file = remote(site, tmp_path)
    with FileLock(tmp_path / ".lock"), pytest.raises(UserError, match="Another process"):
        bring(file)
    bring(file)


def test_a_full_disk_is_seen_before_anything_comes(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = len(DATA) - 100

    def disk_usage(_: Any) -> Usage:
        return Usage()

    monkeypatch.setattr("shutil.disk_usage", disk_usage)
    file = remote(site, tmp_path)
    with pytest.raises(UserError, match=r"0\.5 MB are needed .* 0\.5 MB are free; free some"):
        bring(file)
    assert site.asked == []
    file.part.write_bytes(DATA[:100])
    bring(file)


def test_a_folder_that_cannot_be_written(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match=r"Could not write .*file/inner: "):
        bring(remote(site, tmp_path / "file" / "inner"))
