"""Statistics of heads by step of training: curves of the selected heads, a list of them all."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.statistics.registry import ANTECEDENT, PRONOUN, Statistic
from core.trace.trace import Head
from core.training.probe_log import ProbeLog
from transformer_viz.drawing.axis import AxisScale
from transformer_viz.drawing.head_colors import color_slots
from transformer_viz.drawing.lines import Line, Mark, Plot
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.state.session import Session
from transformer_viz.widgets.line_plot import LinePlot
from transformer_viz.widgets.list_style import list_style
from transformer_viz.widgets.number_boxes import DecimalBox
from transformer_viz.widgets.style import dress_spin_box, set_role
from transformer_viz.widgets.text_size import set_height
from transformer_viz.words.measures import explained
from transformer_viz.words.statistics import (
    CURVES,
    Rank,
    explanation,
    head_label,
    ranked,
    since_in_words,
)
from transformer_viz.words.wording import plain_tooltip

_LIST_WIDTH = 72 * GRID
_FIRST = "previous"
_USUAL = 0.5


class Specialists(QWidget):
    """Shows when heads specialise, following the selection; Enter or a click selects a head.

    While the selection is of another model, without any head of this run, the head that is the
    first by the statistic stands in for it: `standing_in`, else None.
    """

    stepChosen = Signal(float)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._log: ProbeLog | None = None
        self._step: int | None = None
        self._ranks: list[Rank] = []  # as listed
        self._chosen = False  # the statistic, by the user
        self.standing_in: Head | None = None
        self.statistic = QComboBox()
        for statistic in CURVES:
            self.statistic.addItem(statistic.name.capitalize(), statistic.id)
        self.statistic.setCurrentIndex(self.statistic.findData(_FIRST))
        self.statistic.setAccessibleName("Head statistic")
        self.statistic.view().setAccessibleName("Head statistic")
        self.threshold = DecimalBox(minimum=0.05, maximum=1.0, singleStep=0.05, value=_USUAL)
        self.threshold.setPrefix("≥ ")
        self.threshold.setAccessibleName("Specialist threshold")
        self.threshold.setToolTip(
            "A head is a specialist from the step after which its value stays at or above this "
            "threshold."
        )
        self.log_steps = QPushButton("Log steps")
        self.log_steps.setCheckable(True)
        self.log_steps.setChecked(True)
        self.log_steps.setAccessibleName("Log steps")
        self.log_steps.setToolTip("Show steps on a logarithmic axis, as they were recorded.")
        self.about = QLabel()
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_role(self.about, "soft")
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        for control in (self.statistic, self.threshold, self.log_steps):
            set_height(control, 7 * GRID)
            row.addWidget(control)
        row.addWidget(self.about, 1)
        self.chart = LinePlot("Statistic of the selected heads by step")
        self.heads = QListWidget()
        self.heads.setAccessibleName("Heads, earliest specialists first")
        self.heads.setFrameShape(QListWidget.Shape.NoFrame)
        self.heads.setFixedWidth(_LIST_WIDTH)
        below = QHBoxLayout()
        self.missing = QLabel()
        self.missing.setTextFormat(Qt.TextFormat.PlainText)
        self.missing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.missing.setWordWrap(True)
        set_role(self.missing, "soft")
        self._charts = QStackedWidget()
        self._charts.addWidget(self.chart)
        self._charts.addWidget(self.missing)
        below.addWidget(self._charts, 1)
        below.addWidget(self.heads)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(row)
        column.addLayout(below, 1)

        self.statistic.activated.connect(self._on_chosen)
        self.statistic.currentIndexChanged.connect(self._on_statistic)
        self.threshold.valueChanged.connect(self.refresh)
        self.log_steps.toggled.connect(self.refresh)
        self.heads.itemClicked.connect(self._select)
        self.heads.itemActivated.connect(self._select)
        self.chart.stepChosen.connect(self.stepChosen)
        session.selectionChanged.connect(self.refresh)

    def show_log(self, log: ProbeLog, step: int | None) -> None:
        """Show the log; `step`, what the replay shows now, is marked."""
        self._log, self._step = log, step
        if log.pairs and not self._chosen:  # what heads are watched for
            self.statistic.setCurrentIndex(self.statistic.findData(ANTECEDENT.id))
        self.refresh()

    def apply_theme(self, theme: Theme) -> None:
        self.chart.apply_theme(theme)
        self.heads.setStyleSheet(list_style(theme))
        dress_spin_box(self.threshold, theme)

    def _on_chosen(self) -> None:
        self._chosen = True

    def _on_statistic(self) -> None:
        self.chart.fit()
        self.refresh()

    def refresh(self, *_changed: object) -> None:
        log = self._log
        if log is None or not self.isVisible():
            return
        statistic, threshold = CURVES[self.statistic.currentIndex()], self.threshold.value()
        ranks = [] if statistic is PRONOUN else ranked(log, statistic, threshold)
        heads = [head for head in self._session.selection.heads if head in log.heads]
        self.standing_in = ranks[0].head if ranks and not heads else None
        shown = heads or [rank.head for rank in ranks[:1]]
        marks = [Mark(threshold, f"{threshold:g}", upright=False)] if statistic.is_share else []
        if self._step is not None:
            marks.append(Mark(self._step, "shown", upright=True))
        scale = AxisScale.LOG_STEP if self.log_steps.isChecked() else AxisScale.LINEAR
        self.threshold.setEnabled(statistic.is_share)
        lines = _lines(log, statistic, shown)
        self.chart.show_plot(
            Plot(
                tuple(lines),
                marks=tuple(marks),
                x_title="step",
                y_title=statistic.unit or "share (0–1)",
                x_scale=scale,
                y_range=(0.0, 1.0) if statistic.is_share else None,
            )
        )
        sentence = self._sentence(log, statistic, shown, threshold)
        self.missing.setText("" if lines else sentence)
        self._charts.setCurrentIndex(0 if lines else 1)
        self.about.setText(sentence if lines else "")
        self.about.setToolTip(plain_tooltip(f"{sentence}\n{explained(explanation(statistic))}"))
        self._list(ranks)

    def _sentence(
        self, log: ProbeLog, statistic: Statistic, shown: list[Head], threshold: float
    ) -> str:
        if statistic in (PRONOUN, ANTECEDENT) and not log.pairs:
            return "This is measured only for runs that train on the generated corpus."
        if statistic is PRONOUN:
            return ""
        if not shown:
            return "This statistic does not exist for any head of this run."
        selected = self._session.selection.primary
        sentence = since_in_words(
            log, selected if selected in shown else shown[0], statistic, threshold
        )
        return f"Best head: {sentence}" if self.standing_in is not None else sentence

    def _list(self, ranks: list[Rank]) -> None:
        if ranks != self._ranks:
            self._ranks = ranks
            self.heads.setVisible(bool(ranks))
            self.heads.clear()
            for rank in ranks:
                since = "" if rank.since is None else f" from {rank.since:,}"
                text = f"{head_label(rank.head)}{since} · now {rank.value:.2f}"
                self.heads.addItem(text)
        current = self.standing_in or self._session.selection.primary
        rows = [row for row, rank in enumerate(ranks) if rank.head == current]
        self.heads.setCurrentRow(rows[0] if rows else -1)

    def _select(self, item: QListWidgetItem) -> None:
        head = self._ranks[self.heads.row(item)].head
        self._session.select(kind=head.kind, layer=head.layer, head=head.head)


def _lines(log: ProbeLog, statistic: Statistic, heads: list[Head]) -> list[Line]:
    steps = log.steps.astype(float)
    if statistic in (PRONOUN, ANTECEDENT) and not log.pairs:
        return []
    if statistic is PRONOUN:
        return [Line(steps, log.pronoun, statistic.name, 0, dots=True)]
    return [
        Line(steps, log.series(head, statistic.id), head_label(head), slot, dots=True)
        for head, slot in zip(heads, color_slots(heads), strict=True)
    ]
