"""The effect of the gates on a sample: being measured, measured, or not."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from transformer_viz.drawing.numbers import signed
from transformer_viz.gate_effect import SENTENCES, Effect, GateEffect
from transformer_viz.theme import GRID, set_role
from transformer_viz.views.elided_label import ElidedLabel
from transformer_viz.views.flow_layout import FlowLayout
from transformer_viz.views.wording import plain_tooltip

_STEPS = 1000


class EffectLine(QWidget):
    """Takes no room while there is nothing to say."""

    def __init__(
        self, effect: GateEffect, importance: Callable[[], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._effect = effect
        self._importance = importance
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
        self._flow = FlowLayout(self.figures, 5 * GRID)
        row = QHBoxLayout(self.running)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(3 * GRID)
        told = QLabel(f"Translating {SENTENCES} test sentences, with all heads on and as now …")
        set_role(told, "soft")
        row.addWidget(told)
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
        self.bar.setValue(round(_STEPS * effect.share))
        self.problem.setText(effect.problem)
        if effect.effect is not None:
            self._show(effect.effect)

    def _show(self, effect: Effect) -> None:
        while (item := self._flow.takeAt(0)) is not None:
            figure = item.widget()
            assert figure is not None
            figure.deleteLater()
        lines = list(effect_figures(effect))
        importance = self._importance()
        if importance:
            lines.append(("importance", importance, _IMPORTANCE))
        for name, value, meaning in lines:
            self._flow.addWidget(_figure(name, value, meaning))
        self.figures.updateGeometry()


_IMPORTANCE = (
    "E |Att_h · ∂L/∂Att_h| of the heads that are gated (Michel et al. 2019, section 4.1), from the "
    "Heads panel: what the gradient expects, before anything is switched off"
)


def effect_figures(effect: Effect) -> Iterator[tuple[str, str, str]]:
    """(name, before → after, what it is) of every figure."""
    before, after = effect.before, effect.after
    yield (
        f"on {effect.sentences} test sentences",
        f"{effect.changed:.0f} % translated otherwise",
        "Generated test sentences whose translation became another text. The figures beside it: "
        "with all heads on → now",
    )
    yield (
        "loss",
        f"{signed(before.loss, 3)} → {signed(after.loss, 3)}",
        "Mean cross-entropy of a token of the references, nats; more is worse",
    )
    yield (
        "BLEU",
        f"{before.bleu:.1f} → {after.bleu:.1f}",
        "How much of the references stands in the translations, 0 to 100",
    )
    yield (
        "as the reference",
        f"{before.exact:.0f} → {after.exact:.0f} %",
        "Translations that are the reference, to the character",
    )
    if before.pronoun is not None and after.pronoun is not None:
        yield (
            "“it” right",
            f"{before.pronoun:.0f} → {after.pronoun:.0f} %",
            "Minimal pairs in which the model puts the right pronoun for “it” in both sentences",
        )


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
