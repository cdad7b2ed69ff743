"""The slider that pushes words into the sentence, and the way back."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSlider, QWidget

from transformer_viz.drawing.theme import GRID
from transformer_viz.reach.stretching import MOST_WORDS, Stretching
from transformer_viz.state.session import Session
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel
from transformer_viz.widgets.text_size import set_height, set_width_of
from transformer_viz.words.wording import plain_tooltip

PAGE = 4
"""Words that Page Up and Page Down insert or remove: one place in the sentence."""

_TIP = (
    "Insert English words in the middle of the sentence to see which heads still reach "
    "across.\n0, Esc or the button restores your own sentence."
)


class StretchBar(QWidget):
    def __init__(self, session: Session, stretching: Stretching) -> None:
        super().__init__()
        self._stretching = stretching
        name = QLabel("inserted words")
        set_role(name, "soft")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, MOST_WORDS)
        self.slider.setPageStep(PAGE)
        self.slider.setFixedWidth(64 * GRID)
        self.slider.setAccessibleName("Words inserted into the sentence")
        self.slider.setToolTip(plain_tooltip(_TIP))
        self.number = PlainLabel()
        set_width_of(self.number, "888")
        self.back = QPushButton("Own sentence")
        self.back.setToolTip("Remove the inserted words (Esc)")
        set_height(self.back, 7 * GRID)
        self.obstacle, self._problem = ElidedLabel("soft"), ElidedLabel("error")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2 * GRID)
        for widget in (name, self.slider, self.number, self.back):
            row.addWidget(widget)
        row.addWidget(self.obstacle, 1)
        row.addWidget(self._problem, 1)
        set_height(self, 7 * GRID)
        self.slider.valueChanged.connect(stretching.stretch)
        self.back.clicked.connect(stretching.restore)
        stretching.changed.connect(self._follow)
        for changed in (session.textChanged, session.traceChanged, session.modelChanged):
            changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        stretching = self._stretching
        self.slider.blockSignals(True)
        self.slider.setValue(stretching.words)
        self.slider.blockSignals(False)
        self.number.setText(str(stretching.words))
        obstacle = stretching.obstacle
        self.slider.setEnabled(not obstacle)
        self.slider.setToolTip(plain_tooltip(obstacle or _TIP))
        self.obstacle.setText(obstacle)
        self.obstacle.setVisible(bool(obstacle))
        self.back.setEnabled(stretching.active)
        self.number.setVisible(not obstacle)
        self.back.setVisible(not obstacle or stretching.active)
        self._problem.setText(stretching.problem and f"⚠ {stretching.problem}")
        self._problem.setVisible(not obstacle)
