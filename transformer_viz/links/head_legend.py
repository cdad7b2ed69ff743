"""Which head has which colour; a click takes a head into the selection, or out of it."""

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QKeyEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QPushButton, QSizePolicy, QToolButton, QWidget

from core.trace.trace import Head
from transformer_viz.drawing.head_colors import color_slots, head_color
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.state.head_choice import only, toggled
from transformer_viz.state.options import Combine
from transformer_viz.state.session import Session
from transformer_viz.widgets.flow_layout import FlowLayout
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel
from transformer_viz.widgets.text_size import set_height
from transformer_viz.words.wording import head_name, head_numbers, plain_tooltip

_ICON = 3 * GRID
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_MEAN = "Show the mean of the selected heads instead of each head in its colour"
_SEVERAL = "Select several heads to see their mean"


class HeadLegend(QWidget):
    """A swatch for each head of the current layer, and for what else is selected.

    One swatch can be reached by Tab, the others from it by Left and Right.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = LIGHT
        self._heads: tuple[Head, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._title = PlainLabel()
        set_role(self._title, "soft")
        self.all = QPushButton("All heads")
        self.all.setAccessibleName("All heads of this layer")
        self.all.setToolTip("Show every head of this layer, each in its colour")
        self.all.clicked.connect(self._select_all)
        self.mean = QPushButton("Mean")
        self.mean.setCheckable(True)
        self.mean.setAccessibleName("Mean of heads")
        self.mean.clicked.connect(self._combine)
        self.swatches: list[QToolButton] = []
        self._flow = FlowLayout(self, GRID)
        for widget in (self._title, self.all, self.mean):
            set_height(widget, 7 * GRID)
            self._flow.addWidget(widget)
        session.traceChanged.connect(self._follow)
        session.selectionChanged.connect(self._follow)
        session.optionsChanged.connect(self._follow)
        self._follow()

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._follow()

    def _follow(self) -> None:
        trace, selection = self._session.trace, self._session.selection
        selected = selection.heads
        self._heads = ()
        if trace is not None and selection.kind in trace.kinds:
            numbers = trace.heads(selection.kind, selection.layer)
            layer = (Head(selection.kind, selection.layer, head) for head in numbers)
            self._heads = tuple(sorted({*layer, *selected}))
        several_layers = len({head.layer for head in self._heads}) > 1
        self._title.setText("Heads" if several_layers else f"Layer {selection.layer + 1}")
        averaged = len(selected) > 1 and self._session.options.combine is Combine.MEAN
        self.mean.setEnabled(len(selected) > 1)
        self.mean.setChecked(averaged)
        self.mean.setToolTip(_MEAN if len(selected) > 1 else _SEVERAL)
        while len(self.swatches) < len(self._heads):
            self._add_swatch()
        slots = dict(zip(selected, color_slots(selected), strict=True))
        for number, swatch in enumerate(self.swatches):
            swatch.setVisible(number < len(self._heads))
            if number < len(self._heads):
                head = self._heads[number]
                name = head_numbers(head) if several_layers else str(head.head + 1)
                color = None if averaged else slots.get(head, color_slots([head])[0])
                self._dress(swatch, head, name, color, on=head in slots)
        self._flow.invalidate()

    def _add_swatch(self) -> None:
        swatch = QToolButton()
        swatch.setCheckable(True)
        swatch.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        swatch.setIconSize(QSize(_ICON, _ICON))
        set_height(swatch, 7 * GRID)
        swatch.installEventFilter(self)
        number = len(self.swatches)
        swatch.clicked.connect(lambda: self._toggle(number))
        swatch.setFocusPolicy(Qt.FocusPolicy.ClickFocus if number else Qt.FocusPolicy.StrongFocus)
        self.swatches.append(swatch)
        self._flow.addWidget(swatch)

    def _dress(
        self, swatch: QToolButton, head: Head, name: str, color: int | None, *, on: bool
    ) -> None:
        swatch.setText(name)
        swatch.setChecked(on)
        swatch.setIcon(self._icon(color, filled=on))
        swatch.setAccessibleName(head_name(head))
        swatch.setToolTip(plain_tooltip(f"{head_name(head)}: click to {'remove' if on else 'add'}"))

    def _icon(self, color: int | None, *, filled: bool) -> QIcon:
        """A square of a head's colour, or of the mean's; of a head that is not shown a frame."""
        theme = self._theme
        ink = theme.color("accent") if color is None else head_color(theme, color)
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(QSize(_ICON, _ICON) * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            painter.setPen(QPen(ink, 1.5))
            painter.setBrush(ink if filled else Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(1, 1, _ICON - 2, _ICON - 2))
        return QIcon(pixmap)

    # From the user

    def _toggle(self, number: int) -> None:
        self._session.select(**toggled([self._heads[number]], self._session.selection))
        self._follow()  # the last head cannot be left out, though its button has come up

    def _select_all(self) -> None:
        trace, selection = self._session.trace, self._session.selection
        if trace is None:
            return
        numbers = trace.heads(selection.kind, selection.layer)
        heads = [Head(selection.kind, selection.layer, head) for head in numbers]
        self._session.change_options(combine=Combine.SIDE_BY_SIDE)
        self._session.select(**only(heads, selection))

    def _combine(self, mean: bool) -> None:
        self._session.change_options(combine=Combine.MEAN if mean else Combine.SIDE_BY_SIDE)

    def eventFilter(self, swatch: QObject, event: QEvent) -> bool:
        """Let Left and Right go from swatch to swatch."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = _STEPS.get(Qt.Key(event.key()))
            if step is not None and swatch in self.swatches:
                place = self.swatches.index(swatch) + step
                self.swatches[max(0, min(place, len(self._heads) - 1))].setFocus()
                return True
        return super().eventFilter(swatch, event)
