"""Asking a site, and saying in one sentence why it gave no answer.

Everything goes through the HTTP session of huggingface_hub, so that proxies, certificates and
HF_HUB_OFFLINE count for all downloads alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from huggingface_hub import get_session
from huggingface_hub.errors import HfHubHTTPError, HTTPError, OfflineModeIsEnabled, Response
from huggingface_hub.utils import hf_raise_for_status

from core.errors import UserError

TIMEOUT = 20.0  # seconds without a byte
_UNPACKED = {"Accept-Encoding": "identity"}  # sizes and ranges are those of the file itself


@contextmanager
def asking(url: str, instead: str) -> Iterator[None]:
    """
    Args:
        instead: what can be done without the site, as the end of a sentence.

    Raises:
        UserError: the site is not reached, or refuses.
    """
    host = urlsplit(url).netloc
    try:
        yield
    except OfflineModeIsEnabled as error:
        raise UserError(
            f"HF_HUB_OFFLINE is set, so {host} is not asked; unset it, or {instead}."
        ) from error
    except HfHubHTTPError as error:
        raise UserError(_refusal(host, error.response.status_code, instead)) from error
    except HTTPError as error:
        raise UserError(
            f"{host} cannot be reached; check the network and try again, or {instead}."
        ) from error


def _refusal(host: str, status: int, instead: str) -> str:
    if status in (401, 403):
        return f"{host} refuses it ({status}), perhaps only for now; {instead}."
    if status in (404, 410):
        return f"{host} does not have it, at least not any more ({status}); {instead}."
    return f"{host} is busy or out of order ({status}); try again later, or {instead}."


@contextmanager
def streaming(url: str, headers: Mapping[str, str]) -> Iterator[Response]:
    """The answer to GET, its body still to be read."""
    with get_session().stream(
        "GET", url, headers={**_UNPACKED, **headers}, timeout=TIMEOUT, follow_redirects=True
    ) as response:
        hf_raise_for_status(response)
        yield response


def get_json(url: str, instead: str) -> Any:
    """Raises UserError as ``asking`` does, and for an answer that is no JSON."""
    with asking(url, instead):
        response = get_session().get(url, timeout=TIMEOUT, follow_redirects=True)
        hf_raise_for_status(response)
    try:
        return response.json()
    except ValueError as error:
        host = urlsplit(url).netloc
        raise UserError(f"{host} gave an answer that cannot be read; {instead}.") from error


def size_of(url: str, instead: str) -> int | None:
    """In bytes, as far as the site tells; raises UserError as ``asking`` does."""
    with asking(url, instead):
        response = get_session().head(
            url, headers=_UNPACKED, timeout=TIMEOUT, follow_redirects=True
        )
        hf_raise_for_status(response)
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None
