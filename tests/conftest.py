"""Tests need no display, whatever the machine has, and never fail for being slow."""

import importlib
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from core.model.product_choice import UNMEASURED, forced
from tests.permissions import counting_permissions

SCREEN = Path(__file__).with_name("screen.json")
if os.environ.setdefault("QT_QPA_PLATFORM", "offscreen") == "offscreen":
    # Its own screen has 800 × 800 pixels, to which the window would fit itself.
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={SCREEN}"

KERNEL = os.environ.get("TRANSFORMER_VIZ_PRODUCT")
"""Of all matrix products, if it is named: the tests pass with each. By default nothing is measured,
nor kept in the user's cache."""
os.environ.setdefault("TRANSFORMER_VIZ_PRODUCT", "columns")


@pytest.fixture(autouse=True)
def chosen_product() -> None:
    """What one test chooses does not hold in the next."""
    product = sys.modules.get("core.model.product")
    if KERNEL and product is None:
        product = importlib.import_module("core.model.product")
    if product is not None:
        product.choose(forced(KERNEL) if KERNEL else UNMEASURED)


settings.register_profile(
    "search", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
# The same examples each time, so that a change is judged by what it changed. New ones are looked
# for with `pytest --hypothesis-profile search`; what fails becomes an @example.
settings.register_profile("steady", settings.get_profile("search"), derandomize=True)
settings.load_profile("steady")


@pytest.fixture
def permissions() -> Iterator[None]:
    """Permissions of files count in this test, though the administrator runs it."""
    with counting_permissions():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a test printed can be sent to the process that collects the reports, as UTF-8."""
    report = yield
    report.sections = [
        (title, text.encode("utf-8", "backslashreplace").decode("utf-8"))
        for title, text in report.sections
    ]
    return report
