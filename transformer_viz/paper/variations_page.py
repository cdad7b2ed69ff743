"""Table 3 of the paper: what changes when one part of the base model does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QPushButton

from core.errors import UserError
from core.files import is_file
from core.paper.scaled import BEYOND
from core.paper.study import Finding, Study, agreement, agreement_in_words, base_of
from core.paper.variations import FINDINGS, VARIATIONS
from core.presets import preset
from core.training.estimate import parameter_count
from transformer_viz.drawing.lines import Line, Name, Plot, Side
from transformer_viz.drawing.theme import GRID
from transformer_viz.state.explorer import Explorer
from transformer_viz.widgets.line_plot import LinePlot
from transformer_viz.widgets.result_page import ResultPage
from transformer_viz.widgets.result_table import ResultTable, Row
from transformer_viz.widgets.text_size import set_height

_GROUPS = {
    "": "base and big",
    "A": "A: heads",
    "B": "B: width of keys",
    "C": "C: size",
    "D": "D: dropout and smoothing",
    "E": "E: positions",
}
# The points that are named; the others lie too close together.
_NAMED = {
    "base": Side.ABOVE,
    "big": Side.RIGHT,
    "a-heads-1": Side.RIGHT,
    "c-layers-2": Side.LEFT,
    "c-d_model-256": Side.BELOW,
    "c-d_model-1024": Side.BELOW,
    "c-d_ff-4096": Side.RIGHT,
    "d-dropout-0.0": Side.ABOVE,
    "d-smoothing-0.0": Side.BELOW,
    "d-smoothing-0.2": Side.RIGHT,
}
_HEADS = ("Change", "parameters", "paper", "PPL", "BLEU")
_HERE = ("PPL here", "BLEU here", "direction")
_POLL = 5_000  # ms
_CAPTION = (
    "BLEU and perplexity per word piece on newstest2013, English to German, without averaged "
    "checkpoints. A lower perplexity mostly comes with a higher BLEU. Label smoothing is the "
    "exception: without it, perplexity is better and BLEU worse. Parameters are exact for 37,000 "
    "pieces; the paper's fit about 41,000."
)


class VariationsPlot(LinePlot):
    """Names the rows that are read off."""

    def describe_at(self, x: float) -> str:
        return "; ".join(
            f"{one.change}: perplexity {one.perplexity:.2f}, BLEU {one.bleu:.1f}"
            for one in VARIATIONS
            if one.perplexity == x
        )


class VariationsPage(ResultPage):
    """BLEU against perplexity, and the table with exact numbers of parameters; beside the paper's
    those of small counterparts, which `transformer-viz variations --run` trains."""

    title = "Variations of the base model: the paper's Table 3"

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(
            VariationsPlot("BLEU by perplexity", of="perplexity"), ResultTable("Table 3")
        )
        self._explorer = explorer
        self._study: Study | None = None
        self.choose = QPushButton("Small counterparts…")
        self.choose.setToolTip(
            "Show runs of “transformer-viz variations --run OUT” beside the paper's: choose OUT"
        )
        self.open_model = QPushButton("Open the row's model")
        self.open_model.setToolTip("Open the first finished run of this row in the window")
        self.hide_own = QPushButton("Hide")
        self.hide_own.setToolTip("Show the paper's table alone")
        self.hide_own.setAccessibleName("Hide small counterparts")
        self._problem = ""
        for button in (self.choose, self.open_model, self.hide_own):
            set_height(button, 7 * GRID)
            self.bar.addWidget(button)
        self._timer = QTimer(self, interval=_POLL)
        self._timer.timeout.connect(self.refresh)
        self.choose.clicked.connect(self._choose)
        self.open_model.clicked.connect(self._open_model)
        self.hide_own.clicked.connect(lambda: self.show_study(""))
        self.table.chosen.connect(self._enable)
        self._follow(explorer.settings.variations)

    def show_study(self, folder: str) -> None:
        """Show the runs of a folder beside the paper's rows, and remember it; "" for none."""
        self._explorer.change_settings(variations=folder)
        self._follow(folder)
        self.refresh()

    def refresh(self) -> None:
        findings: list[Finding] = []
        if self._study is not None:
            try:
                findings = self._study.findings()
            except UserError as error:
                self._problem = f"⚠ {error} "
        self.caption.setText(self._problem + _caption(self._study, findings))
        self.plot.show_plot(variations_plot())
        rows = tuple(_rows(findings, shown=self._study is not None))
        if rows != self.table.rows:
            self.table.show_rows(rows)
        self._enable()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def _follow(self, folder: str) -> None:
        self._study, self._problem = None, ""
        if folder:
            try:
                self._study = Study.open(Path(folder))
            except UserError as error:
                self._problem = f"⚠ {error} "

    def _choose(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Small counterparts of Table 3", "")
        if folder:
            self.show_study(folder)

    def _model(self) -> Path | None:
        """The first finished model of the current row."""
        study, rows = self._study, self.table.rows
        name = rows[self.table.current].cells[-1] if rows else ""
        if study is None or name not in study.plan.rows:
            return None
        seeds = range(1, study.plan.seeds + 1)
        models = (study.model_path(name, seed) for seed in seeds)
        return next((model for model in models if is_file(model)), None)

    def _open_model(self) -> None:
        model = self._model()
        if model is not None:
            self._explorer.open(model)

    def _enable(self) -> None:
        for button in (self.open_model, self.hide_own):
            button.setVisible(self._study is not None)
        self.open_model.setEnabled(self._model() is not None)


def variations_plot() -> Plot:
    """Return a point for each row, in the colour of its group."""
    lines = []
    for number, (group, name) in enumerate(_GROUPS.items()):
        points = sorted((one.perplexity, one.bleu) for one in VARIATIONS if one.group == group)
        x, y = np.array(points, dtype=float).T
        lines.append(Line(x, y, name, number if group else "ink", dots=True, scattered=True))
    names = [
        Name(one.perplexity, one.bleu, _short(one.change), _NAMED[one.preset])
        for one in VARIATIONS
        if one.preset in _NAMED
    ]
    return Plot(
        tuple(lines),
        x_title="perplexity of a word piece",
        y_title="BLEU on newstest2013",
        x_range=(4.25, 6.2),
        names=tuple(names),
        whole=False,
    )


def _short(change: str) -> str:
    """The first part of what changes."""
    return change.split(",")[0].split(":")[0]


def _caption(study: Study | None, findings: Sequence[Finding]) -> str:
    if study is None:
        return _CAPTION
    total = len(list(study.plan.runs()))
    done = sum(len(one.outcomes) for one in findings)
    return (
        f"{_CAPTION} Here: small counterparts, {done} of {total} runs finished, scored on their "
        f"validation sentences. {agreement_in_words(agreement(findings))}"
    )


def _rows(findings: Sequence[Finding], *, shown: bool) -> Iterator[Row]:
    own = {one.row: one for one in findings}
    base = base_of(findings)
    here = _HERE if shown else ()
    yield Row((*_HEADS, *here, "preset"), head=True)
    for group, rows in groupby(VARIATIONS, lambda one: one.group):
        for one in rows:
            count = parameter_count(preset(one.preset).model)
            name = f"({one.group}) {one.change}" if one.group else one.change
            printed = "" if one.millions is None else f"{one.millions} M"
            cells = (name, f"{count:,}", printed, f"{one.perplexity:.2f}", f"{one.bleu:.1f}")
            found = _here(own.get(one.preset), base) if shown else ()
            yield Row((*cells, *found, one.preset), strong=not one.group, place=one.perplexity)
        if group:
            yield Row((f"({group}) {FINDINGS[group]}",))
    if shown:
        yield Row(("The paper lacks:",))
        for row, (change, _) in BEYOND.items():
            yield Row((change, "", "", "", "", *_here(own.get(row), base), row))


def _here(one: Finding | None, base: Finding | None) -> tuple[str, ...]:
    """The cells of a small counterpart: its scores, those of BLEU with the range of the seeds."""
    if one is None:
        return ("", "", "")
    low, high = one.bleu_ends
    spread = f" ({low:.1f}–{high:.1f})" if len(one.outcomes) > 1 else ""
    return f"{one.perplexity:.2f}", f"{one.bleu:.1f}{spread}", one.verdict(base)
