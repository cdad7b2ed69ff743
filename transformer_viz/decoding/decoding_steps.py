"""A decoding step by step: the map as it stands, and beside it what else might have come."""

import math
from collections.abc import Iterator

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from core.trace.head_map import mean_weights
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.decoding.decoding_side import DecodingSide
from transformer_viz.decoding.draw_growing_matrix import GrowingPicture
from transformer_viz.decoding.growing_matrix import GrowingMatrix, ScaleStrip
from transformer_viz.decoding.hypotheses_desk import Decoding
from transformer_viz.drawing.colormap import encode, lookup_table
from transformer_viz.drawing.matrix import Style
from transformer_viz.drawing.pooling import Pyramid
from transformer_viz.drawing.scale_strip import draw_scale_strip
from transformer_viz.drawing.scales import legend
from transformer_viz.drawing.theme import GRID, Theme, scaled_font, taller
from transformer_viz.engine.stream import Stream
from transformer_viz.state.options import ColorMap, ViewOptions
from transformer_viz.state.session import Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.shown_heads import ShownHeads, heads_title
from transformer_viz.widgets.style import set_role
from transformer_viz.words.wording import token_name

MARGIN, _LINE = 4 * GRID, 7 * GRID  # of an exported picture

INLINE_CELLS = 512 * 512
"""A map of so many cells is computed at once; a larger one beside the event loop."""


class DecodingSteps(QWidget):
    def __init__(self, session: Session, decoding: Decoding, heads: ShownHeads) -> None:
        super().__init__()
        self._session = session
        self._decoding = decoding
        self._heads = heads
        self._trace: Trace | None = None  # what the map was made of,
        self._shown: tuple[object, ...] = ()  # and how
        self._picture: GrowingPicture | None = None
        self._stream = Stream(self)
        self._stream.arrived.connect(self._show_picture)
        self._style: Style | None = None
        self._look: tuple[object, ...] = ()  # what the style was made of
        self.matrix = GrowingMatrix()
        self._scale = ScaleStrip()
        self._title = QLabel()
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self._title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_role(self._title, "soft")
        self.side = DecodingSide(decoding)
        self._lay_out()
        self.matrix.stepClicked.connect(decoding.walk.go_to)

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.setSpacing(GRID)
        left.addWidget(self._title)
        left.addWidget(self.matrix, 1)
        left.addWidget(self._scale, 0, Qt.AlignmentFlag.AlignLeft)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4 * GRID)
        row.addLayout(left, 5)
        row.addWidget(self.side, 3)

    def apply_theme(self, theme: Theme) -> None:
        self.side.apply_theme(theme)

    def show_trace(self, trace: Trace, theme: Theme, color_map: ColorMap) -> None:
        """Show everything at the current step."""
        self.side.show_hypotheses()
        self._show_map(trace, theme, color_map)
        self.show_step(trace)

    def show_step(self, trace: Trace) -> None:
        step = self._decoding.walk.step
        self.matrix.set_step(step)
        self.side.show_step(step)
        fed, count = trace.target_tokens[step], len(trace.target_tokens)
        announce(self.matrix, f"step {step + 1} of {count}, fed {token_name(fed)}")

    @property
    def has_picture(self) -> bool:
        return self._picture is not None

    def export_name(self) -> str:
        return f"{self._title.text()} step {self._decoding.walk.step + 1}"

    def export_size(self) -> QSize:
        """The map with its title and its scale."""
        line = taller(_LINE, self.font())
        title = QFontMetricsF(scaled_font(self.font(), 1.0, bold=True))
        width = math.ceil(title.horizontalAdvance(self._export_title))
        size = self.matrix.picture_size().expandedTo(QSize(width, 0))
        return size + QSize(2 * MARGIN, 2 * MARGIN + 2 * line)

    @property
    def _export_title(self) -> str:
        walk = self._decoding.walk
        return f"{self._title.text()} · step {walk.step + 1} of {walk.count}"

    def paint_export(self, painter: QPainter, rect: QRectF) -> None:
        assert self._style is not None
        inner = rect.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        height = taller(_LINE, self.font())
        line = QRectF(inner.left(), inner.top(), inner.width(), height)
        painter.setFont(scaled_font(self.font(), 1.0, bold=True))
        painter.setPen(self._style.theme.color("ink"))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, self._export_title)
        painter.save()
        painter.translate(line.bottomLeft())
        self.matrix.paint(painter)
        painter.restore()
        if self._picture is not None:
            foot = line.translated(0, inner.height() - height)
            draw_scale_strip(painter, foot, self._style, self._picture.legend)

    def _show_map(self, trace: Trace, theme: Theme, color_map: ColorMap) -> None:
        options = self._session.options
        self._set_style(theme, color_map, options.threshold > 0)
        heads = self._heads.of(AttentionKind.DECODER_SELF, trace)
        if not heads:
            self._shown = ()
            self._title.setText("This trace has no decoder self-attention.")
            self._show_picture(None)
            return
        self._title.setText(heads_title(heads))
        wanted = heads, options.scale, options.threshold
        if trace is self._trace and wanted == self._shown:
            self._show_picture(self._picture)
            return
        self._trace, self._shown = trace, wanted
        made = _pictures(trace, heads, options)
        if len(trace.target_tokens) ** 2 * len(heads) <= INLINE_CELLS:
            self._stream.stop()
            self._show_picture(next(made))
        else:
            self._show_picture(None)
            self._stream.start(made)

    def _set_style(self, theme: Theme, color_map: ColorMap, blank: bool) -> None:
        look = theme, color_map, blank, self.font()
        if look != self._look:
            self._look = look
            self._style = Style(theme, lookup_table(color_map, theme, blank=blank), self.font())

    def _show_picture(self, picture: GrowingPicture | None) -> None:
        self._picture = picture
        assert self._style is not None
        self.matrix.set_picture(picture, self._style)
        self._scale.set_legend(None if picture is None else picture.legend, self._style)


def _pictures(
    trace: Trace, heads: tuple[Head, ...], options: ViewOptions
) -> Iterator[GrowingPicture]:
    """The one picture of these heads; safe to run in any thread."""
    weights = mean_weights(trace, heads)
    allowed = trace.allowed(AttentionKind.DECODER_SELF)
    predicted = trace.predicted_tokens
    yield GrowingPicture(
        pyramid=Pyramid(encode(weights, allowed, options.scale, options.threshold)),
        fed=trace.target_tokens,
        predicted=predicted if len(predicted) == len(trace.target_tokens) else (),
        log_probabilities=trace.log_probabilities,
        legend=legend(options.scale, float(weights.max()), options.threshold),
    )
