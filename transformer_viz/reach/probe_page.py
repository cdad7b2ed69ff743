"""How well the model and its heads do, the farther apart two words are that belong together."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.analysis.interval import wilson_interval
from core.counted import counted
from core.trace.trace import Head
from transformer_viz.drawing.heading import Heading
from transformer_viz.drawing.lines import Line
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.reach.distance_probe import DistanceProbe
from transformer_viz.reach.distance_report import Relation
from transformer_viz.reach.probe_curves import Distances, ProbeCurves, share_line
from transformer_viz.reach.probe_heads import ProbeHeads
from transformer_viz.state.session import Session
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.text_line import label
from transformer_viz.widgets.text_size import set_height
from transformer_viz.words.titles import TITLES
from transformer_viz.words.training_wording import duration
from transformer_viz.words.wording import head_numbers

_STEPS = 1000
_RELATIONS = {
    "coreference": "“it” and its antecedent",
    "possessive": "possessive and owner",
    "subject": "verb and subject",
    "particle": "particle and verb",
    "perfect": "participle and “haben”",
    "future": "infinitive and “werden”",
    "modal": "infinitive and modal verb",
    "passive": "participle and “werden”",
    "subordinate": "last verb and conjunction",
}
_NOTHING = (
    "How far does {} reach?",
    "0–32 words are inserted between two words that belong together, in English and German "
    "sentences of the generated corpus. The test is whether the model still predicts the later "
    "word and which heads still find the other. It runs in the background, for about a minute "
    "with a small model; the first curve appears within seconds.",
)
_NO_MODEL = ("No model is open", "Open a model to measure how far it and its heads reach.")
_LOW = 0.5  # of the sentences, without inserted words


class ProbePage(QWidget):
    def __init__(self, session: Session, probe: DistanceProbe) -> None:
        super().__init__()
        self._session = session
        self._probe = probe
        self.relation = QComboBox()
        for named in (self.relation, self.relation.view()):
            named.setAccessibleName("Dependency")
        self.measure = QPushButton("Measure")
        self.measure.setToolTip(
            "Run sentences with inserted words through the model in the background"
        )
        self.cancel = QPushButton("Cancel")
        self.cancel.setAccessibleName("Cancel measuring")
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setFixedSize(36 * GRID, 2 * GRID)
        self.bar.setAccessibleName("Progress of measuring")
        self.said = label("soft")
        self._problem = label("error", wrap=True)
        self.caption = label("soft", wrap=True)
        self.curves, self.heads = ProbeCurves(), ProbeHeads()
        self._placeholder = Placeholder()
        ignored = QSizePolicy.Policy.Ignored  # its text, at first without a width, is endless
        self._placeholder.setSizePolicy(ignored, ignored)
        self._build()
        self.measure.clicked.connect(probe.measure)
        self.cancel.clicked.connect(probe.cancel)
        self.relation.currentIndexChanged.connect(self._show_relation)
        self.heads.chosen.connect(self._choose)
        probe.changed.connect(self._follow)
        probe.stateChanged.connect(self._follow)
        session.selectionChanged.connect(self._show_relation)
        session.gatesChanged.connect(self._show_relation)
        for missing in (session.statusChanged, session.traceChanged):
            missing.connect(self._say_what_is_missing)
        session.originChanged.connect(self._show_relation)
        self._follow()

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        for widget in (self.relation, self.measure, self.bar):
            row.addWidget(widget)
        row.addWidget(self.said, 1)
        row.addWidget(self.cancel)
        for control in (self.relation, self.measure, self.cancel):
            set_height(control, 7 * GRID)
        header = QVBoxLayout()
        header.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        header.setSpacing(GRID)
        header.addLayout(row)
        header.addWidget(self._problem)
        header.addWidget(self.caption)
        result = QWidget()
        below = QVBoxLayout(result)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(GRID)
        below.addWidget(self.curves, 3)
        below.addWidget(self.heads, 2)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._placeholder)
        self._stack.addWidget(result)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(header)
        column.addWidget(self._stack, 1)

    def apply_theme(self, theme: Theme) -> None:
        for part in (self.curves, self.heads):
            part.apply_theme(theme)

    def focus_part(self) -> QWidget:
        if self.current is not None:
            return self.heads
        return self.cancel if self._probe.running is not None else self.measure

    @property
    def current(self) -> Relation | None:
        """What is shown."""
        report, index = self._probe.report, self.relation.currentIndex()
        return report.relations[index] if report is not None and index >= 0 else None

    # From the probe

    def _follow(self) -> None:
        probe = self._probe
        report, running = probe.report, probe.running
        names = [] if report is None else [one.name for one in report.relations]
        there = [self.relation.itemData(n) for n in range(self.relation.count())]
        self.relation.blockSignals(True)
        if names[: len(there)] != there:
            self.relation.clear()
            there = []
        for name in names[len(there) :]:
            self.relation.addItem(_RELATIONS.get(name, name), name)
        self.relation.blockSignals(False)
        self.relation.setVisible(report is not None)
        self.measure.setVisible(running is None)
        self.measure.setEnabled(probe.ready)
        self.measure.setText("Measure again" if report is not None else "Measure")
        self.bar.setVisible(running is not None)
        self.cancel.setVisible(running is not None)
        self.said.setText(self._left_out if running is None else self._progress_in_words())
        self._problem.setText(f"⚠ {probe.problem}")
        self._problem.setVisible(bool(probe.problem))
        self._say_what_is_missing()
        self._stack.setCurrentIndex(int(report is not None))
        self._show_relation()

    def _say_what_is_missing(self) -> None:
        session = self._session
        if session.model is not None:
            title, hint = _NOTHING
            self._placeholder.say(title.format(session.model.name), hint)
        elif session.trace is not None:
            self._placeholder.say(*_NO_MODEL)
        else:  # a model is on its way, or could not be read
            self._placeholder.show_status(session.status)

    @property
    def _left_out(self) -> str:
        """What was cancelled, in words."""
        report = self._probe.report
        if report is None or report.complete:
            return ""
        count = len(report.relations)
        return f"Cancelled after {count} {'dependency' if count == 1 else 'dependencies'}."

    def _progress_in_words(self) -> str:
        running, progress = self._probe.running, self._probe.progress
        assert running is not None
        self.bar.setRange(0, 0 if progress is None else _STEPS)
        if progress is None:
            return f"Reading {running.name}…"
        self.bar.setValue(round(progress.share * _STEPS))
        left = progress.seconds_left
        time = "" if left is None else f", {duration(left)} left"
        return f"{running.stem}: {progress.done:,} of {progress.total:,} sentences{time}"

    def _show_relation(self) -> None:
        relation, report = self.current, self._probe.report
        self.caption.setVisible(relation is not None)
        if relation is None or report is None:
            self.curves.show_curves(None)
            return
        selected = self._session.selection.primary
        gated = " Measured with all heads on." if self._session.gates else ""
        model, origin = self._session.model, self._session.origin
        whose = f" Measured on {model.name}." if model is not None and origin else ""
        trained = model is not None and "grammar" in model.provenance.get("data", ())
        unseen = " that are held out from training" if trained else ""
        self.caption.setText(
            f"{counted(relation.sentences, 'sentence')} of the generated corpus{unseen}. The "
            "model is right if, after the correct prefix, the later word is the most probable; "
            "a head is right "
            "if its largest weight is on the word that is needed. Bands: 95% "
            f"intervals.{gated}{whose}{_says_little(relation)}"
        )
        longest = relation.longest_trained if trained else None
        distances = Distances(report.pushed_in, relation.between, longest)
        self.curves.show_curves(distances, curves(relation, selected))
        self.heads.show_relation(relation, report.pushed_in, selected)

    # From the user

    def _choose(self, row: int) -> None:
        kind, layer, head = self.heads.heads[row]
        self._session.select(kind=kind, layer=layer, head=head)

    # For a file

    @property
    def has_picture(self) -> bool:
        return self.current is not None

    def export_size(self) -> QSize:
        size = self.curves.size()
        return size + QSize(0, self._heading.height(size.width()))

    def paint_export(self, painter: QPainter, width: int, theme: Theme) -> None:
        """Paint title, caption and curves, from the painter's origin."""
        self._heading.draw(painter, width, theme)
        painter.translate(0, self._heading.height(width))
        self.curves.paint(painter)

    @property
    def _heading(self) -> Heading:
        return Heading(self.relation.currentText(), self.caption.text(), self.font())


def _says_little(relation: Relation) -> str:
    right = relation.model[0]
    if right >= _LOW:
        return ""
    return (
        f" With no words inserted, the model is right in only {percent(right)}: it does not "
        "handle such English–German sentences well, so the curve says little about distance."
    )


def curves(relation: Relation, selected: Head) -> list[Line]:
    """Return the model, the selected head or else the best one, and what it has to beat."""

    def banded(name: str, values: tuple[float, ...], token: str) -> Line:
        band = [wilson_interval(value, relation.sentences) for value in values]
        return share_line(name, values, token, band=band)

    found = [banded("model right", relation.model, "ink")]
    if relation.both is not None:
        found.append(share_line("both in a pair right", relation.both, "soft"))
    head = selected if selected in relation.heads else next(iter(relation.ranked), None)
    if head is not None:
        name = f"{TITLES[head.kind]} {head_numbers(head)}"
        name = name if head == selected else f"best: {name}"
        found.append(banded(name, relation.heads[head], "accent"))
        found.append(
            share_line("fixed distance", relation.baseline[head.kind], "warning", dashed=True)
        )
    return found
