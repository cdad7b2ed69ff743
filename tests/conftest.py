"""Tests need no display, whatever the machine has, and never fail for being slow."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.permissions import counting_permissions

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


@pytest.fixture
def permissions() -> Iterator[None]:
    """Permissions of files count in this test, though the administrator runs it."""
    with counting_permissions():
        yield
