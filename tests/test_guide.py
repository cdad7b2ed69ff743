"""The guide shows what the program has: its pictures are made by the script, its keys exist."""

import importlib
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication

from core.cli import COMMANDS
from core.presets import PRESETS, preset
from tests.transformer_viz.stage import Stage
from transformer_viz.shell.panel_keys import PANEL_KEYS
from transformer_viz.shell.views import TABS
from transformer_viz.shell.window import Window
from transformer_viz.state.options import ThemeChoice
from transformer_viz.widgets.style import ThemeManager

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guide.md"
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
PICTURES = sorted((ROOT / "docs" / "screenshots").iterdir())
MOST_BYTES = 300_000

_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)]+)\)")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The list of pictures, found as the script finds it."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("pictures")


@pytest.fixture
def window(qapp: QApplication) -> Iterator[Window]:
    stage = Stage()
    made = Window(stage.session, stage.controller, ThemeManager(qapp, ThemeChoice.LIGHT))
    yield made
    made.close()
    made.deleteLater()


def shown_in(document: Path) -> list[Path]:
    """The picture files that a document shows."""
    targets = (target for _text, target in _PICTURE.findall(document.read_text(encoding="utf-8")))
    return [document.parent / target for target in targets]


def anchors(document: Path) -> set[str]:
    """The names of a document's headings, as links know them."""
    titles = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_map_of_the_paper_names_views_commands_and_presets_that_exist() -> None:
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    views = {tab.title for tab in TABS} | {"Heads", "Heads map", "Training"}
    assert set(re.findall(r"\*\*([^*]+)\*\*", text)) <= views
    cells = [cell for cell in re.findall(r"`([^`]+)`", text) if cell != "transformer-viz"]
    config = preset("base")
    known = {*COMMANDS, *PRESETS, *config.model.to_dict(), *config.training.to_dict()}
    assert {cell.split()[0] for cell in cells} <= known


def test_every_picture_is_made_by_the_script_and_used(script: ModuleType) -> None:
    made = {f"{picture.name}.png" for picture in script.PICTURES}
    used = {path.name for document in DOCUMENTS for path in shown_in(document)}
    assert used == made == {path.name for path in PICTURES}


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_whole_and_small(picture: Path) -> None:
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG\r\n")
    assert data.endswith(b"IEND\xaeB`\x82")
    assert min(struct.unpack(">II", data[16:24])) >= 250  # pixels
    assert len(data) <= MOST_BYTES


def test_every_picture_says_in_words_what_it_shows() -> None:
    for document in DOCUMENTS:
        for text, target in _PICTURE.findall(document.read_text(encoding="utf-8")):
            assert len(text.split()) >= 5, target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for link in _LINK.findall(document.read_text(encoding="utf-8")):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = document.parent / name if name else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_table_of_keys_is_that_of_the_program(window: Window) -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+ · [^|]+) \| ([^|]+) \|$", guide, re.MULTILINE)
    portable = QKeySequence.SequenceFormat.PortableText
    listed = [
        (name, QKeySequence.listToString(action.shortcuts(), portable))
        for action, name, _keys in window.commands.listed()
    ]
    assert rows == [(name, keys) for name, keys in listed if keys]


def test_the_table_of_the_panels_keys_is_that_of_the_program() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| In the ([^|]+) \| ([^|]+) \| ([^|]+) \|$", guide, re.MULTILINE)
    portable = QKeySequence.SequenceFormat.PortableText
    assert rows == [
        (panel, keys.does, keys.text(portable))
        for panel, known in PANEL_KEYS.items()
        for keys in known
    ]
