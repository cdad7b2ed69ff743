"""The controls above a map: how weights become colours, and what its rows and columns are."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QPushButton, QSizePolicy, QWidget

from transformer_viz.drawing.scales import explain_scale, scale_name
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.state.options import Combine, Scale
from transformer_viz.state.session import Session
from transformer_viz.widgets.flow_layout import FlowLayout
from transformer_viz.widgets.number_boxes import DecimalBox
from transformer_viz.widgets.style import dress_spin_box
from transformer_viz.widgets.text_size import set_height
from transformer_viz.words.quantity_wording import mapped_heads

_COMBINATIONS = {
    Combine.MEAN: ("Mean of heads", "One map: the mean of the selected heads' weights."),
    Combine.SIDE_BY_SIDE: ("Side by side", "A small map for each selected head."),
}
_SEVERAL = "Select several heads with Ctrl+click in the heads map."


class MapOptions(QWidget):
    """Shows and changes the session's options; continues in a second line where it is narrow."""

    fitWanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._compact = False
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.scale = QComboBox()
        for scale in Scale:
            self.scale.addItem("", scale.value)
        _name(self.scale, "Colour scale")
        self.threshold = DecimalBox(
            minimum=0.0, maximum=1.0, singleStep=0.01, decimals=3, value=0.0
        )
        self.threshold.setSpecialValueText("no threshold")
        self.threshold.setPrefix("blank < ")
        self.threshold.setAccessibleName("Threshold")
        self.threshold.setKeyboardTracking(False)
        self.threshold.setToolTip(
            "Weights below this are left blank. Nothing is renormalised; the line below the map "
            "says how much weight is not drawn."
        )
        self.merge_words = _toggle(
            "Merge words",
            "Join pieces into words: the columns of a word are summed and its rows averaged, so "
            "each row still adds up to 1. Special tokens and punctuation stand alone.",
        )
        self.hide_specials = _toggle(
            "Hide special tokens",
            "Leave out the rows and columns of special tokens. Nothing is renormalised; the "
            "weight on them is written at the end of each row.",
        )
        self.combine = QComboBox()
        for combine, (name, tip) in _COMBINATIONS.items():
            _add(self.combine, name, combine.value, tip)
        _name(self.combine, "Several heads")
        self.fit = QPushButton("Fit")
        self.fit.setToolTip("Show the whole map (0 or Home). The wheel zooms, dragging pans.")
        self.fit.setAccessibleName("Fit the whole map")
        self.fit.clicked.connect(self.fitWanted)
        row = FlowLayout(self, 2 * GRID)
        self.all: tuple[QWidget, ...] = (
            *(self.scale, self.threshold, self.hide_specials, self.merge_words, self.combine),
            self.fit,
        )
        for control in self.all:
            set_height(control, 7 * GRID)
            row.addWidget(control)

        self.scale.activated.connect(
            lambda _: session.change_options(scale=Scale(self.scale.currentData()))
        )
        self.combine.activated.connect(
            lambda _: session.change_options(combine=Combine(self.combine.currentData()))
        )
        self.threshold.valueChanged.connect(
            lambda value: session.change_options(threshold=round(value, 3))
        )
        self.merge_words.clicked.connect(lambda on: session.change_options(merge_words=on))
        self.hide_specials.clicked.connect(lambda on: session.change_options(hide_specials=on))
        session.optionsChanged.connect(self._follow)
        session.selectionChanged.connect(self._follow)
        self._follow()

    def apply_theme(self, theme: Theme) -> None:
        dress_spin_box(self.threshold, theme)

    def set_compact(self, compact: bool) -> None:
        """Hide what several heads need, while there are none."""
        self._compact = compact
        self._follow()

    def _follow(self) -> None:
        options, selection = self._session.options, self._session.selection
        self.scale.setCurrentIndex(self.scale.findData(options.scale.value))
        for index, scale in enumerate(Scale):
            name, tip = (say(scale, options.quantity) for say in (scale_name, explain_scale))
            self.scale.setItemText(index, name.capitalize())
            self.scale.setItemData(index, tip, Qt.ItemDataRole.ToolTipRole)
        self.scale.setToolTip(explain_scale(options.scale, options.quantity))
        self.combine.setCurrentIndex(self.combine.findData(options.combine.value))
        several = len(mapped_heads(options.quantity, selection)) > 1
        self.combine.setEnabled(several)
        self.combine.setVisible(several or not self._compact)
        self.combine.setToolTip(_COMBINATIONS[options.combine][1] if several else _SEVERAL)
        self.threshold.blockSignals(True)
        self.threshold.setValue(options.threshold)
        self.threshold.blockSignals(False)
        self.merge_words.setChecked(options.merge_words)
        self.hide_specials.setChecked(options.hide_specials)


def _add(box: QComboBox, name: str, value: str, tip: str) -> None:
    box.addItem(name, value)
    box.setItemData(box.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)


def _name(box: QComboBox, name: str) -> None:
    """Its list can have the keyboard too."""
    box.setAccessibleName(name)
    box.view().setAccessibleName(name)


def _toggle(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setCheckable(True)
    button.setToolTip(tip)
    button.setAccessibleName(text)
    return button
