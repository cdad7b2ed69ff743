"""What the session's sentence and model are compared with."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QWidget,
)

from core.bundled import bundled_models
from transformer_viz.compare.comparison import Comparison
from transformer_viz.drawing.theme import GRID
from transformer_viz.state.bundled import minimal_pairs
from transformer_viz.state.session import MAX_CHARACTERS
from transformer_viz.widgets.actions import literal
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import TextLine
from transformer_viz.widgets.text_size import set_height

HEIGHT = 7 * GRID
FILE_FILTER = "Models (*.safetensors *.npz config.json);;All files (*)"
_SAME = "Same model"
_NO_SENTENCE = "Type a second sentence"
_WIDEST_NAME = 30 * GRID


class CompareBar(QWidget):
    """Shows and changes side B of the comparison."""

    def __init__(self, comparison: Comparison, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._comparison = comparison
        self.model = QPushButton(_SAME)
        self.model.setToolTip("Model of side B")
        menu = QMenu("Model of B", self)
        menu.aboutToShow.connect(self._fill_models)
        self.model.setMenu(menu)
        self.text = TextLine()
        self.text.setAccessibleName("Sentence of B")
        self.text.setMaxLength(MAX_CHARACTERS)
        self.text.setClearButtonEnabled(True)
        self.text.setTextMargins(GRID, 0, GRID, 0)
        self.text.textEdited.connect(comparison.choose_text)
        self.swap = QPushButton("⇄")
        self.swap.setAccessibleName("Swap A and B")
        self.swap.clicked.connect(comparison.swap)
        self.pairs = QPushButton("Pairs")
        self.pairs.setAccessibleName("Minimal pairs")
        self.pairs.setToolTip("Minimal pairs: two sentences that differ in one word")
        pairs = QMenu("Minimal pairs", self)
        for pair in minimal_pairs():
            text = f"{pair.label}    {pair.first}"
            pairs.addAction(literal(text), partial(comparison.choose_pair, pair))
        self.pairs.setMenu(pairs)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2 * GRID)
        caption = QLabel("B")
        set_role(caption, "title")
        caption.setToolTip("A is the sentence and model of the window; B is what you choose here.")
        row.addWidget(caption)
        row.addWidget(self.model)
        row.addWidget(self.text, 1)
        row.addWidget(self.swap)
        row.addWidget(self.pairs)
        for control in (self.model, self.text, self.swap, self.pairs):
            set_height(control, HEIGHT)
        comparison.changed.connect(self.follow)
        self.follow()

    def follow(self) -> None:
        comparison = self._comparison
        text = comparison.text or ""
        if text.strip() != self.text.text().strip():
            self.text.setText(text)
            self.text.setCursorPosition(0)
        self.text.setPlaceholderText(" ".join((comparison.implied_text or _NO_SENTENCE).split()))
        path = comparison.path
        name = _SAME if path is None else path.name.removesuffix(".safetensors")
        middle = Qt.TextElideMode.ElideMiddle
        self.model.setText(literal(self.fontMetrics().elidedText(name, middle, _WIDEST_NAME)))
        self.model.setAccessibleName(f"Model of B: {name}")
        sides = comparison.sides
        stays = sides is not None and sides.model_a is None
        self.swap.setEnabled(sides is not None and not stays)
        self.swap.setToolTip(
            "A comes from a file and cannot be swapped" if stays else "Swap A and B"
        )

    def _fill_models(self) -> None:
        menu = self.model.menu()
        menu.clear()
        menu.addAction(_SAME, partial(self._comparison.choose_model, None))
        menu.addSeparator()
        for path in bundled_models():
            menu.addAction(literal(path.stem), partial(self._comparison.choose_model, path))
        menu.addSeparator()
        menu.addAction("Open…", self._open)

    def _open(self) -> None:
        path = self._comparison.path
        folder = "" if path is None else str(path.parent)
        name, _filter = QFileDialog.getOpenFileName(self, "Model of B", folder, FILE_FILTER)
        if name:
            path = Path(name)
            self._comparison.choose_model(path.parent if path.name == "config.json" else path)
