"""The line above a comparison: which heads, which map is large, how far the colours range."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from core.trace.trace import Head
from transformer_viz.compare.compare_pictures import Shown
from transformer_viz.compare.comparison import Comparison, Sides
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.widgets.number_boxes import WholeBox
from transformer_viz.widgets.style import dress_spin_box, set_role
from transformer_viz.widgets.text_line import PlainLabel
from transformer_viz.widgets.text_size import set_font, set_height
from transformer_viz.words.wording import head_name, one_of

HEIGHT = 7 * GRID


_NAMES = {
    Shown.A: ("A", "Show the map of A large"),
    Shown.B: ("B", "Show the map of B large"),
    Shown.MINUS: ("A − B", "Show the difference large"),
}


class CompareControls(QWidget):
    changed = Signal()  # `large` or `full`

    def __init__(self, comparison: Comparison, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._comparison = comparison
        self._title = PlainLabel()
        set_font(self._title, 1.0, bold=True)
        self._title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_role(self._title, "title")
        self._caption = QLabel("B:")
        self._caption.setToolTip("Head of B: another model has different heads")
        set_role(self._caption, "soft")
        self.layer = WholeBox(minimum=1)
        self.layer.setPrefix("layer ")
        self.layer.setAccessibleName("Layer of B")
        self.head = WholeBox(minimum=1)
        self.head.setPrefix("head ")
        self.head.setAccessibleName("Head of B")
        self.maps = {shown: _segment(*_NAMES[shown]) for shown in Shown}
        self.ranges = {
            True: _segment("±1", "Colours run from −1 to +1, the same for every comparison"),
            False: _segment(
                "± largest", "Stretch the colours to the largest difference in this map"
            ),
        }
        self.maps[Shown.MINUS].setChecked(True)
        self.ranges[True].setChecked(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2 * GRID)
        row.addWidget(self._title, 1)
        for widget in (self._caption, self.layer, self.head):
            row.addWidget(widget)
        for buttons in (self.maps.values(), self.ranges.values()):
            group = QButtonGroup(self)
            segments = QHBoxLayout()
            segments.setSpacing(0)
            for button in buttons:
                group.addButton(button)
                segments.addWidget(button)
                button.clicked.connect(self.changed)
            row.addLayout(segments)
        for box in (self.layer, self.head):
            box.setFixedSize(18 * GRID, HEIGHT)
            box.valueChanged.connect(self._choose_head)

    @property
    def large(self) -> Shown:
        return next(shown for shown, button in self.maps.items() if button.isChecked())

    @property
    def full(self) -> bool:
        """Whether the colours of the difference range over ±1."""
        return self.ranges[True].isChecked()

    def show_large(self, shown: Shown) -> None:
        self.maps[shown].click()

    def show_heads(self, sides: Sides, a: Head, b: Head, selected: int) -> None:
        """Show which heads are compared; `selected` is how many are selected, of which one is
        compared."""
        self._title.setText(head_name(a) + one_of(selected))
        for widget in (self._caption, self.layer, self.head):
            widget.setVisible(not sides.same_model)
        for box, value, count in (
            (self.layer, b.layer, sides.b.layers(b.kind)),
            (self.head, b.head, 1 + max(sides.b.heads(b.kind, b.layer))),
        ):
            box.blockSignals(True)
            box.setMaximum(count)
            box.setValue(value + 1)
            box.blockSignals(False)

    def apply_theme(self, theme: Theme) -> None:
        for box in (self.layer, self.head):
            dress_spin_box(box, theme)

    def _choose_head(self) -> None:
        self._comparison.choose_head(self.layer.value() - 1, self.head.value() - 1)


def _segment(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setCheckable(True)
    set_height(button, HEIGHT)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    return button
