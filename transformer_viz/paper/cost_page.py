"""Table 2 of the paper: BLEU against the cost of training."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtWidgets import QButtonGroup, QPushButton

from core.errors import UserError
from core.paper.systems import CONTRADICTION, PROSE_BLEU_FR, SYSTEMS, System
from core.paper.training_cost import (
    PAPER_BATCH,
    PAPER_TIMES,
    SUSTAINED,
    paper_training,
    training_flops,
    training_of,
)
from core.presets import preset
from transformer_viz.drawing.axis import AxisScale
from transformer_viz.drawing.lines import Line, Mark, Name, Plot, Side
from transformer_viz.drawing.numbers import compact
from transformer_viz.state.session import ModelInfo, Session
from transformer_viz.widgets.line_plot import LinePlot
from transformer_viz.widgets.result_page import ResultPage
from transformer_viz.widgets.result_table import ResultTable, Row

GERMAN, FRENCH = range(2)
_PAIRS = {
    GERMAN: ("English → German", "Show the systems from English to German"),
    FRENCH: ("English → French", "Show the systems from English to French"),
}
_ENDS = {GERMAN: (2e18, 8e20), FRENCH: (2e18, 6e21)}  # of the x axis, operations
# Where a name does not stand right of its point.
_SIDES = {
    GERMAN: {
        "MoE": Side.ABOVE,
        "Transformer big": Side.LEFT,
        "GNMT + RL ensemble": Side.BELOW,
        "ConvS2S ensemble": Side.ABOVE,
    },
    FRENCH: {
        "MoE": Side.LEFT,
        "Transformer big": Side.LEFT,
        "GNMT + RL ensemble": Side.BELOW,
        "ConvS2S ensemble": Side.ABOVE,
        "Deep-Att + PosUnk ensemble": Side.BELOW,
    },
}
_LOOKS = (  # name, colour, of ensembles, of the paper's own
    ("other models", "soft", False, False),
    ("ensembles", "warning", True, False),
    ("the Transformer", "accent", False, True),
)
_HEADS = ("System", "BLEU en–de", "BLEU en–fr", "operations en–de", "operations en–fr")
_COST_HEADS = ("Training", "estimated", "counted", "factor")


class CostPlot(LinePlot):
    """Names the systems that are read off."""

    def name_of(self, x: float) -> str:
        names = [name.text for name in self.plot.names if name.x == x]
        return f"{', '.join(names)}, {compact(x)} operations"

    def describe_at(self, x: float) -> str:
        values = [
            compact(float(y)) for line in self.lines for y in line.y[line.x == x] if np.isfinite(y)
        ]
        return f"{self.name_of(x)}: BLEU {', '.join(values)}"


class CostPage(ResultPage):
    """The chart of either language pair, and below it the whole table and what it rests on."""

    title = "Quality and cost: the paper's Table 2"

    def __init__(self, session: Session) -> None:
        super().__init__(
            CostPlot("BLEU by operations of training"), ResultTable("Table 2 and costs of training")
        )
        self._session = session
        self.pairs = QButtonGroup(self)
        for number, (text, tip) in _PAIRS.items():
            button = QPushButton(text)
            button.setCheckable(True)
            button.setToolTip(tip)
            self.pairs.addButton(button, number)
            self.bar.addWidget(button)
        self.pairs.button(GERMAN).setChecked(True)
        self.pairs.idClicked.connect(lambda _pair: self.refresh())

    @property
    def pair(self) -> int:
        """The language pair of the chart."""
        return self.pairs.checkedId()

    def refresh(self) -> None:
        own = own_cost(self._session.model)
        self.caption.setText(_caption(self.pair, own))
        self.plot.show_plot(cost_plot(self.pair, own))
        self.table.show_rows([*_systems(self.pair), *_trainings(own)])


def own_cost(model: ModelInfo | None) -> tuple[str, float] | None:
    """Return the name of the open model and the operations of its training; None where it does not
    say how it was trained, or went on from another model, whose training is not known in full."""
    if model is None or model.config is None:
        return None
    settings, step = model.provenance.get("training"), model.provenance.get("step")
    if not settings or not step or "started_from" in model.provenance:
        return None
    try:
        training = training_of(dict(settings) | {"steps": step})
    except UserError:
        return None
    return model.name, training_flops(model.config, training)


def cost_plot(pair: int, own: tuple[str, float] | None) -> Plot:
    """Return the chart of a pair, and a mark at the cost of the open model."""
    there = [(one, *found) for one in SYSTEMS if (found := _point(one, pair)) is not None]
    there.sort(key=lambda point: point[1])
    lines = [
        _scattered(
            label,
            color,
            [(x, y) for one, x, y in there if (one.ensemble, one.ours) == (ensemble, ours)],
        )
        for label, color, ensemble, ours in _LOOKS
    ]
    names = [
        Name(x, y, one.name, _SIDES[pair].get(one.name, Side.RIGHT), "ink" if one.ours else "soft")
        for one, x, y in there
    ]
    if pair == FRENCH:
        big = SYSTEMS[-1].flops_fr or 0.0
        lines.append(_scattered("BLEU of section 6.1", "error", [(big, PROSE_BLEU_FR)]))
        names.append(Name(big, PROSE_BLEU_FR, f"{PROSE_BLEU_FR} in section 6.1", Side.LEFT))
    first, last = _ENDS[pair]
    marks: tuple[Mark, ...] = ()
    if own is not None and own[1] > 0:
        first, last = min(first, own[1] / 3), max(last, own[1] * 3)
        marks = (Mark(own[1], own[0], True),)
    return Plot(
        tuple(lines),
        marks,
        x_title="floating-point operations of training",
        y_title="BLEU on newstest2014",
        x_scale=AxisScale.LOG,
        x_range=(first, last),
        names=tuple(names),
        whole=False,
    )


def _scattered(label: str, color: str, points: list[tuple[float, float]]) -> Line:
    x, y = np.array(points, dtype=float).reshape(-1, 2).T
    return Line(x, y, label, color, dots=True, scattered=True)


def _point(system: System, pair: int) -> tuple[float, float] | None:
    flops = system.flops_fr if pair == FRENCH else system.flops_de
    bleu = system.bleu_fr if pair == FRENCH else system.bleu_de
    return None if flops is None or bleu is None else (flops, bleu)


def _caption(pair: int, own: tuple[str, float] | None) -> str:
    said = [
        "The paper estimates operations as training time · GPUs · a GPU's sustained rate: what the "
        "GPUs could have done in the time. Counted are 6 operations for each multiply-add of the "
        "forward passes, which is what the model needs."
    ]
    if pair == FRENCH:
        said.append(CONTRADICTION)
    if own is not None:
        said.append(
            f"{own[0]}, dashed, has no BLEU on newstest2014, so that it has a cost here and no "
            "height."
        )
    return " ".join(said)


def _systems(pair: int) -> Iterator[Row]:
    yield Row(_HEADS, head=True)
    for one in SYSTEMS:
        point = _point(one, pair)
        disputed = one.bleu_fr is not None and one is SYSTEMS[-1]
        french = "" if one.bleu_fr is None else f"{one.bleu_fr:g}"
        yield Row(
            (
                one.name,
                "" if one.bleu_de is None else f"{one.bleu_de:g}",
                f"{french}, or {PROSE_BLEU_FR}" if disputed else french,
                "" if one.flops_de is None else compact(one.flops_de),
                "" if one.flops_fr is None else compact(one.flops_fr),
            ),
            strong=one.ours,
            place=None if point is None else point[0],
            about=CONTRADICTION if disputed else "",
        )


def _trainings(own: tuple[str, float] | None) -> Iterator[Row]:
    yield Row(_COST_HEADS, head=True)
    for name, time in PAPER_TIMES.items():
        counted = training_flops(preset(name).model, paper_training(name))
        yield Row(
            (
                name,
                _two_digits(time.flops),
                _two_digits(counted),
                f"{time.flops / counted:.1f}",
            ),
            about=f"{paper_training(name).updates:,} updates of {PAPER_BATCH.source_tokens:,.0f} "
            f"source and {PAPER_BATCH.target_tokens:,.0f} target tokens",
        )
    if own is not None:
        yield Row(
            (own[0], "", _two_digits(own[1]), ""),
            about="Every batch counted as full, in one process",
        )
    for name, time in PAPER_TIMES.items():
        yield Row(
            (
                f"{name}, estimated: {time.hours:g} h · 3,600 s · {time.gpus} {time.gpu} · "
                f"{compact(SUSTAINED[time.gpu])} operations a second",
            )
        )
    rates = ", ".join(f"{gpu} {rate / 1e12:g}" for gpu, rate in SUSTAINED.items())
    yield Row((f"Rates, 10¹² operations a second: {rates}",))


def _two_digits(number: float) -> str:
    return compact(float(f"{number:.1e}"))
