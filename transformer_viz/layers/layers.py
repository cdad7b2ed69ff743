"""The Layers view: the cost of each kind of layer over the number of positions."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.errors import UserError
from core.lab.report import INFLUENCE, QUANTITIES, LayersReport
from core.model.mixers.kinds import MIXERS, MixerShape
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.layers.cost_curves import cost_plot, cost_rows, said_of
from transformer_viz.layers.layer_costs import LayerChoice, LayerCosts
from transformer_viz.state.session import Session
from transformer_viz.widgets.line_plot import LinePlot
from transformer_viz.widgets.number_boxes import WholeBox
from transformer_viz.widgets.result_page import ResultPage
from transformer_viz.widgets.result_table import ResultTable
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import dress_spin_box
from transformer_viz.widgets.text_line import label
from transformer_viz.widgets.text_size import set_height
from transformer_viz.words.training_wording import duration

FIRST = ("attention", "restricted", "lstm", "convolution", "linear", "s4d", "mamba")
_LENGTHS = (256, 512, 1024, 2048, 4096, 8192)
_STEPS = 1000
_NOTHING = (
    "What does a layer cost on this machine?",
    "The paper's Table 1 compares self-attention with recurrence and convolution. Measure here "
    "what one layer of each kind takes, how that grows with the number of positions, and how many "
    "steps connect two of them. It takes about a minute and runs in the background.",
)


class CostPage(ResultPage):
    """The chart of one quantity, and the table of all kinds."""

    title = "One layer of each kind"

    def __init__(self, costs: LayerCosts) -> None:
        super().__init__(
            LinePlot("Cost of a layer by number of positions", of="Positions"),
            ResultTable("Kinds of layers"),
        )
        self._costs = costs
        self.quantity = QComboBox()
        for name, text in (*QUANTITIES.items(), (INFLUENCE, "influence by distance")):
            self.quantity.addItem(text[0].upper() + text[1:], name)
        for named in (self.quantity, self.quantity.view()):
            named.setAccessibleName("Quantity")
        set_height(self.quantity, 7 * GRID)
        self.bar.addWidget(self.quantity)
        self.quantity.currentIndexChanged.connect(self.refresh)

    def refresh(self) -> None:
        report = self._costs.report
        self.caption.setVisible(report is not None)
        if report is None:
            return
        quantity = self.quantity.currentData()
        self.caption.setText(said_of(report, quantity))
        self.table.show_rows([*cost_rows(report, quantity)])
        self._draw(report)

    def _draw(self, report: LayersReport) -> None:
        self.plot.show_plot(cost_plot(report, self.quantity.currentData(), self._current(report)))

    def _current(self, report: LayersReport) -> str:
        """Return the kind in the table's row; "" while the table has no focus."""
        row = self.table.current
        if row is None or not self.table.hasFocus() or not 1 <= row <= len(report.layers):
            return ""
        return report.layers[row - 1].kind

    def _point_at(self, row: int) -> None:
        """Bring out the line of a row."""
        if self._costs.report is not None:
            self._draw(self._costs.report)


