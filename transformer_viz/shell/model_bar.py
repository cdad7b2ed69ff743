"""The bar on top: which model, how it searches, and the theme."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.state.languages import sides
from transformer_viz.state.options import Penalty
from transformer_viz.state.session import ModelInfo, Search, Session
from transformer_viz.state.settings import MAX_ALPHA, MAX_BEAM
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.number_boxes import DecimalBox, WholeBox
from transformer_viz.widgets.style import dress_spin_box, set_role
from transformer_viz.words.wording import plain_tooltip, score_formula

NO_INDICATOR = "*::menu-indicator { image: none; width: 0; }"  # the button draws its own arrow

_WIDEST_NAME = 90 * GRID


class ModelBar(QWidget):
    """Shows the session's model; asks for another search through `searchChanged`."""

    searchChanged = Signal(object)  # Search

    def __init__(
        self,
        session: Session,
        model_menu: QMenu,
        palette: QAction,
        theme_menu: QMenu,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self.setObjectName("model_bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(self, "paper")
        self.model_button = ModelButton(model_menu, self)
        self.greedy = _segment("&Greedy", "Take the most probable token at each step", self)
        self.beam = _segment("&Beam", "Keep the best few hypotheses at each step", self)
        self._choice = QButtonGroup(self)
        self._choice.addButton(self.greedy)
        self._choice.addButton(self.beam)
        self.size_box = WholeBox(self, minimum=2, maximum=MAX_BEAM, value=4)
        self.size_box.setAccessibleName("Beam size")
        self.size_box.setPrefix("size ")
        self.size_box.setToolTip("Beam size: number of hypotheses kept at each step")
        self.alpha_box = DecimalBox(
            self, minimum=0.0, maximum=MAX_ALPHA, singleStep=0.1, decimals=1, value=0.6
        )
        self.alpha_box.setPrefix("α ")
        self.alpha_box.setAccessibleName("Length penalty alpha")
        self._penalty = Penalty.MODEL
        keys = palette.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        find = QPushButton(f"Find a command…    {keys}", self)
        find.setAccessibleName("Find a command")
        find.clicked.connect(palette.trigger)
        find.setMinimumWidth(30 * GRID)  # cut off before it keeps the window wide
        set_role(find, "quiet")
        theme_button = QToolButton(self)
        theme_button.setText("◐")
        theme_button.setMenu(theme_menu)
        theme_button.setStyleSheet(NO_INDICATOR)
        theme_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        theme_button.setAccessibleName("Theme")
        theme_button.setToolTip("Theme: light, dark or like the system")
        for box in (self.size_box, self.alpha_box):
            box.setMinimumHeight(self.greedy.sizeHint().height())
        device = QLabel("CPU", self)
        device.setToolTip("The model runs on the CPU, in its own thread")
        set_role(device, "soft")
        self.origin = ElidedLabel("warning")
        self.origin.hide()
        self._lay_out(device, find, theme_button)

        self.greedy.clicked.connect(self._send)
        self.beam.clicked.connect(self._send)
        self.size_box.valueChanged.connect(self._send)
        self.alpha_box.valueChanged.connect(self._send)
        session.modelChanged.connect(self._show_model)
        session.originChanged.connect(self._show_origin)
        self.set_search(Search(), 4)

    @property
    def search(self) -> Search:
        beam = self.size_box.value() if self.beam.isChecked() else 1
        return Search(beam, round(self.alpha_box.value(), 1), self._penalty)

    def set_search(self, search: Search, beam_size: int) -> None:
        """Show a search without asking for it; `beam_size` waits behind the beam button."""
        for box, value in ((self.size_box, beam_size), (self.alpha_box, search.alpha)):
            box.blockSignals(True)
            box.setValue(value)
            box.blockSignals(False)
        (self.beam if search.beam > 1 else self.greedy).setChecked(True)
        self._penalty = search.penalty
        self._enable()
        self._explain_alpha()

    def apply_theme(self, theme: Theme) -> None:
        for box in (self.size_box, self.alpha_box):
            dress_spin_box(box, theme)

    def _show_model(self, model: ModelInfo | None) -> None:
        self.model_button.show_model(model)
        self._explain_alpha()
        self._show_origin(self._session.origin)

    def _explain_alpha(self) -> None:
        search = self.search
        form = score_formula(search.alpha, search.form(self._session.model), "tokens")
        said = "α has no effect" if form == "log P" else "0 favours short translations"
        self.alpha_box.setToolTip(plain_tooltip(f"Length penalty α: the score is {form}; {said}"))

    def _show_origin(self, origin: str) -> None:
        """The picture is not of the model named here, if one is."""
        apart = " (not this model)" if self._session.model is not None else ""
        self.origin.setText(f"Picture: {origin}{apart}" if origin else "")
        self.origin.setVisible(bool(origin))

    def _enable(self) -> None:
        for box in (self.size_box, self.alpha_box):
            box.setEnabled(self.beam.isChecked())

    def _send(self) -> None:
        self._enable()
        self._explain_alpha()
        self.searchChanged.emit(self.search)

    def _lay_out(self, device: QWidget, find: QWidget, theme_button: QWidget) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID)
        row.setSpacing(2 * GRID)
        segments = QHBoxLayout()
        segments.setSpacing(0)
        segments.addWidget(self.greedy)
        segments.addWidget(self.beam)
        row.addWidget(self.model_button)
        row.addWidget(device)
        row.addSpacing(2 * GRID)
        row.addLayout(segments)
        row.addWidget(self.size_box)
        row.addWidget(self.alpha_box)
        row.addWidget(self.origin, 1)
        row.addStretch()
        row.addWidget(find)
        row.addWidget(theme_button)


class ModelButton(QPushButton):
    """The name of the model, its shape beside it, and the menu of others."""

    def __init__(self, menu: QMenu, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = QLabel("No model", self)
        self._shape = QLabel("", self)
        arrow = QLabel("▾", self)
        set_role(self._name, "title")
        set_role(self._shape, "soft")
        set_role(arrow, "soft")
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        row.setSpacing(2 * GRID)
        for label in (self._name, self._shape, arrow):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            row.addWidget(label)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setMenu(menu)
        self.setStyleSheet(NO_INDICATOR)
        self.show_model(None)

    def show_model(self, model: ModelInfo | None) -> None:
        name = "No model" if model is None else model.name
        middle = Qt.TextElideMode.ElideMiddle
        self._name.setText(self._name.fontMetrics().elidedText(name, middle, _WIDEST_NAME))
        self._shape.setText("" if model is None else shape(model))
        self._shape.setVisible(model is not None)
        self.setAccessibleName(f"Model: {name} {self._shape.text()}".strip())
        self.setToolTip("Choose a model" if model is None else plain_tooltip(about(model)))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return self._row.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the size without the shape, which gives way in a narrow window; the tooltip has it
        too."""
        least = self._row.minimumSize()
        return least - QSize(self._shape.minimumSizeHint().width(), 0)


def about(model: ModelInfo) -> str:
    """Describe where the model is, its licence and, of one from another program, what it is and
    brings along."""
    lines = [str(model.path)]
    if imported := model.provenance.get("imported"):
        source, target = sides(model)
        lines.append(f"{imported}, {source} → {target}")
    if licence := model.provenance.get("licence"):
        lines.append(f"licence: {licence}")
    if model.languages:
        lines.append(f"{len(model.languages)} target languages")
    if model.search is not None:
        lines.append(
            f"made for beam {model.search.beam}, "
            f"score {score_formula(model.search.alpha, model.penalty, 'tokens')}"
        )
    return "\n".join(lines)


def shape(model: ModelInfo) -> str:
    """Format "3+3 layers · 4 heads · 1.6 M parameters"."""
    heads = str(model.encoder_heads)
    if model.decoder_heads != model.encoder_heads:
        heads = f"{heads}/{model.decoder_heads}"
    parts = [
        f"{model.encoder_layers}+{model.decoder_layers} layers",
        f"{heads} head{'s' * (heads != '1')}",
        *([f"{len(model.pruned)} pruned"] if model.pruned else []),
        count(model.parameters),
    ]
    if model.provenance.get("step") == 0:
        parts.append("untrained")
    return " · ".join(parts)


def count(parameters: int) -> str:
    """Format "74.4 M" or "23 k"."""
    if parameters < 100_000:
        return f"{parameters / 1e3:.0f} k"
    return f"{parameters / 1e6:.1f} M"


def _segment(text: str, tip: str, parent: QWidget) -> QPushButton:
    button = QPushButton(text, parent)
    button.setCheckable(True)
    button.setToolTip(tip)
    button.setAccessibleName(f"{text.replace('&', '')} search")
    return button
