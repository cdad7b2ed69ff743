"""Asking a site, and saying in one sentence why it gave no answer.

Everything goes through the HTTP session of huggingface_hub, so that proxies, certificates and
HF_HUB_OFFLINE count for all downloads alike.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from huggingface_hub import get_session
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HTTPError,
    OfflineModeIsEnabled,
    Response,
)
from huggingface_hub.utils import hf_raise_for_status

from core.errors import UserError

TIMEOUT = 20.0  # seconds without a byte
_MISSING = (404, 410)
_MOST_JSON = 1 << 25  # bytes; the longest answer of the hub is a hundredth of it
_UNPACKED = {"Accept-Encoding": "identity"}  # sizes and ranges are those of the file itself


@contextmanager
def asking(url: str, instead: str) -> Iterator[None]:
    """Turn network errors inside into a UserError.

    Args:
        instead: what can be done without the site, as the end of a sentence.

    Raises:
        UserError: the site is not reached, or refuses.
    """
    host = urlsplit(url).netloc or url
    _require_session(instead)
    try:
        yield
    except OfflineModeIsEnabled as error:
        raise UserError(
            f"HF_HUB_OFFLINE is set, so {host} is not contacted; unset it, or {instead}."
        ) from error
    except GatedRepoError as error:
        raise UserError(
            f"{host} requires you to request access; do so, then log in with: hf auth login, or "
            f"{instead}."
        ) from error
    except HfHubHTTPError as error:
        raise UserError(_refusal(host, error.response.status_code, instead)) from error
    except HTTPError as error:
        raise UserError(f"{_silence(url, host, error)}, or {instead}.") from error


def _require_session(instead: str) -> None:
    """Raises UserError if no session can be made of what is set for this computer."""
    try:
        get_session()
    except Exception as error:  # of whatever kind: proxies and certificates are all it depends on
        reason = str(error).partition(". ")[0]
        raise UserError(
            f"The proxy or the certificates set for this computer cannot be used ({reason}); "
            f"correct the setting, or {instead}."
        ) from error


def _refusal(host: str, status: int, instead: str) -> str:
    if status == 401:
        return f"{host} requires a valid login (401); log in with: hf auth login, or {instead}."
    if status == 403:
        return f"{host} denied access (403), perhaps only temporarily; {instead}."
    if status in _MISSING:
        return f"{host} does not have it, or no longer has it ({status}); {instead}."
    if status == 429:
        return f"{host} received too many requests (429); try again in a few minutes, or {instead}."
    return f"{host} has a server error ({status}); try again later, or {instead}."


def was_missing(error: UserError) -> bool:
    """Return whether an error raised by ``asking`` says that the requested file does not exist."""
    cause = error.__cause__
    return isinstance(cause, HfHubHTTPError) and cause.response.status_code in _MISSING


def _silence(url: str, host: str, error: HTTPError) -> str:
    """Why there is no answer and what to do about it, as the beginning of a sentence."""
    causes = list(_causes(error))
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return (
            f"The certificate of {host} is not trusted here; if a proxy or a virus scanner is in "
            "between, set SSL_CERT_FILE to its certificate"
        )
    proxy = urlsplit(getproxies().get(urlsplit(url).scheme, ""))
    through = ""
    if proxy.hostname and not proxy_bypass(host):
        through = f" through the proxy {proxy.hostname}"
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return f"{host} did not answer{through} within {TIMEOUT:.0f} s; try again later"
    return f"{host} cannot be reached{through}; check the network and try again"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@contextmanager
def streaming(url: str, headers: Mapping[str, str]) -> Iterator[Response]:
    """Return the answer to GET, with its body still to be read."""
    with get_session().stream(
        "GET", url, headers={**_UNPACKED, **headers}, timeout=TIMEOUT, follow_redirects=True
    ) as response:
        hf_raise_for_status(response)
        yield response


def get_json(url: str, instead: str) -> Any:
    """Get a JSON answer; raises UserError as ``asking`` does, and for an answer that is not
    JSON."""
    with asking(url, instead):
        try:
            return bounded_json(url, {})
        except ValueError as error:
            raise unreadable(url, instead) from error


def bounded_json(url: str, headers: Mapping[str, str]) -> Any:
    """Inside ``asking``; raises ValueError for what is no JSON, or goes on and on."""
    data = bytearray()
    with streaming(url, headers) as response:
        for block in response.iter_bytes(1 << 16):
            data += block
            if len(data) > _MOST_JSON:
                raise ValueError(f"more than {_MOST_JSON:,} bytes")
    return json.loads(data)


def unreadable(url: str, instead: str) -> UserError:
    """Return the error for an unreadable answer, for example from a login page of the network."""
    return UserError(
        f"{urlsplit(url).netloc} returned an unreadable answer; open it in a browser to see what "
        f"is in between, or {instead}."
    )


def size_of(url: str, instead: str) -> int | None:
    """Return the size in bytes, if the site states it; raises UserError as ``asking`` does."""
    with asking(url, instead):
        response = get_session().head(
            url, headers=_UNPACKED, timeout=TIMEOUT, follow_redirects=True
        )
        hf_raise_for_status(response)
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None
