from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.remote import fetching
from tests.core.remote.sites import Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as served:
        yield served


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "SECONDS_BETWEEN_TRIES", 0.0)
