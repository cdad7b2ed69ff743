"""The recipe of sections 5.1 to 5.4, for any preset and for the model that is open."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtWidgets import QButtonGroup, QComboBox, QPushButton

from core.errors import UserError
from core.paper.recipe import least_loss, perplexity_there, rate_at, smoothed_target
from core.presets import DESCRIPTIONS, PRESETS, base, preset
from core.training.config import RunConfig
from transformer_viz.drawing.lines import Floats, Line, Mark, Plot
from transformer_viz.drawing.numbers import compact, position
from transformer_viz.drawing.theme import GRID
from transformer_viz.state.session import ModelInfo, Session
from transformer_viz.widgets.line_plot import LinePlot
from transformer_viz.widgets.result_page import ResultPage
from transformer_viz.widgets.result_table import ResultTable, Row
from transformer_viz.widgets.text_size import set_height

RATE, SMOOTHING = range(2)
_PLOTS = {
    RATE: ("Learning rate", "The learning rate of each update (section 5.3)"),
    SMOOTHING: ("Label smoothing", "The lowest loss that label smoothing leaves (section 5.4)"),
}
_CAPTIONS = {
    RATE: "The rate rises linearly through the warm-up, then falls as 1 / √update (equation 3).",
    SMOOTHING: "With smoothing ε, the right one of V pieces is to get 1 − ε + ε / V, and every "
    "other ε / V. No loss is lower than the entropy of that, and a model that reaches it is unsure "
    "of every word: the paper says that perplexity suffers and BLEU gains.",
}
_COOLDOWN = " The cool-down at the end, a linear fall to zero, is not the paper's."
_POINTS = 400
_MOST_SMOOTHING = 0.4


class RecipePlot(LinePlot):
    """Says updates as counts, and label smoothing as a number."""

    def name_of(self, x: float) -> str:
        return f"{self.plot.x_title} {position(x) if self.plot.whole else compact(x)}"


class RecipePage(ResultPage):
    """The curves and the numbers of a preset, beside the paper's base model."""

    title = "Training recipe: sections 5.1 to 5.4"

    def __init__(self, session: Session) -> None:
        super().__init__(RecipePlot("Learning rate or loss"), ResultTable("Training recipe"))
        self._session = session
        self.choice = QComboBox()
        self.choice.setAccessibleName("Recipe of")
        self.choice.view().setAccessibleName("Recipe of")
        for name in PRESETS:
            self.choice.addItem(name, name)
        self.choice.setCurrentText("base")
        set_height(self.choice, 7 * GRID)
        self.bar.addWidget(self.choice)
        self.plots = QButtonGroup(self)
        for number, (text, tip) in _PLOTS.items():
            button = QPushButton(text)
            button.setCheckable(True)
            button.setToolTip(tip)
            set_height(button, 7 * GRID)
            self.plots.addButton(button, number)
            self.bar.addWidget(button)
        self.plots.button(RATE).setChecked(True)
        self.plots.idClicked.connect(lambda _number: self._show())
        self.choice.currentIndexChanged.connect(lambda _index: self._show())

    def refresh(self) -> None:
        self._offer_the_open_model()
        self._show()

    @property
    def config(self) -> RunConfig:
        """The configuration that is shown."""
        name = self.choice.currentData()
        own = own_recipe(self._session.model)
        return own if name is None and own is not None else preset(name or "base")

    def _offer_the_open_model(self) -> None:
        """List it last, where it says how it was trained."""
        model, count = self._session.model, len(PRESETS)
        self.choice.blockSignals(True)
        named = own_recipe(model) is not None
        if self.choice.count() > count and not named:
            self.choice.removeItem(count)
        elif named and model is not None:
            if self.choice.count() == count:
                self.choice.addItem("", None)
            self.choice.setItemText(count, f"{model.name}, open")
        self.choice.blockSignals(False)

    def _show(self) -> None:
        config, which = self.config, self.plots.checkedId()
        about = DESCRIPTIONS.get(self.choice.currentData() or "", "")
        said = _CAPTIONS[which]
        if which == RATE and config.training.cooldown:
            said += _COOLDOWN
        self.caption.setText(f"{about}. {said}" if about else said)
        self.plot.show_plot(rate_plot(config) if which == RATE else smoothing_plot(config))
        self.plot.fit()
        self.table.show_rows(list(_rows(config)))


