"""The model that is open as a diagram, alive: each box with its shape, parameters and numbers."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QRect, QRectF, QSize, Signal
from PySide6.QtGui import QHideEvent, QPainter, QShowEvent
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from core.config import ModelConfig
from core.counted import counted
from core.trace.trace import Head, Trace
from transformer_viz.architecture.box_reading import BoxReading, Reader, where
from transformer_viz.architecture.box_readout import (
    BoxReadout,
    BoxReport,
    draw_readout,
    readout_height,
    report_in_words,
    values_in_words,
)
from transformer_viz.architecture.box_values import BoxValues, box_values, is_by_head, side_of
from transformer_viz.architecture.diagram import (
    Diagram,
    block_name,
    kind_of,
    lay_out_diagram,
    sublayers_of,
)
from transformer_viz.architecture.diagram_canvas import DiagramCanvas
from transformer_viz.architecture.draw_diagram import DiagramStyle
from transformer_viz.architecture.inside import open_sublayer
from transformer_viz.drawing.heading import Heading
from transformer_viz.drawing.numbers import share
from transformer_viz.drawing.theme import GRID, grown
from transformer_viz.engine.recorded_states import RecordedStates
from transformer_viz.state.head_choice import only
from transformer_viz.state.linking import Place, cell_of
from transformer_viz.state.selection import Side
from transformer_viz.state.session import Phase, Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.text_size import set_font
from transformer_viz.words.wording import token_name

_FIRST = "encoder.0.self_attention"
_SHARED = {
    "all": "one matrix for both embeddings and the output",
    "inputs": "one matrix for both embeddings",
    "target": "one matrix for target embedding and output",
    "none": "no shared matrices",
}
_NO_MODEL = "No model is open", "Open a model (Ctrl+O) to see its diagram."
_NO_SCORES = "The scores of the vocabulary are not kept; the box above says what became of them."
_NO_INNER = "Its numbers are kept after the activation; choose the box above."


class Architecture(StageView):
    """The diagram: click a box to see its numbers for the chosen token, and the way there.

    The arrow keys walk from box to box, Enter shows the heads of a block as maps, Z zooms to the
    open block, Page Up and Page Down choose the token.
    """

    mapWanted = Signal()

    def __init__(self, session: Session, states: RecordedStates) -> None:
        super().__init__(session)
        self._states = states
        self._reader: tuple[ModelConfig, Reader] | None = None
        self._layer, self._inside = 0, _FIRST  # those that are open
        self._laid_out: tuple[object, ...] = ()
        self._diagram: Diagram | None = None
        self._last: dict[Side, int] = {"source": 0, "target": 0}  # the token chosen last
        self._values: BoxValues | None = None
        self._block = self._selected_block()
        self.canvas = DiagramCanvas()
        self.readout = BoxReadout()
        self._build()
        self.canvas.chosen.connect(self.choose)
        self.canvas.opened.connect(self._open)
        self.canvas.tokenMoved.connect(self._choose_token)
        for changed in (
            session.modelChanged,
            session.pointedChanged,
            session.optionsChanged,
            session.statusChanged,
            states.changed,
        ):
            changed.connect(self.invalidate)
        session.traceChanged.connect(self._on_trace)
        session.selectionChanged.connect(self._on_selection)

    def _build(self) -> None:
        self._title, self._subtitle = ElidedLabel("title"), ElidedLabel("soft")
        set_font(self._title, 1.15, bold=True)
        self._placeholder = Placeholder()
        header = QVBoxLayout()
        header.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        header.setSpacing(GRID)
        header.addWidget(self._title)
        header.addWidget(self._subtitle)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 3 * GRID, 0, 0)
        column.setSpacing(GRID)
        column.addLayout(header)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.readout)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self._placeholder)
        self._pages.addWidget(page)

    def focus_part(self) -> QWidget:
        return self.canvas

    def showEvent(self, event: QShowEvent) -> None:
        self._states.watch(self, True)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._states.watch(self, False)
        super().hideEvent(event)

    # From the session

    @property
    def chosen(self) -> str:
        """The name of the box that is chosen; the first block where the model lacks it."""
        name = self.session.options.architecture_box
        if self._diagram is not None and name not in self._diagram.nodes:
            return self._diagram.inside
        return name

    @property
    def place(self) -> Place:
        """The token whose numbers are shown: the one pointed at or pinned, else the last one."""
        side, pointed, trace = side_of(self.chosen), self.session.pointed, self.session.trace
        if pointed is not None:
            self._last[pointed.side] = pointed.index
        if trace is None:
            return Place(side, 0)
        tokens = trace.source_tokens if side == "source" else trace.target_tokens
        return Place(side, min(self._last[side], len(tokens) - 1))

    def refresh(self) -> None:
        model = self.session.model
        if model is None or model.config is None:
            self._diagram, self._values = None, None
            self.canvas.show_diagram(None, None)
            self.readout.show_report(None, self.theme)
            self._pages.setCurrentIndex(0)
            if model is None:
                self._placeholder.show_status(self.session.status)
            else:
                self._placeholder.say(*_NO_MODEL)
            return
        self._pages.setCurrentIndex(1)
        config, trace = model.config, self.session.trace
        if self._reader is None or self._reader[0] is not config:
            self._reader = config, Reader(config)
        diagram = self._lay_out(config)
        n, m = (
            (None, None) if trace is None else (len(trace.source_tokens), len(trace.target_tokens))
        )
        readings = {name: self._reader[1].read(name, n, m) for name in diagram.nodes}
        style = DiagramStyle(
            theme=self.theme,
            font=self.font(),
            readings=readings,
            inside=where(diagram.inside),
            heads=self._heads_note(diagram, config),
            chosen=self.chosen,
        )
        self.canvas.show_diagram(diagram, style)
        report = self._report(diagram, readings[self.chosen], trace)
        self.readout.show_report(report, self.theme)
        announce(self.canvas, report_in_words(report))
        self._title.setText(f"{model.name} · {model.parameters:,} parameters")
        status = self.session.status
        failed = status.phase is Phase.FAILED
        self._subtitle.setText(f"⚠ {status.message}" if failed else _in_words(config))

    def _lay_out(self, config: ModelConfig) -> Diagram:
        self._open_around(self.session.options.architecture_box, config)
        unit = grown(1.0, self.font())
        shown = config, self._layer, self._inside, unit
        if shown != self._laid_out or self._diagram is None:
            self._laid_out = shown
            opened = open_sublayer(config, self._inside, unit)
            self._diagram = lay_out_diagram(config, self._layer, self._inside, unit, opened)
        return self._diagram

    def _open_around(self, name: str, config: ModelConfig) -> None:
        """Open the layer and the sub-layer that a box is in; else they stay as they are."""
        parts = name.split(".")
        counts = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
        stack, sublayer = self._inside.split(".")[0], self._inside.split(".")[2]
        if len(parts) > 1 and parts[0] in counts and parts[1].isdecimal():
            stack, self._layer = parts[0], int(parts[1])
            named = parts[2].removesuffix("_residual") if len(parts) > 2 else sublayer
            sublayer = named if named in sublayers_of(stack) else "self_attention"
        self._layer = min(self._layer, max(counts.values()) - 1)
        layer = min(self._layer, counts[stack] - 1)
        self._inside = f"{stack}.{layer}.{sublayer}"

    def _heads_note(self, diagram: Diagram, config: ModelConfig) -> str:
        block = kind_of(diagram.inside)
        if block is None:
            return ""
        count = counted(len(config.kept_heads(*block)), "head")
        head = self._head(diagram.inside)
        return count if head is None else f"{count} · the steps show head {head.head + 1}"

    def _head(self, name: str) -> Head | None:
        """Return the head whose steps are shown: the current one, if it is of this block."""
        block, trace = kind_of(name), self.session.trace
        if block is None or trace is None or block[0] not in trace.kinds:
            return None
        if block[1] >= trace.layers(block[0]):
            return None
        primary = self.session.selection.primary
        heads = trace.heads(*block)
        if (primary.kind, primary.layer) == block and primary.head in heads:
            return primary
        return Head(*block, heads[0]) if len(heads) else None

    def _report(self, diagram: Diagram, reading: BoxReading, trace: Trace | None) -> BoxReport:
        name, states = self.chosen, self._states
        node = diagram.nodes[name]
        title = node.title if name.startswith(f"{where(name)}") else f"{where(name)} · {node.title}"
        size = f"{reading.shape} · {reading.parameters}"
        if trace is None:
            self._values = None
            return BoxReport(title, size, "", "Type a sentence to see the numbers of this box.")
        place = self.place
        states.show(place)
        token = _token(trace, place)
        special = self._special(name, trace, place)
        if special:
            return BoxReport(title, size, token, special)
        head = self._head(name) if is_by_head(name) else None
        current = states.current
        if current is not None:
            self._values = box_values(name, trace, current, place, head)
        elif not states.asking:
            self._values = None
        values = self._values
        if values is None:
            return BoxReport(title, size, token, states.problem)
        block = kind_of(name)
        keys = () if block is None else trace.key_tokens(block[0])
        fresh = current is not None
        note = values_in_words(values, keys, None if head is None else head.head) if fresh else ""
        return BoxReport(title, size, token, note, values, stale=not fresh)

    def _special(self, name: str, trace: Trace, place: Place) -> str:
        """What there is to say of boxes whose numbers are not recorded as vectors."""
        if name in ("source", "target"):
            tokens = trace.source_tokens if name == "source" else trace.target_tokens
            return f"Token {tokens[place.index].id} of the vocabulary."
        if name == "output_embedding":
            return _NO_SCORES
        if name.endswith(".inner"):
            return _NO_INNER
        known = trace.log_probabilities
        if name == "probabilities" and known is not None and place.index < len(known):
            predicted = token_name(trace.predicted_tokens[place.index])
            probability = float(np.exp(known[place.index]))
            return f"“{predicted}” follows with probability {share(probability)}."
        return ""

    # From the user

    def choose(self, name: str) -> None:
        """Choose a box; an attention block selects its heads for all views."""
        session, block = self.session, kind_of(name)
        trace = session.trace
        if block is not None and trace is not None and block != self._selected_block():
            known = block[0] in trace.kinds and block[1] < trace.layers(block[0])
            heads = [Head(*block, head) for head in trace.heads(*block)] if known else []
            if heads:
                self._block = block
                session.select(**only(heads, session.selection))
        session.change_options(architecture_box=name)

    def _open(self, name: str) -> None:
        """Show the heads of an attention block as maps; zoom to anything else that opens."""
        self.choose(name)
        if kind_of(name) is not None and self.session.trace is not None:
            self.mapWanted.emit()
        else:
            self.canvas.zoom_to_inside()

    def _selected_block(self) -> tuple[object, int]:
        return self.session.selection.kind, self.session.selection.layer

    def _on_trace(self) -> None:
        """What is selected with another trace leaves the chosen box alone."""
        self._block = self._selected_block()
        self.invalidate()

    def _on_selection(self) -> None:
        """Follow a head that was selected elsewhere to its block."""
        selection = self.session.selection
        block = selection.kind, selection.layer
        if block != self._block:
            self._block = block
            self.session.change_options(architecture_box=block_name(*block))
        self.invalidate()

    def _choose_token(self, step: int) -> None:
        place, trace = self.place, self.session.trace
        if trace is None:
            return
        tokens = trace.source_tokens if place.side == "source" else trace.target_tokens
        index = max(0, min(place.index + step, len(tokens) - 1))
        query, key = cell_of(self.session.selection.kind, Place(place.side, index))
        self._last[place.side] = index
        self.session.set_hover(None, None)
        self.session.select(query=query, key=key, pins=())
        self.invalidate()

    # For a file

    @property
    def has_picture(self) -> bool:
        return self._diagram is not None and self.readout.report is not None

    def export_name(self) -> str:
        return "architecture"

    def _heading(self) -> Heading:
        return Heading(self._title.text(), self._subtitle.text(), self.font())

    def export_size(self) -> QSize:
        size = self.canvas.whole_size()
        above = self._heading().height(size.width())
        return QSize(size.width(), above + size.height() + readout_height(self.font()))

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        report = self.readout.report
        assert report is not None
        painter.save()
        painter.fillRect(rect, self.theme.color("paper"))
        painter.translate(rect.topLeft())
        heading = self._heading()
        heading.draw(painter, rect.width(), self.theme)
        painter.translate(0, heading.height(rect.width()))
        self.canvas.paint_whole(painter)
        painter.translate(0, self.canvas.whole_size().height())
        area = QRectF(0, 0, rect.width(), math.ceil(readout_height(self.font())))
        draw_readout(painter, area, report, self.theme, self.font())
        painter.restore()


def _in_words(config: ModelConfig) -> str:
    """The shape of a model in one line."""
    heads = [str(config.encoder_heads), str(config.decoder_heads)]
    widths = [f"{config.encoder_d_ff:,}", f"{config.decoder_d_ff:,}"]
    return " · ".join(
        (
            f"{config.encoder_layers} + {config.decoder_layers} layers",
            f"{' and '.join(dict.fromkeys(heads))} heads",
            f"d_model {config.d_model:,}",
            f"d_ff {' and '.join(dict.fromkeys(widths))}",
            f"{config.norm}-norm",
            f"{config.positions} positions" if config.positions != "none" else "no positions",
            _SHARED[config.shared_embeddings],
        )
    )


def _token(trace: Trace, place: Place) -> str:
    """The chosen token; of a decoder row, what it reads and what it predicts."""
    index = place.index
    if place.side == "source":
        return f"“{token_name(trace.source_tokens[index])}” ({index + 1})"
    said = f"“{token_name(trace.target_tokens[index])}” ({index + 1})"
    if index < len(trace.predicted_tokens):
        said += f" → “{token_name(trace.predicted_tokens[index])}”"
    return said
