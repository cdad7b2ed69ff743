"""The pieces of code in docs/traces.md, run as they stand."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core import save_trace
from core.trace.npz import load_npz
from core.trace.trace import AttentionKind
from tests.core.checkpoints.marian_folders import save_marian_folder
from tests.foreign_models import save_bert

PAGE = Path(__file__).resolve().parents[1] / "docs" / "traces.md"
PIECES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
TEXT = "The animal slept because it was tired."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random models under the names that the page opens."""
    folder = tmp_path_factory.mktemp("page")
    save_bert(folder / "bert-base-cased")
    save_marian_folder(folder / "Helsinki-NLP/opus-mt-en-de")
    return folder


def test_the_pieces_save_traces(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for piece in PIECES:
        assert len(piece.splitlines()) <= 8
        exec(piece, {})
    saved = {path.name: load_npz(path) for path in folder.glob("*.npz")}
    assert {name: trace.kinds for name, trace in saved.items()} == {
        "bert.npz": (AttentionKind.ENCODER_SELF,),
        "found.npz": tuple(AttentionKind),
        "given.npz": tuple(AttentionKind),
    }
    assert {trace.text for trace in saved.values()} == {TEXT}


def test_the_file_stands_alone(folder: Path, tmp_path: Path) -> None:
    """Beside a notebook, where this program is not installed."""
    shutil.copy(save_trace.__file__, tmp_path)
    shutil.copytree(folder / "bert-base-cased", tmp_path / "bert-base-cased")
    piece = PIECES[0].replace("from core.save_trace", "from save_trace")
    code = f"import sys; sys.modules['core'] = None\n{piece}"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert load_npz(tmp_path / "bert.npz").text == TEXT
