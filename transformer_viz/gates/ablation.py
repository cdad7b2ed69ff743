"""The model with a part switched off: its controls, and what becomes of every head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.heads import EVEN
from core.statistics.leaks import Leak, leaks
from core.statistics.rows import head_statistics
from core.switches import INTACT, Scaling, Switches
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.stream import Stream
from transformer_viz.gates.entropy_canvas import Bits, EntropyCanvas, HeadEntropies
from transformer_viz.gates.gating import Gating, log_probability
from transformer_viz.gates.spread_dial import SpreadDial
from transformer_viz.state.gates import ALL_ON
from transformer_viz.state.session import Session
from transformer_viz.widgets.flow_layout import FlowLayout
from transformer_viz.widgets.picture import Picture
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import label
from transformer_viz.widgets.text_size import set_height
from transformer_viz.words.wording import head_numbers

INTACT_HINT = (
    "The model is as it was trained, so every point lies on the diagonal. Switch a part off, and "
    "the points show which heads become sharper (below the diagonal) or flatter (above it)."
)
NO_MODEL = "This needs the model itself: type a sentence, or edit it where a file is shown."
_SCALINGS = {
    Scaling.ON: ("÷ √d_k", "Divide q · k by √d_k, as the paper does"),
    Scaling.OFF: ("off", "Leave q · k as it is: the scores grow, and softmax saturates"),
    Scaling.TWICE: ("÷ d_k", "Divide q · k by √d_k twice: the weights become nearly uniform"),
}
_MASKS = {
    True: ("on", "A target position sees itself and those before it"),
    False: ("off", "A target position sees all others, the one that it is to predict included"),
}


class Ablation(StageView):
    """Switches scaling, mask and the choice of all heads, and shows the entropy of each head on the
    translation of the intact model, before and now; or, on random numbers, why scores are scaled.
    """

    def __init__(self, session: Session, gating: Gating) -> None:
        super().__init__(session)
        self._gating = gating
        self._of: tuple[Trace, Trace] | None = None  # whose entropies are shown or being computed
        self._leaks: Mapping[Head, Leak] = {}
        self._stream = Stream(self)
        self._stream.arrived.connect(self._on_found)
        self.scalings, self.masks = QButtonGroup(self), QButtonGroup(self)
        self.even = QPushButton("All heads even")
        self.restore = QPushButton("Restore the model")
        self.statement = label("", wrap=True)
        self.facts = label("soft", wrap=True)
        self.canvas = EntropyCanvas()
        self.why = QPushButton("Why √d_k?")
        self.why.setCheckable(True)
        self.why.setToolTip("Show what the division does to random queries and keys of any width")
        self.dial = SpreadDial()
        self.pages = QStackedWidget()
        self._lay_out()
        self.why.toggled.connect(self.pages.setCurrentIndex)
        self.scalings.idClicked.connect(
            lambda number: self._switch(scaling=list(_SCALINGS)[number])
        )
        self.masks.idClicked.connect(lambda number: self._switch(mask=list(_MASKS)[number]))
        self.even.setCheckable(True)
        self.even.setToolTip("Every head averages evenly over all that the mask lets it see")
        self.even.clicked.connect(self._make_even)
        self.restore.setToolTip("Take back every switch and gate (Ctrl+Shift+A)")
        self.restore.clicked.connect(self._restore)
        self.canvas.headChosen.connect(lambda head: session.select(**head._asdict()))
        for changed in (
            *(session.traceChanged, session.gatesChanged, session.switchesChanged),
            *(session.selectionChanged, gating.changed),
        ):
            changed.connect(self.invalidate)

    def _lay_out(self) -> None:
        controls = QWidget()
        flow = FlowLayout(controls, 5 * GRID, between_lines=2 * GRID)
        flow.addWidget(_choice("Scaling", self.scalings, _SCALINGS.values()))
        flow.addWidget(_choice("Decoder mask", self.masks, _MASKS.values()))
        for button in (self.even, self.restore):
            set_height(button, 7 * GRID)
            flow.addWidget(button)
        self.controls = controls
        set_height(self.why, 7 * GRID)
        heads = QWidget()
        told = QVBoxLayout(heads)
        told.setContentsMargins(0, 0, 0, 0)
        told.setSpacing(2 * GRID)
        for part in (self.statement, self.facts):
            told.addWidget(part)
        told.addWidget(self.canvas, 1)
        for page in (heads, self.dial):
            self.pages.addWidget(page)
        top = QHBoxLayout()
        top.addWidget(controls, 1)
        top.addWidget(self.why, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * GRID, 3 * GRID, 4 * GRID, 2 * GRID)
        column.setSpacing(2 * GRID)
        column.addLayout(top)
        column.addWidget(self.pages, 1)

    def apply_theme(self, theme: Theme) -> None:
        self.canvas.theme = theme
        self.canvas.update()
        self.dial.apply_theme(theme)
        super().apply_theme(theme)

    def focus_part(self) -> QWidget:
        return self.canvas

    # Acts

    def _switch(self, **changes: object) -> None:
        session = self.session
        session.set_switches(replace(session.switches, **changes))  # type: ignore[arg-type]

    def _every_head(self) -> list[Head]:
        trace = self.session.trace
        return [] if trace is None else [h for kind in trace.kinds for h in trace.every_head(kind)]

    def _make_even(self, wanted: bool) -> None:
        self.session.set_gates(dict.fromkeys(self._every_head(), EVEN) if wanted else ALL_ON)

    def _restore(self) -> None:
        self.session.set_switches(INTACT)
        self.session.set_gates(ALL_ON)

    # From the session

    def refresh(self) -> None:
        session = self.session
        trace, switches = session.trace, session.switches
        ready = trace is not None and trace.has_ids
        self.controls.setEnabled(ready)
        self.scalings.button(list(_SCALINGS).index(switches.scaling)).setChecked(True)
        self.masks.button(list(_MASKS).index(switches.mask)).setChecked(True)
        every = self._every_head()
        self.even.setChecked(bool(every) and all(session.gates.get(h) == EVEN for h in every))
        self.restore.setEnabled(not session.is_intact)
        pair = self._pair()
        if pair is None:
            self._show_nothing("" if ready else NO_MODEL)
        elif pair != self._of:
            self._of = pair
            self._leaks = {}
            self._stream.start(_found(*pair))
        else:
            self.canvas.show_entropies(self.canvas.shown, session.selection.primary)
        self._show_statement(pair)

    def _pair(self) -> tuple[Trace, Trace] | None:
        """The same tokens before and now; None while one of them is on its way."""
        trace, change = self.session.trace, self._gating.change
        if trace is None or not trace.has_ids:
            return None
        if self.session.is_intact:
            return (trace, trace) if not trace.gates and trace.switches == self._normal else None
        if change is None or change.forced is None or change.switches != self.session.switches:
            return None
        return (change.before, change.forced) if change.gates == self.session.gates else None

    @property
    def _normal(self) -> Switches:
        """The switches of a trace of the intact model, which may have been trained without a
        mask."""
        model = self.session.model
        return Switches(mask=model is None or model.config is None or model.config.decoder_mask)

    def _show_nothing(self, why: str) -> None:
        self._of = None
        self._stream.stop()
        self.statement.setText(why)
        if why:
            self.canvas.show_entropies(HeadEntropies(), self.session.selection.primary)
            self.facts.setText("")

    def _on_found(self, found: tuple[HeadEntropies, Mapping[Head, Leak]]) -> None:
        entropies, self._leaks = found
        self.canvas.show_entropies(entropies, self.session.selection.primary)
        self._show_statement(self._of)

    def _show_statement(self, pair: tuple[Trace, Trace] | None) -> None:
        if pair is None:
            return
        before, now = pair
        if self.session.is_intact:
            self.statement.setText(INTACT_HINT)
            self.facts.setText(f"Loss of the translation: {loss(before):.3f} nats per token.")
            return
        change = f"{loss(before):.3f} → {loss(now):.3f}"
        self.statement.setText(f"Loss of “{before.translation}”: {change} nats per token")
        self.facts.setText(" ".join(_notes(now, self._leaks, trained_so=not self._normal.mask)))

    # For a file

    @property
    def has_picture(self) -> bool:
        return self.why.isChecked() or bool(self.canvas.shown.heads)

    def export_name(self) -> str:
        return f"scores with d_k {self.dial.canvas.d_k}" if self.why.isChecked() else "ablation"

    @property
    def _exported(self) -> Picture:
        return self.dial.canvas if self.why.isChecked() else self.canvas

    def export_size(self) -> QSize:
        return self._exported.size()

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        painter.save()
        painter.fillRect(rect, self.theme.color("paper"))
        painter.translate(rect.topLeft())
        self._exported.paint(painter)
        painter.restore()


def loss(trace: Trace) -> float:
    """Return −log P(Y) / |Y| of the translation, in nats per token."""
    total, count = log_probability(trace), len(trace.predicted_tokens)
    return float("nan") if total is None else -total / count


def _notes(now: Trace, found: Mapping[Head, Leak], *, trained_so: bool) -> Iterator[str]:
    yield "The bar above compares the translations; the points are of the one before."
    if now.switches.mask or not found:
        return
    count = len(found)
    later = sum(one.later for one in found.values()) / count
    answer = sum(one.answer for one in found.values()) / count
    head, most = max(found.items(), key=lambda one: one[1].answer)
    yield (
        f"The leak: the decoder's heads put {percent(later)} of their weight on later tokens, "
        f"{percent(answer)} on the very token to predict; head {head_numbers(head)} puts "
        f"{percent(most.answer)} there."
    )
    if not trained_so:
        yield "The model was trained with the mask, so it never learned to use what it now sees."


def _found(before: Trace, now: Trace) -> Iterator[tuple[HeadEntropies, Mapping[Head, Leak]]]:
    """All heads at once, so that the picture changes once."""
    heads: dict[Head, Bits] = {}
    limits: dict[AttentionKind, float] = {}
    for kind in now.kinds:
        for head in now.every_head(kind):
            after = head_statistics(now, *head)
            first = after if before is now else head_statistics(before, *head)
            heads[head] = Bits(first.values["entropy"], after.values["entropy"])
            limits[kind] = after.entropy_limit
    yield HeadEntropies(heads, limits), leaks(now)


def _choice(name: str, group: QButtonGroup, buttons: Iterable[tuple[str, str]]) -> QWidget:
    """A name and buttons of which one is down."""
    part = QWidget()
    row = QHBoxLayout(part)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(GRID)
    title = QLabel(name)
    set_role(title, "soft")
    row.addWidget(title)
    for number, (text, tip) in enumerate(buttons):
        button = QPushButton(text)
        button.setCheckable(True)
        button.setToolTip(tip)
        button.setAccessibleName(f"{name} {text}")
        set_height(button, 7 * GRID)
        group.addButton(button, number)
        row.addWidget(button)
    return part
