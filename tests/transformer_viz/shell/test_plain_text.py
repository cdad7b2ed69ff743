"""Names, texts and messages are shown as they stand, whatever markup they look like: in every
label, message box and tooltip.

Qt guesses: what looks like HTML to it is rendered as HTML, and a run named `<b>hi<br>` reads
otherwise where it is to be deleted.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.transformer_viz.models import save_tiny_model
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.engine import Engine
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.views import VIEW_NAMES
from transformer_viz.shell.window import Window
from transformer_viz.state.session import Session
from transformer_viz.state.settings import Settings, SettingsFile
from transformer_viz.widgets.style import ThemeManager
from transformer_viz.words.wording import plain_tooltip

SOURCE = Path(__file__).resolve().parents[3] / "transformer_viz"
NAME = "run <b>hi<br>&amp;"
TEXT = "The <b>dog</b> slept<br>&amp; <i>ate</i>."
AUTHORED = {"tip", "tooltip", "definition", "description", "explanation"}
"""Parameters and loop variables that are given sentences of our own."""
ESCAPING = {"plain_tooltip", "_escaped", "explain_scale"}
"""Functions that escape, and one whose sentences are all our own."""


# Labels


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path) -> Iterator[Window]:
    """A window whose model, run, second sentence and text have names of this kind."""
    folder = tmp_path / NAME
    folder.mkdir()
    session = Session()
    controller = Controller(session, Engine(TorchBackend(1)), Settings(), SettingsFile(tmp_path))
    made = Window(
        *(session, controller, ThemeManager(qapp, "light")),
        runs=folder / "runs",
        cache=folder / "cache",
    )
    made.resize(1000, 640)
    made.show()
    controller.open(save_tiny_model(folder / f"{NAME}.safetensors"))
    yield made
    made.end()
    made.deleteLater()


def test_every_label_and_tooltip_shows_what_it_is_given(window: Window, qtbot: QtBot) -> None:
    controller, session = window._controller, window._session
    with qtbot.waitSignal(controller.settled, timeout=30_000):
        window.show_text(TEXT)
    controller.comparison.choose_text(f"{TEXT} {TEXT}")
    qtbot.waitUntil(lambda: session.trace is not None and session.trace.text == TEXT)
    session.pin(1, 2)
    controller.noticed.emit(NAME)
    window.say(NAME)
    window.training.show()
    window.heads.show()
    window.hub.show()
    for view in VIEW_NAMES:
        window.show_view(view)
        QApplication.processEvents()
    for id_ in ("guide", "shortcuts", "about", "log", "export", "palette"):
        window.commands[id_].trigger()
    QApplication.processEvents()
    widgets = QApplication.allWidgets()
    ours = _constants()
    guessing = [
        f"{type(one.parent()).__name__}: {one.text()[:60]!r}"
        for one in widgets
        if isinstance(one, QLabel)
        and one.textFormat() is Qt.TextFormat.AutoText
        and one.pixmap().isNull()
        and one.text() not in ours
        and one.parent().objectName() != "gridGroup"  # in pyqtgraph's menu, which is never shown
    ]
    assert not guessing, chr(10).join(sorted(set(guessing)))
    rendered = [one.toolTip() for one in widgets if _shows_markup(one)]
    assert rendered == []


def _constants() -> set[str]:
    """Every text in our source, as captions have them from there."""
    return {
        node.value
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value
    }


def _shows_markup(widget: QWidget) -> bool:
    return any(tag in widget.toolTip() for tag in ("<b>", "<br>", "<i>"))


# Tooltips


def test_every_tooltip_is_our_own_sentence_or_escaped() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}:{line}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, text in _guessed(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not wrong, chr(10).join(wrong)


def test_a_guess_is_found() -> None:
    """Of each form, one that is refused and one that is not."""
    made = """
def a(self, tip, run):
    self.setToolTip(run.name)
    self.setToolTip(f"Open {run.name}")
    self.setToolTip(tip)
    self.setToolTip("Open" if tip else plain_tooltip(run.name))
    text = run.name
    QToolTip.showText(place, text, self)
def b(self, run):
    text = "" if run is None else plain_tooltip(run.name)
    QToolTip.showText(place, text, self)
    box.setItemData(1, run.name, Qt.ItemDataRole.ToolTipRole)
    box.setItemData(1, _TIP, Qt.ItemDataRole.ToolTipRole)
"""
    assert [line for line, _ in _guessed(ast.parse(made))] == [3, 4, 8, 12]
    assert "&lt;b&gt;hi&lt;br&gt;&amp;amp;" in plain_tooltip(NAME)


def _guessed(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where a tooltip is given anything else, and what."""
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.FunctionDef):
            continue
        values: dict[str, list[ast.expr]] = {}
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                values.setdefault(node.targets[0].id, []).append(node.value)
        for node in ast.walk(scope):
            shown = _tooltip(node)
            if shown is not None and not _is_ours(shown, values):
                yield node.lineno, ast.unparse(shown)


def _tooltip(node: ast.AST) -> ast.expr | None:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return None
    if node.func.attr == "setToolTip":
        return node.args[0]
    of_item = any("ToolTipRole" in ast.unparse(one) for one in node.args)
    if (node.func.attr == "setItemData" and of_item) or (
        node.func.attr == "showText" and ast.unparse(node.func.value) == "QToolTip"
    ):
        return node.args[1]
    return None


def _is_ours(node: ast.expr, values: dict[str, list[ast.expr]]) -> bool:
    def ours(*parts: ast.expr) -> bool:
        return all(_is_ours(part, values) for part in parts)

    match node:
        case ast.Constant():
            return True
        case ast.Call():
            return ast.unparse(node.func) in ESCAPING
        case ast.Name(id=name):
            is_ours = name.isupper() or name in AUTHORED
            return is_ours or (name in values and ours(*values[name]))
        case ast.Attribute(attr=name):
            return name in AUTHORED
        case ast.Subscript(value=value):
            return ours(value)
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return ours(one, other)
        case ast.BoolOp(values=parts):
            return ours(*parts)
        case ast.JoinedStr(values=parts):
            return ours(*(p.value if isinstance(p, ast.FormattedValue) else p for p in parts))
    return False
