"""The effect of the gates on a sample: being measured, measured, or not."""

from collections.abc import Iterator, Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from core.heads import Head
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID
from transformer_viz.gates.gate_effect import Effect, GateEffect, Sample
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.flow_layout import FlowLayout
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel
from transformer_viz.words.statistics import head_label
from transformer_viz.words.wording import plain_tooltip

_STEPS = 1000
_MOST_LISTED = 2


class EffectLine(QWidget):
    """Shows the measured effect; takes no room while there is nothing to show."""

    def __init__(self, effect: GateEffect, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._effect = effect
        self.setAccessibleName("Effect on a sample")
        self.running = QWidget()
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(2 * GRID)
        self.bar.setAccessibleName("Progress of measuring the effect")
        self.cancel = QPushButton("Cancel")
        self.cancel.setAccessibleName("Cancel measuring the effect")
        self.cancel.clicked.connect(effect.cancel)
        self.problem = ElidedLabel("error")
        self.figures = QWidget()
        self._flow = FlowLayout(self.figures, 5 * GRID, between_lines=GRID)
        row = QHBoxLayout(self.running)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(3 * GRID)
        self.told = PlainLabel()
        set_role(self.told, "soft")
        row.addWidget(self.told)
        row.addWidget(self.bar, 1)
        row.addWidget(self.cancel)
        stack = QHBoxLayout(self)
        stack.setContentsMargins(0, 0, 0, 0)
        for part in (self.running, self.problem, self.figures):
            stack.addWidget(part)
        effect.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        effect = self._effect
        self.running.setVisible(effect.running)
        self.problem.setVisible(bool(effect.problem) and not effect.running)
        self.figures.setVisible(effect.effect is not None and not effect.running)
        self.setVisible(effect.running or bool(effect.problem) or effect.effect is not None)
        sample = effect.sample
        self.told.setText(f"Measuring the effect on {sample.sentences:,} {sample.name}…")
        self.bar.setValue(round(_STEPS * effect.share))
        self.problem.setText(effect.problem)
        if effect.effect is not None:
            self._show(effect.effect, effect.sample)

    def _show(self, effect: Effect, sample: Sample) -> None:
        while (item := self._flow.takeAt(0)) is not None:
            figure = item.widget()
            assert figure is not None
            figure.deleteLater()
        for line in effect_figures(effect, sample):
            self._flow.addWidget(_figure(*line))
        self.figures.updateGeometry()


def effect_figures(effect: Effect, sample: Sample) -> Iterator[tuple[str, str, str]]:
    """Return (name, before → after, what it is) of every figure."""
    before, after = effect.before, effect.after
    yield (
        f"on {effect.sentences:,} {sample.name}",
        f"{effect.changed:.0f}% changed",
        "Share of sentences that are translated differently than with all heads on. The other "
        "figures read: all heads on → now",
    )
    yield (
        "loss",
        f"{signed(before.loss, 4)} → {signed(after.loss, 4)}",
        "Mean cross-entropy per reference token, in nats; lower is better",
    )
    yield (
        "BLEU",
        f"{before.bleu:.1f} → {after.bleu:.1f}",
        "Overlap of the translations with the references, 0 to 100",
    )
    yield (
        "exact",
        f"{before.exact:.0f} → {after.exact:.0f}%",
        "Share of translations that equal the reference character by character",
    )
    if before.pronoun is not None and after.pronoun is not None:
        yield (
            "“it” right",
            f"{before.pronoun:.0f} → {after.pronoun:.0f}%",
            "Share of minimal pairs in which the model chooses the right pronoun for “it” in "
            "both sentences",
        )
    yield "importance", _listed(effect.importance), _IMPORTANCE


_IMPORTANCE = (
    "How strongly the loss depends on each of these heads while all heads are on: mean of "
    "|∂loss/∂gate| (Michel et al. 2019, section 4.1), in nats per token. It estimates the effect "
    "of switching a head off by the gradient; the loss on the left is the measured effect"
)


def _listed(importance: Mapping[Head, float]) -> str:
    """Of some heads, the most important ones first."""
    falling = sorted(importance.items(), key=lambda one: -one[1])
    numbers = [f"{head_label(head)}: {signed(value, 4)}" for head, value in falling[:_MOST_LISTED]]
    more = len(falling) - len(numbers)
    return ", ".join(numbers) + (f", {more} more" if more else "")


def _figure(name: str, value: str, meaning: str) -> QWidget:
    figure = QWidget()
    row = QHBoxLayout(figure)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(2 * GRID)
    for text, role in ((name, "soft"), (value, "")):
        label = QLabel(text)
        label.setTextFormat(Qt.TextFormat.PlainText)
        if role:
            set_role(label, role)
        row.addWidget(label)
    figure.setToolTip(plain_tooltip(meaning))
    figure.setAccessibleName(f"{name} {value}")
    figure.setAccessibleDescription(meaning)
    return figure
