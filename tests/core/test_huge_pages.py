from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.huge_pages import ask_for_huge_pages

_SYSTEM = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def test_the_environment_may_say_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THP_MEM_ALLOC_ENABLE", "0")
    ask_for_huge_pages()
    assert os.environ["THP_MEM_ALLOC_ENABLE"] == "0"


@pytest.mark.skipif(
    not _SYSTEM.exists() or "[never]" in _SYSTEM.read_text(), reason="the system has none"
)
def test_huge_pages_are_asked_for_a_large_tensor() -> None:
    script = (
        "from core.huge_pages import ask_for_huge_pages; ask_for_huge_pages(); import torch; "
        "kept = torch.ones(1 << 24); print(open('/proc/self/smaps').read())"
    )
    environment = {k: v for k, v in os.environ.items() if k != "THP_MEM_ALLOC_ENABLE"}
    maps = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    ).stdout
    mapped = re.findall(r"^Size: +(\d+) kB$.*?^VmFlags: (.*?)$", maps, re.MULTILINE | re.DOTALL)
    asked = [int(size) for size, flags in mapped if "hg" in flags.split()]
    assert sum(asked) > 60 * 1024, "kB, of a tensor of 64 MB"