class LayersView(StageView):
    """Needs no model: the layers have random weights."""

    def __init__(self, session: Session, costs: LayerCosts) -> None:
        super().__init__(session)
        self._costs = costs
        self.page = CostPage(costs)
        self.kinds = QToolButton()
        self.kinds.setText("Kinds")
        self.kinds.setToolTip("Which kinds of layers are measured")
        self.kinds.setAccessibleName("Kinds of layers")
        self.kinds.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.kinds)
        self.checks = {kind.name: menu.addAction(kind.title) for kind in MIXERS}
        self.kinds.setMenu(menu)
        self.causal = QCheckBox("Decoder")
        self.causal.setToolTip("Measure the causal form; some kinds have none")
        self.sizes = {
            name: _number(title, tip, *limits)
            for name, title, tip, limits in (
                ("d_model", "d", "Width of a layer; a multiple of 4, the heads", (4, 1024, 4)),
                ("kernel", "k", "Width of a convolution's kernel", (1, 63, 2)),
                ("neighbours", "r", "Positions that restricted attention sees", (1, 511, 2)),
            )
        }
        self.longest = QComboBox()
        for n in _LENGTHS:
            self.longest.addItem(f"n ≤ {n:,}", n)
        self.longest.setToolTip("The longest row that is measured")
        for named in (self.longest, self.longest.view()):
            named.setAccessibleName("Longest row")
        self.measure = QPushButton("Measure")
        self.measure.setToolTip("Measure the chosen kinds in the background")
        self.cancel = QPushButton("Cancel")
        self.cancel.setAccessibleName("Cancel measuring")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedSize(30 * GRID, 2 * GRID)
        self.progress.setAccessibleName("Progress of measuring")
        self.said = label("soft")
        self.problem = label("error", wrap=True)
        self._build()
        self._set_up(costs.report)
        self.measure.clicked.connect(self._measure)
        self.cancel.clicked.connect(costs.cancel)
        self.causal.toggled.connect(self._follow_form)
        costs.changed.connect(self.invalidate)
        costs.stateChanged.connect(self.invalidate)

    def _build(self) -> None:
        bar = self.page.bar
        for widget in (self.kinds, *self._named_sizes(), self.longest, self.causal):
            bar.addWidget(widget)
        for widget in (self.measure, self.cancel, self.progress, self.said):
            bar.addWidget(widget)
        for control in (*self.sizes.values(), self.kinds, self.longest, self.measure, self.cancel):
            set_height(control, 7 * GRID)
        self.problem.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 3 * GRID, 0, 0)
        column.addWidget(self.problem)
        column.addWidget(self.page, 1)

    def _named_sizes(self) -> list[QWidget]:
        """Return each box behind its letter."""
        found: list[QWidget] = []
        for box in self.sizes.values():
            letter = QLabel(box.accessibleName())
            letter.setBuddy(box)
            found += [letter, box]
        return found

    def _set_up(self, report: LayersReport | None) -> None:
        """Show the choice that was measured, or the usual one."""
        shape = MixerShape() if report is None else report.shape
        names = FIRST if report is None else [layer.kind for layer in report.layers]
        for name, action in self.checks.items():
            action.setCheckable(True)
            action.setChecked(name in names)
        for name, box in self.sizes.items():
            box.setValue(getattr(shape, name))
        measured = [cost.n for layer in report.layers for cost in layer.costs] if report else []
        self.longest.setCurrentIndex(max(0, self.longest.findData(max(measured, default=1024))))
        self.causal.setChecked(report is not None and report.causal)
        self._follow_form()

    def _follow_form(self) -> None:
        """Offer only the kinds that have the chosen form."""
        for kind in MIXERS:
            self.checks[kind.name].setEnabled(
                not (kind.both_directions and self.causal.isChecked())
            )

    @property
    def choice(self) -> LayerChoice:
        """What is chosen; raises UserError where that is impossible."""
        names = [
            name
            for name, action in self.checks.items()
            if action.isChecked() and action.isEnabled()
        ]
        if not names:
            raise UserError("No kind of layer is chosen; choose one under “Kinds”.")
        shape = MixerShape(**{name: box.value() for name, box in self.sizes.items()})
        longest = self.longest.currentData()
        return LayerChoice(tuple(names), shape, longest, self.causal.isChecked())

    def _measure(self) -> None:
        try:
            choice = self.choice
        except UserError as error:
            self._say_problem(str(error))
        else:
            self._costs.measure(choice)

    def _say_problem(self, text: str) -> None:
        self.problem.setText(f"⚠ {text}")
        self.problem.setVisible(bool(text))

    def refresh(self) -> None:
        costs = self._costs
        self.measure.setVisible(not costs.running)
        self.cancel.setVisible(costs.running)
        self.progress.setVisible(costs.running)
        self.said.setVisible(costs.running)
        self._say_problem(costs.problem)
        progress = costs.progress
        self.progress.setRange(0, 0 if progress is None else _STEPS)
        if progress is not None:
            self.progress.setValue(round(_STEPS * progress.share))
        left = None if progress is None else progress.seconds_left
        self.said.setText("" if left is None else f"{duration(left)} left")
        self.measure.setText("Measure" if costs.report is None else "Measure again")
        self.page.quantity.setEnabled(costs.report is not None)
        self.page.say_instead(*(_NOTHING if costs.report is None else ("", "")))
        self.page.refresh()

    def apply_theme(self, theme: Theme) -> None:
        self.page.apply_theme(theme)
        for box in self.sizes.values():
            dress_spin_box(box, theme)
        super().apply_theme(theme)

    def focus_part(self) -> QWidget:
        if self._costs.report is not None:
            return self.page.table
        return self.cancel if self._costs.running else self.measure

    # For a file

    @property
    def has_picture(self) -> bool:
        return self._costs.report is not None

    def export_name(self) -> str:
        return f"layers, {self.page.quantity.currentText().lower()}"

    def export_size(self) -> QSize:
        return self.page.export_size()

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        self.page.paint_export(painter, rect, self.theme)


def _number(title: str, tip: str, least: int, most: int, step: int) -> WholeBox:
    box = WholeBox()
    box.setRange(least, most)
    box.setSingleStep(step)
    box.setAccessibleName(title)
    box.setAccessibleDescription(tip)
    box.setToolTip(tip)
    return box
