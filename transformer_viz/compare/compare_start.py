"""What the comparison shows while there is nothing to compare: what to do, and pairs to begin
with."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from transformer_viz.compare.comparison import Comparison
from transformer_viz.drawing.theme import GRID
from transformer_viz.state.bundled import minimal_pairs
from transformer_viz.widgets.actions import literal
from transformer_viz.widgets.style import set_role
from transformer_viz.words.wording import plain_tooltip


class CompareStart(QWidget):
    def __init__(self, comparison: Comparison, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._message = QLabel()
        self._message.setTextFormat(Qt.TextFormat.PlainText)
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._message.setWordWrap(True)
        set_role(self._message, "soft")
        column = QVBoxLayout(self)
        column.setContentsMargins(8 * GRID, 8 * GRID, 8 * GRID, 8 * GRID)
        column.setSpacing(2 * GRID)
        column.addStretch(2)
        column.addWidget(self._message)
        column.addSpacing(2 * GRID)
        self.pairs = []
        for pair in minimal_pairs():
            button = QPushButton(literal(f"Compare: {pair.label}"))
            button.setToolTip(plain_tooltip(f"{pair.first}\n{pair.second}"))
            button.setMinimumWidth(44 * GRID)
            button.clicked.connect(partial(comparison.choose_pair, pair))
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
            self.pairs.append(button)
        column.addStretch(3)

    def show_message(self, text: str) -> None:
        self._message.setText(text)
