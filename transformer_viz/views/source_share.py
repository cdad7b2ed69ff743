"""The share of the source against that of the target prefix at each decoding step."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from core.heads import AttentionKind
from core.trace.trace import Floats
from transformer_viz.drawing import share_bars
from transformer_viz.drawing.labels import display_text
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.share_bars import ShareLayout, draw_key, draw_shares, share_layout
from transformer_viz.linking import Place
from transformer_viz.options import Quantity
from transformer_viz.quantities import Found
from transformer_viz.session import Session
from transformer_viz.theme import GRID, LIGHT, Theme
from transformer_viz.views.accessibility import announce
from transformer_viz.views.quantity_wording import NAMES

_MARGIN = 4 * GRID
_CONSTANT = (
    "Rollout takes half of what each block passes on to be its residual, so after l layers with "
    "cross-attention the source has 1 − 2⁻ˡ, whatever the text. ALTI+ tells steps apart."
)


class SourceShare(QWidget):
    """Of the quantities that follow tokens through the decoder; hidden for all others, and where
    there is no source.

    Point at a step to light it up everywhere, click it to pin its row; the arrows move the pin.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme: Theme = LIGHT
        self._found: Found | None = None
        self.shares: Floats | None = None  # [T]
        self._about = ""
        self.setAccessibleName("Source against target prefix")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        session.pointedChanged.connect(lambda _place: self._follow())
        self.hide()

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def show_found(self, found: Found | None) -> None:
        """After the selected decoder layer, or after the last one while the encoder is shown."""
        self._found, self.shares = found, None
        composition = None if found is None else found.composition
        crossed = found is not None and AttentionKind.CROSS in found.of.kinds
        if found is not None and composition is not None and composition.source and crossed:
            selection, last = self._session.selection, len(composition.source)
            encoder = selection.kind is AttentionKind.ENCODER_SELF
            layer = last if encoder else min(selection.layer + 1, last)
            self.shares = composition.source_share(layer - 1)
            name, mean = NAMES[found.quantity], percent(float(self.shares.mean()))
            after = f"after decoder layer {layer} of {last}"
            constant = found.quantity is Quantity.ROLLOUT
            self._about = (
                f"{name} {after}: {mean} at every step of any text"
                if constant
                else f"% from the source by {name} {after}; mean {mean}"
            )
            self.setToolTip(_CONSTANT if constant else "")
        self.setVisible(self.shares is not None)
        self._follow()

    @property
    def step(self) -> int | None:
        """The step pointed at or pinned."""
        place = self._session.pointed
        if place is None or place.side != "target" or self.shares is None:
            return None
        return place.index if place.index < len(self.shares) else None

    def sizeHint(self) -> QSize:
        return QSize(100 * GRID, round(self._line() + share_bars.height(self.font()) + 2 * GRID))

    def minimumSizeHint(self) -> QSize:
        return QSize(40 * GRID, self.sizeHint().height())

    @property
    def bars(self) -> ShareLayout | None:
        if self.shares is None:
            return None
        area = QRectF(self.rect()).adjusted(_MARGIN, self._line() + GRID, -_MARGIN, 0)
        return share_layout(area, len(self.shares))

    def _line(self) -> float:
        return self.fontMetrics().height()

    def _follow(self) -> None:
        announce(self, self._reading())
        self.update()

    def _reading(self) -> str:
        step = self.step
        if step is None or self.shares is None or self._found is None:
            return self._about
        share = float(self.shares[step])
        predicted = self._found.trace.predicted_tokens
        token = (
            f"“{display_text(predicted[step])}”" if step < len(predicted) else f"step {step + 1}"
        )
        return f"{token}: {percent(share)} source, {percent(1 - share)} target prefix"

    # Events

    def paintEvent(self, event: QPaintEvent) -> None:
        bars = self.bars
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.color("paper"))
            self._draw(painter, self._reading(), self.step)
            if self.hasFocus() and bars is not None:
                painter.setPen(self._theme.color("accent"))
                area = QRectF(bars.left, bars.top, bars.count * bars.pitch, share_bars.BARS)
                painter.drawRect(area.adjusted(-2, -2, 1, 1))

    def paint_onto(self, painter: QPainter) -> None:
        """What is shown, without what is pointed at, at the painter's origin."""
        self._draw(painter, self._about, None)

    def _draw(self, painter: QPainter, said: str, marked: int | None) -> None:
        bars, found, font = self.bars, self._found, self.font()
        if bars is None or found is None or self.shares is None:
            return
        painter.setFont(font)
        line = QRectF(_MARGIN, 0, self.width() - 2 * _MARGIN, self._line())
        draw_key(painter, line, said, self._theme)
        tokens = found.trace.predicted_tokens
        draw_shares(painter, bars, self.shares, tokens, self._theme, font, marked=marked)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        step = self.bars.step_at(event.position()) if self.bars else None
        self._session.point(None if step is None else Place("target", step))

    def leaveEvent(self, event: QEvent) -> None:
        self._session.point(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        step = self.bars.step_at(event.position()) if self.bars else None
        if event.button() == Qt.MouseButton.LeftButton and step is not None:
            self._pin(step)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.key() not in moves or self.shares is None:
            super().keyPressEvent(event)
            return
        step = 0 if self.step is None else self.step + moves[Qt.Key(event.key())]
        self._session.point(None)
        self._pin(min(max(step, 0), len(self.shares) - 1))

    def _pin(self, step: int) -> None:
        """Its row, in the cross-attention where the encoder is shown."""
        session, trace = self._session, self._session.trace
        if trace is not None and session.selection.kind is AttentionKind.ENCODER_SELF:
            last = trace.layers(AttentionKind.CROSS) - 1
            session.select(kind=AttentionKind.CROSS, layer=last, query=step, key=None)
        else:
            session.pin(step)

    def focusInEvent(self, event: QEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QEvent) -> None:
        self.update()
