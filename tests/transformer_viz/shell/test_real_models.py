"""Models of other programs in the real window: dropped, opened, and the same head by head."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot
from transformers import MarianMTModel, MarianTokenizer

from core.trace.trace import AttentionKind
from tests.core.checkpoints.marian_folders import save_marian_folder
from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.startup.odd_window import OddWindow
from transformer_viz.reach.reach import ReachView
from transformer_viz.state.session import Phase, Search

TEXT = "The animal was too tired."
LANGUAGES = (">>deu<<", ">>afr<<")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    save_marian_folder(folder / "opus-mt-en-de", seed=8)
    card = folder / "opus-mt-en-de" / "README.md"
    card.write_text("---\nlicense: cc-by-4.0\n---\n", encoding="utf-8")
    save_marian_folder(folder / "opus-mt-en-gmw", languages=LANGUAGES)
    save_tiny_model(folder / "tiny.safetensors")
    return folder


@pytest.fixture(scope="module")
def kept(qapp: QApplication) -> Iterator[OddWindow]:
    made = OddWindow(qapp)
    yield made
    made.window.close()
    made.window.deleteLater()


@pytest.fixture
def shown(kept: OddWindow, models: Path, qtbot: QtBot) -> Iterator[OddWindow]:
    """With a model of this program, its own search and a sentence."""
    kept.show(qtbot)
    kept.load(models / "tiny.safetensors")
    kept.controller.set_search(Search(1, 0.6))
    kept.type(TEXT)
    yield kept
    kept.window.hide()


def drop(shown: OddWindow, path: Path, place: QWidget | None = None) -> None:
    """As a file manager does, which sends the name of what it drops as text, too."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    data.setText(str(path))
    window = shown.window
    place = place or window.stage
    at = place.mapTo(window, place.rect().center())
    rest = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton)
    none = Qt.KeyboardModifier.NoModifier
    for event in (
        QDragEnterEvent(at, *rest, none),
        QDragMoveEvent(at, *rest, none),
        QDropEvent(QPointF(at), *rest, none),
    ):
        QApplication.sendEvent(window.windowHandle(), event)


def drop_model(shown: OddWindow, path: Path) -> None:
    with shown.bot.waitSignals([shown.session.modelChanged, shown.session.traceChanged]):
        drop(shown, path)
    shown.bot.waitUntil(lambda: shown.session.status.phase is Phase.READY)


def test_a_dropped_folder_agrees_with_transformers_head_by_head(
    shown: OddWindow, models: Path
) -> None:
    folder = models / "opus-mt-en-de"
    drop_model(shown, folder)
    trace, session = shown.session.trace, shown.session
    assert trace is not None
    assert session.model is not None
    assert (session.model.name, session.text, trace.text) == ("opus-mt-en-de", TEXT, TEXT)
    assert shown.notices == []

    tokenizer = MarianTokenizer.from_pretrained(folder)
    model = MarianMTModel.from_pretrained(folder, attn_implementation="eager")
    inputs = tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad():
        output = model.generate(**inputs)
        expected = model(**inputs, decoder_input_ids=output[:, :-1], output_attentions=True)
    assert [token.id for token in trace.source_tokens] == inputs["input_ids"][0].tolist()
    assert [token.id for token in trace.target_tokens] == output[0, :-1].tolist()
    assert [token.id for token in trace.predicted_tokens] == output[0, 1:].tolist()
    assert len(trace.predicted_tokens) > 3
    for kind, attentions in (
        (AttentionKind.ENCODER_SELF, expected.encoder_attentions),
        (AttentionKind.DECODER_SELF, expected.decoder_attentions),
        (AttentionKind.CROSS, expected.cross_attentions),
    ):
        assert trace.layers(kind) == len(attentions)
        for layer, maps in enumerate(attentions):
            assert list(trace.heads(kind, layer)) == list(range(maps.shape[1]))
            for head in trace.heads(kind, layer):
                weights = trace.weights(kind, layer, head)
                np.testing.assert_allclose(weights, maps[0, head].numpy(), atol=1e-5)


def test_every_view_has_its_picture_of_it(shown: OddWindow, models: Path) -> None:
    drop_model(shown, models / "opus-mt-en-de")
    for view in (*shown.maps(), *shown.pages()):
        assert view.has_picture or view is shown.stage.of(ReachView)


def test_its_search_is_taken_and_goes_with_it(shown: OddWindow, models: Path) -> None:
    drop_model(shown, models / "opus-mt-en-de")
    assert shown.controller.search == Search(4, 1.0)
    bar = shown.window.model_bar
    assert (bar.beam.isChecked(), bar.size_box.value(), bar.alpha_box.value()) == (True, 4, 1.0)
    assert "log P / tokens^1" in bar.alpha_box.toolTip()
    assert "English → German" in bar.model_button.toolTip()
    assert "licence: CC BY 4.0" in bar.model_button.toolTip()
    assert "opus-mt-en-de 2+2 layers · 4 heads" in bar.model_button.accessibleName()
    shown.load(models / "tiny.safetensors")
    assert shown.controller.search == Search(1, 0.6)
    assert "((5 + tokens) / 6)^0.6" in bar.alpha_box.toolTip()


