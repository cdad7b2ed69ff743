"""Servers on loopback with the layouts of the sites that are asked; they count what they give."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PIECE = 8_000
SECONDS_BETWEEN_PIECES = 0.02
LARGE = 1_000  # from so many bytes on the hub keeps a file outside of git


@dataclass
class Site:
    """
    Attributes:
        files: contents by their paths.
        broken: after so many bytes of a path the connection breaks, once for each number.
        refused: paths with the status that they are answered with.
        gated: paths that are only for those who asked, on a hub.
        moved: paths that are elsewhere, with the address.
        asked: method, path and Range of each request.
        ranges: whether Range is heeded.
        lengths: whether Content-Length is told.
        slow: paths that come piece by piece until their event is set.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    broken: dict[str, list[int]] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    moved: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    ranges: bool = True
    lengths: bool = True
    slow: dict[str, threading.Event] = field(default_factory=dict)

    def given(self, path: str) -> list[str]:
        """The Range of each GET of a path."""
        return [range_ for method, asked, range_ in self.asked if (method, asked) == ("GET", path)]


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self, *, body: bool) -> None:
            path = urlsplit(self.path).path
            range_ = self.headers.get("Range", "")
            site.asked.append((self.command, path, range_))
            status = 403 if path in site.gated else 302 if path in site.moved else 200
            status = site.refused.get(path, status)
            data = site.files.get(path)
            if status == 200 and data is None:
                status = 404
            if status != 200 or data is None:
                self.send_response(status)
                if path in site.moved:
                    self.send_header("Location", site.moved[path])
                if path in site.gated:
                    self.send_header("X-Error-Code", "GatedRepo")
                if status == 404 and path.startswith("/api/models/"):
                    self.send_header("X-Error-Code", "RepoNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            start = int(range_.removeprefix("bytes=").removesuffix("-") or 0)
            if range_ and site.ranges:
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
                data = data[start:]
            else:
                self.send_response(200)
            if site.lengths:
                self.send_header("Content-Length", str(len(data)))
            else:
                self.send_header("Connection", "close")
                self.close_connection = True
            self.end_headers()
            if body:
                self._write(path, data)

        def _write(self, path: str, data: bytes) -> None:
            breaks = site.broken.get(path)
            if breaks:
                data = data[: breaks.pop(0)]
                self.close_connection = True
            hurry = site.slow.get(path)
            while hurry is not None and data and not hurry.wait(SECONDS_BETWEEN_PIECES):
                self.wfile.write(data[:PIECE])
                self.wfile.flush()
                data = data[PIECE:]
            self.wfile.write(data)

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Clients that go away in between are part of the tests."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        for hurry in site.slow.values():
            hurry.set()
        server.shutdown()
        server.server_close()
        thread.join()


def publish(site: Site, repository: str, files: dict[str, bytes], **about: Any) -> None:
    """Put a model repository onto a hub: its description, and its files at one commit."""
    siblings = []
    for name, data in files.items():
        sibling: dict[str, Any] = {"rfilename": name, "size": len(data), "blobId": git_id(data)}
        if len(data) >= LARGE:
            digest = hashlib.sha256(data).hexdigest()
            sibling["lfs"] = {"sha256": digest, "size": len(data), "pointerSize": 134}
        siblings.append(sibling)
        site.files[resolved(repository, name)] = data
    description = {
        "id": repository,
        "sha": COMMIT,
        "config": {"model_type": "marian"},
        "cardData": {"license": "cc-by-4.0"},
        "siblings": siblings,
        **about,
    }
    site.files[f"/api/models/{repository}"] = json.dumps(description).encode()


def resolved(repository: str, name: str) -> str:
    return f"/{repository}/resolve/{COMMIT}/{name}"


def git_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def marian_files(weights: bytes = bytes(range(256)) * 1_000) -> dict[str, bytes]:
    """The names of a MarianMT repository; only the first six are wanted."""
    return {
        "config.json": b"{}",
        "source.spm": b"source pieces",
        "target.spm": b"target pieces",
        "vocab.json": b'{"</s>": 0}',
        "README.md": b"card",
        "pytorch_model.bin": weights,
        "tf_model.h5": b"never wanted" * 1_000,
        "rust_model.ot": b"never wanted" * 1_000,
    }


def contents(folder: Path) -> dict[str, bytes]:
    """What lies in a folder, but for locks and receipts."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (".lock", "download.json")
    }