def own_recipe(model: ModelInfo | None) -> RunConfig | None:
    """Return how the open model was trained; None where it does not say, or in another way."""
    if model is None or model.config is None or not model.provenance.get("training"):
        return None
    try:
        values = {
            "model": model.config.to_dict(),
            "training": dict(model.provenance["training"]),
        }
        return RunConfig.from_dict(values)
    except (UserError, TypeError, ValueError):
        return None


def rate_plot(config: RunConfig) -> Plot:
    """Return the learning rate over all updates, the base model's dashed beside it."""
    steps, paper = config.training.steps, base()
    updates = np.unique(np.linspace(1, steps, min(steps, _POINTS)).round())
    warmup = min(config.training.warmup, steps)
    updates = np.union1d(updates, [warmup])
    marks = [Mark(float(warmup), "end of the warm-up", True)]
    if config.training.cooldown:
        marks.append(Mark(steps * (1 - config.training.cooldown), "cool-down", True))
    lines = [Line(updates, _rates(config, updates), "learning rate", "accent")]
    if config.training.to_dict() != paper.training.to_dict() or config.model != paper.model:
        lines.append(Line(updates, _rates(paper, updates), "base", "soft", dashed=True))
    return Plot(tuple(lines), tuple(marks), x_title="update", y_title="learning rate")


def _rates(config: RunConfig, updates: Floats) -> Floats:
    endless = config.training.steps if config.training.cooldown else 0
    return np.array(
        [
            rate_at(config, int(update)) if not endless or update <= endless else np.nan
            for update in updates
        ]
    )


def smoothing_plot(config: RunConfig) -> Plot:
    """Return the lowest loss by ε, and the loss without smoothing that goes with it."""
    pieces = config.model.target_vocabulary
    smoothings = np.linspace(0, _MOST_SMOOTHING, 81)
    least = np.array([least_loss(float(one), pieces) for one in smoothings])
    there = np.log([perplexity_there(float(one), pieces) for one in smoothings])
    mark = Mark(config.training.label_smoothing, "ε of this recipe", True)
    return Plot(
        (
            Line(smoothings, least, "lowest smoothed loss", "accent"),
            Line(smoothings, there, "loss without smoothing there", "warning"),
        ),
        (mark,),
        x_title="label smoothing ε",
        y_title="nats of a token",
        whole=False,
    )


def _rows(config: RunConfig) -> Iterator[Row]:
    yield Row(("Section", "setting", "here", "base"), head=True)
    for ours, papers in zip(_settings(config), _settings(base()), strict=True):
        section, name, value = ours
        yield Row((section, name, value, papers[2]), strong=value != papers[2])


def _settings(config: RunConfig) -> Iterator[tuple[str, str, str]]:
    training, pieces = config.training, config.model.target_vocabulary
    batches = training.accumulation
    right, each = smoothed_target(training.label_smoothing, pieces)
    peak = rate_at(config, max(1, min(training.warmup, training.steps)))
    apart = training.checkpoint_every
    yield "5.1", "source tokens of an update", f"{training.source_batch_tokens * batches:,}"
    yield "5.1", "target tokens of an update", f"{training.target_batch_tokens * batches:,}"
    yield "5.1", "pieces of the vocabulary", f"{pieces:,}"
    yield "5.2", "updates", f"{training.steps:,}"
    yield "5.3", "Adam β₁, β₂, ε", _adam(config)
    yield "5.3", "updates of warm-up", f"{training.warmup:,}"
    yield "5.3", "highest learning rate", compact(float(f"{peak:.3g}"))
    yield "5.4", "dropout", f"{config.model.dropout:g}"
    yield "5.4", "label smoothing ε", f"{training.label_smoothing:g}"
    yield "5.4", "probability that the right piece is to get", f"{right:.4f}"
    yield "5.4", "and each other piece", compact(float(f"{each:.2g}"))
    least = least_loss(training.label_smoothing, pieces)
    yield "5.4", "lowest smoothed loss, nats of a token", f"{least:.3f}"
    yield "5.4", "perplexity there", f"{perplexity_there(training.label_smoothing, pieces):.3f}"
    last = f"last {training.average_last}, {apart:,} updates apart"
    yield "6.1", "averaged checkpoints", last if training.average_last > 1 else "none"


def _adam(config: RunConfig) -> str:
    training = config.training
    epsilon = compact(training.adam_epsilon)
    return f"{training.adam_beta1:g}, {training.adam_beta2:g}, {epsilon}"
