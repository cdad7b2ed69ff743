"""The controls above the links: their form, and how many of them are drawn."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSlider,
    QWidget,
)

from core.trace.trace import AttentionKind
from transformer_viz.drawing.theme import GRID
from transformer_viz.state.options import LinksForm
from transformer_viz.state.session import Session
from transformer_viz.widgets.flow_layout import FlowLayout
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel
from transformer_viz.widgets.text_size import set_height, set_width_of

FORMS = {
    LinksForm.COLUMNS: ("Columns", "Queries on the left, keys on the right."),
    LinksForm.ROWS: ("Rows", "Queries above, keys below; suits long texts."),
    LinksForm.ARCS: (
        "Arcs",
        "The text once: an arc above leads to an earlier token, an arc below to a later one.",
    ),
}
_NO_ARCS = "Arcs need queries and keys from one text; cross-attention connects two."
_SHARE = (
    "Draw, for each query, the fewest links that add up to this share of its weight, largest first."
)
_DISTANCE = "Hide links between tokens closer than this, so that long-range links stand out."
_NO_DISTANCE = "Distance counts tokens within one text; cross-attention connects two."


class LinksOptions(QWidget):
    """Shows and changes the session's options; continues in a second line where it is narrow."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.forms = QButtonGroup(self)
        forms = QWidget()
        row = QHBoxLayout(forms)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        for number, (form, (name, tip)) in enumerate(FORMS.items()):
            button = QPushButton(name)
            button.setCheckable(True)
            button.setToolTip(tip)
            button.setAccessibleName(f"Links as {form.value}")
            set_height(button, 7 * GRID)
            self.forms.addButton(button, number)
            row.addWidget(button)
        self.share = _slider("Share of each query's weight", 5, 100)
        self.share.setPageStep(10)
        self.share.setToolTip(_SHARE)
        self.distance = _slider("Minimum distance of links", 0, 0)
        self.share_number, self.distance_number = PlainLabel(), PlainLabel()
        flow = FlowLayout(self, 3 * GRID)
        flow.addWidget(forms)
        flow.addWidget(_named("top share", self.share, self.share_number, "100%"))
        flow.addWidget(_named("min. distance", self.distance, self.distance_number, "000"))

        self.forms.idClicked.connect(
            lambda number: session.change_options(links_form=list(FORMS)[number])
        )
        self.share.valueChanged.connect(
            lambda percent: session.change_options(links_mass=percent / 100)
        )
        self.distance.valueChanged.connect(
            lambda tokens: session.change_options(links_distance=tokens)
        )
        session.optionsChanged.connect(self._follow)
        session.selectionChanged.connect(self._follow)
        session.traceChanged.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        options, kind, trace = (
            self._session.options,
            self._session.selection.kind,
            self._session.trace,
        )
        one_text = kind is not AttentionKind.CROSS
        form = shown_form(options.links_form, kind)
        for number, one in enumerate(FORMS):
            self.forms.button(number).setChecked(one is form)
        arcs = self.forms.button(list(FORMS).index(LinksForm.ARCS))
        arcs.setEnabled(one_text)
        arcs.setToolTip(FORMS[LinksForm.ARCS][1] if one_text else _NO_ARCS)
        longest = 0 if trace is None else len(trace.query_tokens(kind)) - 1
        percent = round(100 * options.links_mass)
        _show(self.share, percent)
        self.share_number.setText(f"{percent}%")
        self.distance.setEnabled(one_text)
        self.distance.setToolTip(_DISTANCE if one_text else _NO_DISTANCE)
        self.distance.blockSignals(True)
        self.distance.setMaximum(max(longest, options.links_distance))
        self.distance.blockSignals(False)
        _show(self.distance, options.links_distance)
        self.distance_number.setText(str(options.links_distance) if one_text else "–")


def shown_form(form: LinksForm, kind: AttentionKind) -> LinksForm:
    """The form in which links of a kind are drawn: arcs need queries and keys of one text."""
    if form is LinksForm.ARCS and kind is AttentionKind.CROSS:
        return LinksForm.ROWS
    return form


def _slider(name: str, low: int, high: int) -> QSlider:
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setRange(low, high)
    slider.setFixedWidth(20 * GRID)
    slider.setAccessibleName(name)
    return slider


def _named(name: str, slider: QSlider, number: QLabel, widest: str) -> QWidget:
    """A slider between its name and its number."""
    group = QWidget()
    set_height(group, 7 * GRID)
    row = QHBoxLayout(group)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(2 * GRID)
    label = QLabel(name)
    set_role(label, "soft")
    set_width_of(number, widest)
    number.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    for widget in (label, slider, number):
        row.addWidget(widget)
    return group


def _show(slider: QSlider, value: int) -> None:
    slider.blockSignals(True)
    slider.setValue(value)
    slider.blockSignals(False)
