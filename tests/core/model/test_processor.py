from __future__ import annotations

import platform
from pathlib import Path

import pytest

from core.model import processor

XEON = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Xeon: 2 GHz\n\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (XEON, "Xeon: 2 GHz, family 6, model 207"),
        (XEON + XEON.replace("Xeon", "another"), "Xeon: 2 GHz, family 6, model 207"),
        ("model name\t: Neoverse\n\n", "Neoverse"),
        ("processor\t: 0\nBogoMIPS\t: 50\n\n", None),
        ("", None),
        (None, None),
    ],
)
def test_the_first_core_says_it(
    text: str | None, name: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text, encoding="utf-8")
    monkeypatch.setattr(processor, "_ABOUT", tmp_path / "cpuinfo")
    assert processor.processor() == (name or platform.processor() or platform.machine())
