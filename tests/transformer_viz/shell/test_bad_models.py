"""Models of other programs that cannot be opened: one sentence, and the model in use stays."""

import gc
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.errors import TRACES_PAGE
from tests.core.checkpoints.npz_models import NpzModel, random_npz
from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.startup.odd_window import OddWindow
from transformer_viz.shell.help import HelpDialog
from transformer_viz.state.session import Phase

pytest.importorskip("transformers")

TEXT = "The animal."


@pytest.fixture(scope="module")
def window(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OddWindow]:
    made = OddWindow(qapp)
    yield made
    made.window.close()
    made.window.deleteLater()


@pytest.fixture
def good(window: OddWindow, qtbot: QtBot, tmp_path: Path) -> Iterator[OddWindow]:
    """With a model of ours and a translation."""
    window.show(qtbot)
    if window.session.model is None:
        window.load(save_tiny_model(tmp_path / "good.safetensors"))
    window.type(TEXT)
    yield window
    window.window.hide()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.core.checkpoints.marian_folders import save_marian_folder

    folder = tmp_path_factory.mktemp("saved") / "opus"
    save_marian_folder(folder, encoder_layers=1, decoder_layers=1)
    gc.freeze()  # what was imported for it is there to stay
    return folder


class Trap:
    """Makes a folder when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("sprung",)


def cut_weights(folder: Path) -> Path:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    return folder


def pickle_bomb(folder: Path) -> Path:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(), 2))
    return folder


def no_vocabulary(folder: Path) -> Path:
    (folder / "vocab.json").unlink()
    return folder


def other_sizes(folder: Path) -> Path:
    return configured(folder, encoder_ffn_dim=32)


def other_architecture(folder: Path) -> Path:
    return configured(folder, model_type="bert", architectures=["BertModel"])


def configured(folder: Path, **changes: object) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), encoding="utf-8")
    return folder


def one_id_twice(folder: Path) -> Path:
    path = folder / "vocab.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(": 8,", ": 7,"), encoding="utf-8")
    return folder


def zipped(folder: Path) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(folder / "config.json", "opus/config.json")
    return path


def empty(folder: Path) -> Path:
    shutil.rmtree(folder)
    folder.mkdir()
    return folder


def gone(folder: Path) -> Path:
    shutil.rmtree(folder)
    return folder / "model.npz"


def npz(change: Callable[[NpzModel], None]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        model = random_npz()
        change(model)
        return model.write(folder / "npz")

    return make


def quantised(model: NpzModel) -> None:
    model.arrays["Wemb"] = model.arrays["Wemb"].astype(np.int8)


def recurrent(model: NpzModel) -> None:
    model.options["type"] = "s2s"


def no_yml(model: NpzModel) -> None:
    model.files.clear()


BAD: dict[str, tuple[Callable[[Path], Path], str]] = {
    "cut weights": (cut_weights, "model.safetensors is truncated or damaged"),
    "a pickle bomb": (pickle_bomb, "which is never run here"),
    "no vocabulary": (no_vocabulary, "vocab.json"),
    "mismatched sizes": (other_sizes, "has shape"),
    "another architecture": (other_architecture, "'bert'"),
    "an id twice": (one_id_twice, "the same id, 7"),
    "a zip": (zipped, "is a zip archive; unpack it"),
    "an empty folder": (empty, "contains no model"),
    "a file that is gone": (gone, "model.npz"),
    "quantised": (npz(quantised), "its weights are quantised"),
    "recurrent": (npz(recurrent), "its architecture is s2s"),
    "no vocabulary beside an npz": (npz(no_yml), "opus.vocab.yml"),
}


@pytest.mark.parametrize(("spoil", "said"), BAD.values(), ids=BAD)
def test_one_sentence_is_said_and_the_model_stays(
    good: OddWindow,
    saved: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path], Path],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = spoil(Path(shutil.copytree(saved, tmp_path / "opus")))
    notice_of(good, path, said)
    assert not (tmp_path / "sprung").exists()


def test_a_folder_that_may_not_be_read(
    good: OddWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(path: Path) -> list[str]:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", deny)
    notice_of(good, tmp_path, "may not be read; change its permissions")


@pytest.mark.parametrize("kind", ["bert", "gpt2", "t5", "m2m_100"])
def test_a_model_that_can_be_seen_as_a_trace_has_a_button_to_the_page(
    good: OddWindow, tmp_path: Path, qtbot: QtBot, kind: str
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    notice_of(good, tmp_path, repr(kind))
    bar = good.window.notice
    assert bar.page.isVisibleTo(bar)
    qtbot.mouseClick(bar.page, Qt.MouseButton.LeftButton)
    dialog = good.window.findChild(HelpDialog)
    assert dialog is not None
    assert dialog.text.textCursor().block().text() == TRACES_PAGE
    dialog.close()
    dialog.deleteLater()


def test_other_refusals_have_none(good: OddWindow, tmp_path: Path) -> None:
    notice_of(good, tmp_path, "contains no model")
    assert not good.window.notice.page.isVisibleTo(good.window.notice)


def notice_of(window: OddWindow, path: Path, said: str) -> None:
    session = window.session
    model = session.model
    with window.bot.waitSignal(window.controller.openFailed) as failed:
        window.window.files.documents.open(path)
    (text,) = failed.args
    assert said in text
    assert text.endswith(".")
    assert "\n" not in text
    assert window.notices == [text]
    window.bot.waitUntil(lambda: session.status.phase is Phase.READY)
    assert session.model is model
    assert session.trace is not None
    assert session.trace.text == TEXT
    window.type("It slept.")
    assert session.status.phase is Phase.READY, "and it still translates"


def test_a_model_whose_files_go_is_used_on(
    good: OddWindow, saved: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    native = random_npz().write(tmp_path / "npz")
    folder = Path(shutil.copytree(saved, tmp_path / "opus"))
    for path in (native, folder):
        with qtbot.waitSignals([good.session.modelChanged, good.controller.settled]):
            good.window.files.documents.open(path)
        for file in (path if path.is_dir() else path.parent).iterdir():
            file.write_bytes(b"")
            file.unlink()
        good.type("It slept because it was too tired.")
        assert good.session.status.phase is Phase.READY
        assert good.session.trace is not None