def test_a_folder_is_opened_wherever_it_is_dropped(shown: OddWindow, models: Path) -> None:
    for view, name in (
        ("heatmap", "English sentence"),
        ("decoding", "Your own translation"),
        ("compare", "Sentence of B"),
    ):
        shown.window.show_view(view)
        shown.load(models / "tiny.safetensors")
        fields = shown.window.findChildren(QWidget)
        (field,) = (one for one in fields if one.accessibleName() == name and one.isVisible())
        with shown.bot.waitSignal(shown.session.modelChanged):
            drop(shown, models / "opus-mt-en-de", field)
        assert shown.session.text == TEXT


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "source.spm"])
def test_a_file_of_the_folder_stands_for_it(shown: OddWindow, models: Path, name: str) -> None:
    drop_model(shown, models / "opus-mt-en-de" / name)
    assert shown.session.model is not None
    assert shown.session.model.path == models / "opus-mt-en-de"


def test_a_folder_is_chosen_in_a_dialog(
    shown: OddWindow, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = models / "opus-mt-en-de"
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))
    with shown.bot.waitSignal(shown.session.modelChanged):
        shown.window.commands["open_folder"].trigger()
    assert shown.controller.settings.model == str(folder)
    assert shown.controller.settings.recent_files[0] == str(folder)


def test_the_target_language_is_chosen_and_stands_in_the_text(
    shown: OddWindow, models: Path
) -> None:
    captions = shown.window.captions
    assert (captions.source.text(), captions.choice.isVisible()) == ("English", False)
    drop_model(shown, models / "opus-mt-en-gmw")
    assert captions.choice.isVisible()
    assert captions.choice.currentText() == "Afrikaans · afr"
    assert shown.window.source.text() == f">>afr<< {TEXT}"
    with shown.bot.waitSignal(shown.session.traceChanged):
        captions.choice.activated.emit(captions.choice.findText("German · deu"))
    trace = shown.session.trace
    assert trace is not None
    assert trace.source_tokens[0].label == ">>deu<<"
    assert trace.text == shown.window.source.text() == f">>deu<< {TEXT}"
    shown.window.choose_text("The dog slept.")
    assert shown.session.text == ">>deu<< The dog slept."
    shown.type("no token")
    assert captions.choice.currentIndex() == -1
    shown.load(models / "tiny.safetensors")
    assert shown.session.text == "no token"
    assert not captions.choice.isVisible()


def test_a_token_goes_with_its_model(shown: OddWindow, models: Path) -> None:
    drop_model(shown, models / "opus-mt-en-gmw")
    shown.load(models / "tiny.safetensors")
    assert shown.session.text == TEXT


def bad(folder: Path, models: Path, what: str) -> Path:
    """A folder or a file that cannot be opened."""
    path = folder / "bad"
    save_marian_folder(path)
    config = json.loads((path / "config.json").read_text())
    match what:
        case "a missing vocabulary":
            (path / "vocab.json").unlink()
        case "truncated weights":
            data = (path / "model.safetensors").read_bytes()
            (path / "model.safetensors").write_bytes(data[: len(data) // 2])
        case "another architecture":
            (path / "config.json").write_text(json.dumps(config | {"model_type": "bart"}))
        case "mismatched sizes":
            (path / "config.json").write_text(json.dumps(config | {"encoder_ffn_dim": 65}))
        case "an empty folder":
            for one in path.iterdir():
                one.unlink()
        case "a file that is gone":
            path = folder / "gone.npz"
        case "an archive":
            path = folder / "a.zip"
            path.write_bytes(b"PK\x03\x04")
    return path


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("a missing vocabulary", "has no vocab.json"),
        ("truncated weights", "model.safetensors"),
        ("another architecture", "'bart'"),
        ("mismatched sizes", "shape"),
        ("an empty folder", "contains no model"),
        ("a file that is gone", "gone.npz"),
        ("an archive", "unpack it"),
    ],
)
def test_what_cannot_be_opened_leaves_the_model(
    shown: OddWindow, models: Path, tmp_path: Path, what: str, said: str
) -> None:
    model = shown.session.model
    with shown.bot.waitSignal(shown.controller.openFailed) as failed:
        drop(shown, bad(tmp_path, models, what))
    assert said in failed.args[0]
    assert shown.window.notice.isVisible()
    shown.type("The dog slept.")
    assert shown.session.model is model
    assert shown.session.status.phase is Phase.READY
