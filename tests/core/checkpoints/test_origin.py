from __future__ import annotations

from pathlib import Path

import pytest

from core.checkpoints.origin import origin
from core.remote.cache import Receipt

CARD = b"---\nlanguage:\n- en\n- de\nlicense: apache-2.0\n---\n\n# A model\n"


def test_a_receipt_tells_all(tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    card.write_bytes(CARD)
    receipt = Receipt.of(tmp_path, [card], source="a/b", revision="1f", licence="CC BY 4.0")
    receipt.write(tmp_path)
    assert origin(tmp_path) == {"source": "a/b", "revision": "1f", "licence": "CC BY 4.0"}
    card.write_bytes(CARD + b"changed since")
    assert origin(tmp_path) == {"licence": "Apache 2.0"}


@pytest.mark.parametrize(
    ("card", "licence"),
    [
        (CARD, "Apache 2.0"),
        (CARD.replace(b"\n", b"\r\n"), "Apache 2.0"),
        (b"---\nlicense:\n- mit\n- own-terms\n---\n", "MIT, own-terms"),
        (b"# no front matter\nlicense: mit\n", None),
        (b"---\ntags: x\n---\n", None),
        (b"---\nlicense: [\n---\n", None),
        (b"---\n\xff\n---\n", None),
        (b"---\nlicense: mit\n", None),
    ],
)
def test_the_card_tells_the_licence(tmp_path: Path, card: bytes, licence: str | None) -> None:
    (tmp_path / "README.md").write_bytes(card)
    assert origin(tmp_path) == ({} if licence is None else {"licence": licence})


def test_nothing_is_known(tmp_path: Path) -> None:
    assert origin(tmp_path) == {}
    (tmp_path / "README.md").mkdir()
    assert origin(tmp_path) == {}
