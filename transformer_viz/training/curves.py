"""The metrics of one run or several over steps, while they train."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from transformer_viz.drawing.axis import AxisScale
from transformer_viz.drawing.lines import Floats, Line, Plot
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.training.metrics import METRICS, Metric, Part, smoothed
from transformer_viz.training.run import Run
from transformer_viz.widgets.flow_layout import FlowLayout
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.line_plot import KEYS, LinePlot
from transformer_viz.widgets.number_boxes import DecimalBox
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.style import dress_spin_box, set_role
from transformer_viz.widgets.text_size import set_height

MOST_SMOOTHING = 0.99
_SMOOTHING_TIP = (
    "Weight of earlier values in the exponential moving average of the logged lines; the "
    "original line stays behind it, faint. Validation results and the learning rate are never "
    "smoothed."
)


class Curves(Panel):
    """Draws the curves of runs while visible; new lines of a run appear by themselves."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme: Theme = LIGHT
        self._runs: tuple[Run, ...] = ()
        self._outdated = True
        set_role(self, "paper")

        self.choice = QComboBox()
        for metric in METRICS:
            self.choice.addItem(metric.name, metric.id)
        self.choice.setAccessibleName("Metric")
        self.choice.view().setAccessibleName("Metric")
        self.log_steps = _toggle(
            "Log steps", "Show steps on a logarithmic axis, which spreads out the start."
        )
        self.log_values = _toggle("Log values", "Show values on a logarithmic axis.")
        self.smoothing = DecimalBox(minimum=0.0, maximum=MOST_SMOOTHING, singleStep=0.1)
        self.smoothing.setPrefix("smoothing ")
        self.smoothing.setSpecialValueText("no smoothing")
        self.smoothing.setAccessibleName("Smoothing")
        self.smoothing.setToolTip(_SMOOTHING_TIP)
        self.fit = QPushButton("Fit")
        self.fit.setAccessibleName("Show all steps and values")
        self.fit.setToolTip(f"Show all (0 or Home). {KEYS}")
        controls = QWidget()
        row = FlowLayout(controls, 2 * GRID)
        for control in (self.choice, self.log_steps, self.log_values, self.smoothing, self.fit):
            set_height(control, 7 * GRID)
            row.addWidget(control)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        controls.setSizePolicy(policy)

        self.chart = LinePlot("Training curves")
        self.placeholder = Placeholder()
        self.about = QLabel()
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setWordWrap(True)
        set_role(self.about, "soft")
        pictures = QWidget()
        self._pages = QStackedLayout(pictures)
        for page in (self.chart, self.placeholder):
            self._pages.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * GRID, 2 * GRID, 4 * GRID, 2 * GRID)
        column.setSpacing(2 * GRID)
        column.addWidget(controls)
        column.addWidget(pictures, 1)
        column.addWidget(self.about)

        self.choice.currentIndexChanged.connect(self._on_metric)
        self.log_steps.toggled.connect(self.invalidate)
        self.log_values.toggled.connect(self.invalidate)
        self.smoothing.valueChanged.connect(self.invalidate)
        self.fit.clicked.connect(self.chart.fit)
        self.chart.zoomedChanged.connect(self.fit.setEnabled)
        self.fit.setEnabled(False)

    def focus_part(self) -> QWidget:
        return self.chart if self.chart.isVisible() else self.choice

    def show_runs(self, runs: Sequence[Run]) -> None:
        """Show runs beside each other, in the order in which their colours are assigned."""
        for run in self._runs:
            run.metricsChanged.disconnect(self.invalidate)
        self._runs = tuple(runs)
        for run in self._runs:
            run.metricsChanged.connect(self.invalidate)
        self.chart.fit()
        self.invalidate()

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        dress_spin_box(self.smoothing, theme)
        self.chart.apply_theme(theme)

    def invalidate(self, *_changed: object) -> None:
        self._outdated = True
        if self.isVisible():
            self._refresh()

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        if self._outdated:
            self._refresh()

    def _on_metric(self) -> None:
        self.chart.fit()
        self.invalidate()

    def _refresh(self) -> None:
        self._outdated = False
        metric = METRICS[self.choice.currentIndex()]
        x = AxisScale.LOG_STEP if self.log_steps.isChecked() else AxisScale.LINEAR
        y = AxisScale.LOG if self.log_values.isChecked() else AxisScale.LINEAR
        lines = self._lines(metric)
        self.chart.show_plot(
            Plot(tuple(lines), x_title="step", y_title=metric.unit, x_scale=x, y_scale=y)
        )
        self.about.setText(f"{metric.explanation}{self._cooldown(metric)}")
        self._pages.setCurrentWidget(self.chart if lines else self.placeholder)
        if not lines:
            self.placeholder.say(*self._nothing(metric))

    def _cooldown(self, metric: Metric) -> str:
        """How the learning rate of these runs ends, which the paper's does not."""
        shares = {run.config.training.cooldown for run in self._runs if run.config is not None}
        if metric.id != "learning_rate" or not any(shares):
            return ""
        if len(shares) > 1:
            return " In runs with a cool-down it ends with a linear fall to zero."
        return f" Over the last {shares.pop():.0%} of the steps it falls linearly to zero."

    def _lines(self, metric: Metric) -> list[Line]:
        """A colour for each run; of a single run, one for each of its lines."""
        lines, weight = [], self.smoothing.value()
        several = len(self._runs) > 1
        for number, run in enumerate(self._runs):
            for index, wanted in enumerate(metric.parts):
                part, steps, values = _points(run, wanted)
                if not len(steps):
                    continue
                smooth = weight > 0 and part.noisy
                lines.append(
                    Line(
                        x=steps,
                        y=smoothed(values, weight) if smooth else values,
                        label=self._label(run, metric, part),
                        color=number if several else index,
                        raw=values if smooth else None,
                        dots=part.measured,
                    )
                )
        return lines

    def _label(self, run: Run, metric: Metric, part: Part) -> str:
        if len(self._runs) == 1:
            return part.name
        return run.name if len(metric.parts) == 1 else f"{run.name} · {part.name}"

    def _nothing(self, metric: Metric) -> tuple[str, str]:
        if not self._runs:
            return "No run selected", "Select a run in the list to see its curves."
        if any(run.metrics for run in self._runs):
            measured = all(part.measured for part in metric.parts)
            when = "It is measured at the first validation." if measured else ""
            return f"No {metric.name} in this run yet", when
        return (
            "Nothing logged yet",
            "The first line appears after as many steps as “Log every” says.",
        )


def _points(run: Run, part: Part) -> tuple[Part, Floats, Floats]:
    """Steps and values of a part, or of what stands in its place, and which it is."""
    steps, values = run.series(part.key)
    if not len(steps) and part.otherwise is not None:
        return _points(run, part.otherwise)
    return part, steps, np.exp(values) if part.exponential else values


def _toggle(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setCheckable(True)
    button.setToolTip(tip)
    button.setAccessibleName(text)
    return button
