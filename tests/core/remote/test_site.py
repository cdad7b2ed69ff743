"""Why a site gave no answer, as one sentence with what to do about it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from huggingface_hub import close_session

from core.errors import UserError
from core.remote import site as module
from core.remote.models import look_up
from core.remote.site import get_json, size_of
from tests.core.remote.sites import Site

INSTEAD = "bring it by hand"


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Proxies and certificates are read when a session is made."""
    close_session()
    yield monkeypatch
    close_session()


def sentence(url: str) -> str:
    with pytest.raises(UserError) as caught:
        get_json(url, INSTEAD)
    return str(caught.value)


def test_a_site_that_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        host = f"127.0.0.1:{deaf.getsockname()[1]}"
        said = sentence(f"http://{host}/x")
    assert said == f"{host} did not answer within 0 s; try again later, or bring it by hand."


def test_a_certificate_that_nobody_vouches_for(monkeypatch: pytest.MonkeyPatch) -> None:
    error = module.HTTPError("verification failed")
    error.__context__ = module.ssl.SSLCertVerificationError()
    said = module._silence("https://x.org/y", "x.org", error)
    assert said.startswith("The certificate of x.org is not trusted here; ")
    assert said.endswith("set SSL_CERT_FILE to its certificate")


def test_a_proxy_that_is_not_there(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("http_proxy", "http://me:secret@127.0.0.1:9")
    settings.delenv("no_proxy", raising=False)
    said = sentence("http://example.org/x")
    assert said.startswith("example.org cannot be reached through the proxy 127.0.0.1; check the")
    assert "secret" not in said


def test_settings_that_nobody_understands(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    said = sentence("https://example.org/x")
    assert said.startswith("The proxy or the certificates set for this computer cannot be")
    assert said.endswith("; correct the setting, or bring it by hand.")


def test_an_answer_that_is_none(site: Site) -> None:
    site.files["/x"] = b"<html>"
    assert "returned an unreadable answer" in sentence(f"{site.url}/x")
    assert sentence("example") == (
        "example cannot be reached; check the network and try again, or bring it by hand."
    )


def test_sizes_as_far_as_they_are_told(site: Site) -> None:
    site.files["/x"] = b"12345"
    assert size_of(f"{site.url}/x", INSTEAD) == 5
    site.lengths = False
    assert size_of(f"{site.url}/x", INSTEAD) is None


class Endless(BaseHTTPRequestHandler):
    """Answers with JSON that never comes to its end, until the other side has had enough."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"[0")
        with suppress(OSError):
            while True:
                self.wfile.write(b",0" * 50_000)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    "ask", [lambda url: get_json(url, INSTEAD), lambda url: look_up("a/b", endpoint=url)]
)
def test_an_answer_without_end(monkeypatch: pytest.MonkeyPatch, ask: Callable[[str], Any]) -> None:
    monkeypatch.setattr(module, "_MOST_JSON", 1_000_000)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises(UserError, match="unreadable answer"):
            ask(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
