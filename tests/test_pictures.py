"""The script that makes the pictures takes none that does not show what it is for."""

import importlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from core.bundled import model_path
from core.checkpoints.opening import open_model
from core.decoding.translate import translate
from core.trace.record import trace_text
from core.trace.trace import AttentionKind
from tests.transformer_viz.stage import Stage, word_trace
from transformer_viz.export.dialog import ExportDialog
from transformer_viz.hub.dialog import GetModel
from transformer_viz.shell.window import Window
from transformer_viz.state.bundled import FIRST_TEXT
from transformer_viz.state.options import Quantity, ThemeChoice
from transformer_viz.training.new_run import NewRun
from transformer_viz.widgets.style import ThemeManager

DOCS = Path(__file__).resolve().parents[1] / "docs"
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "translation": ("Das Tier schlief.",),
    "looks": ("it", "animal"),
    "pins": (1,),
    "map_of": (AttentionKind.ENCODER_SELF, Quantity.WEIGHT),
    "ordered_by": ("previous",),
    "page_of_positions": ("grid",),
    "translations": (2,),
    "inserted": (8,),
    "dialog": (ExportDialog,),
}
"""Of the checks that have to be told what is wanted."""


@dataclass
class Scripts:
    pictures: ModuleType
    acts: ModuleType
    checks: ModuleType
    marian_copy: ModuleType


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Scripts:
    monkeypatch.syspath_prepend(str(DOCS))
    names = ("pictures", "picture_acts", "picture_checks", "marian_copy")
    return Scripts(*map(importlib.import_module, names))


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def scene(qapp: QApplication, stage: Stage, scripts: Scripts, tmp_path: Path) -> Iterator[Any]:
    """An empty window, with an empty training panel."""
    themes = ThemeManager(qapp, ThemeChoice.LIGHT)
    window = Window(stage.session, stage.controller, themes, runs=tmp_path / "runs")
    window.show()
    window.commands["show_training"].trigger()
    yield scripts.acts.Scene(window, stage.session, stage.controller)
    window.close()
    window.deleteLater()


def checks(module: ModuleType) -> dict[str, Callable[[Any], str]]:
    """Each check of the module by its name, told what is wanted where it has to be."""
    own = {
        name: one
        for name, one in vars(module).items()
        if inspect.isfunction(one) and one.__module__ == module.__name__ and name != "every"
    }
    return {name: one(*ARGUMENTS[name]) if name in ARGUMENTS else one for name, one in own.items()}


def is_sentence(text: str) -> bool:
    return text[:1].isupper() or text[:1].isdigit() or text[:1] == "“"


def test_each_check_fails_on_an_empty_window(scripts: Scripts, scene: Any) -> None:
    found = {name: check(scene) for name, check in checks(scripts.checks).items()}
    assert len(found) > 20
    passed = [name for name, missing in found.items() if not missing]
    assert not passed
    for missing in found.values():
        assert is_sentence(missing)
        assert missing.endswith(".")


@pytest.mark.parametrize("kind", [ExportDialog, GetModel, NewRun])
def test_a_dialog_has_to_be_open(scripts: Scripts, scene: Any, kind: type) -> None:
    assert scripts.checks.dialog(kind)(scene) == f"No {kind.__name__} dialog is open."


def test_each_picture_fails_on_an_empty_window(scripts: Scripts, scene: Any) -> None:
    passed = [one.name for one in scripts.pictures.PICTURES if not one.shows(scene)]
    assert not passed


def test_a_picture_that_shows_it_passes(scripts: Scripts, scene: Any, stage: Stage) -> None:
    stage.session.set_trace(word_trace("a dog sleeps"))
    stage.session.pin(0, 1)
    here = scripts.checks
    assert here.translation("A DOG SLEEPS")(scene) == ""
    assert here.translation("A CAT SLEEPS")(scene) != ""
    assert here.pins(1)(scene) == ""
    assert here.looks("a", "dog", least=0.25)(scene) == ""  # four keys alike
    assert here.looks("a", "dog")(scene) == "“a” gives “dog” a weight of 0.25, less than 0.5."
    assert here.looks("a", "cat")(scene) == "“a” or “cat” is not a token of the head's map."
    both = here.every(here.pins(1), here.pins(2))
    assert both(scene) == here.pins(2)(scene) != ""


def test_a_dialog_that_is_filled_passes(scripts: Scripts, scene: Any) -> None:
    for command, kind in (("new_run", NewRun), ("get_model", GetModel)):
        scene.window.commands[command].trigger()
        assert scripts.checks.dialog(kind)(scene) == ""


def test_the_model_in_marians_form_is_the_bundled_one(scripts: Scripts, tmp_path: Path) -> None:
    scripts.marian_copy.save_marian_copy("plain-en-de", tmp_path / "copy")
    models = [open_model(path) for path in (model_path("plain-en-de"), tmp_path / "copy")]
    (one,), (other,) = (translate(each.model, each.tokenizer, [FIRST_TEXT]) for each in models)
    assert one.ids == other.ids
    first, second = (trace_text(each.model, each.tokenizer, FIRST_TEXT) for each in models)
    for kind in first.kinds:
        for layer in range(first.layers(kind)):
            weights = first.layer_weights(kind, layer), second.layer_weights(kind, layer)
            np.testing.assert_allclose(*weights, atol=1e-5)
