"""The buttons that walk through the decoding, as on a player."""

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QWidget

from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.state.walk import SPEEDS, Walk
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel

ICON = 4 * GRID


class Transport(QWidget):
    def __init__(self, walk: Walk) -> None:
        super().__init__()
        self._walk = walk
        self.first = self._button("First step", "First step (Home)", lambda: walk.go_to(0))
        self.back = self._button("Step back", "Step back (←)", lambda: walk.move(-1))
        self.play = self._button("Play", "Play or pause (Space)", walk.toggle)
        self.forward = self._button("Step forward", "Step forward (→)", lambda: walk.move(1))
        self.last = self._button("Last step", "Last step (End)", lambda: walk.go_to(walk.count - 1))
        self.position = PlainLabel()
        self.position.setMinimumWidth(26 * GRID)
        self.speed = QComboBox()
        self.speed.setAccessibleName("Playback speed")
        self.speed.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.speed.setToolTip("Playback speed, in steps per second")
        for speed in SPEEDS:
            self.speed.addItem(f"{speed:g} per second", speed)
        self.speed.setCurrentIndex(SPEEDS.index(walk.speed))
        self.speed.activated.connect(lambda index: walk.set_speed(SPEEDS[index]))
        set_role(self.position, "soft")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        for widget in (self.first, self.back, self.play, self.forward, self.last):
            row.addWidget(widget)
        row.addSpacing(2 * GRID)
        row.addWidget(self.position)
        row.addSpacing(2 * GRID)
        row.addWidget(self.speed)
        walk.moved.connect(self.show_state)
        walk.playingChanged.connect(self.show_state)
        self._theme: Theme | None = None

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        for button, shapes in (
            (self.first, "|<"),
            (self.back, "<"),
            (self.forward, ">"),
            (self.last, ">|"),
        ):
            button.setIcon(transport_icon(theme, shapes))
        self.show_state()

    def show_state(self) -> None:
        walk = self._walk
        count, step = walk.count, walk.step
        self.position.setText(f"step {step + 1} of {count}" if count else "no steps")
        for button, possible in (
            (self.first, step > 0),
            (self.back, step > 0),
            (self.play, count > 0),
            (self.forward, step < count - 1),
            (self.last, step < count - 1),
        ):
            button.setEnabled(possible)
        if self._theme is not None:
            self.play.setIcon(transport_icon(self._theme, "‖" if walk.playing else "▶"))
        self.play.setAccessibleName("Pause" if walk.playing else "Play")

    def _button(self, name: str, tip: str, run: Callable[[], object]) -> QToolButton:
        button = QToolButton()
        button.setAccessibleName(name)
        button.setToolTip(tip)
        button.setIconSize(QSize(ICON, ICON))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda _checked: run())
        return button


def transport_icon(theme: Theme, shape: str) -> QIcon:
    """Draw an icon, since fonts differ: `<` and `>` a step, with `|` to the end, `▶` play, `‖`
    pause."""
    icon = QIcon()
    for mode, token in ((QIcon.Mode.Normal, "ink"), (QIcon.Mode.Disabled, "border")):
        pixmap = QPixmap(2 * ICON, 2 * ICON)
        pixmap.setDevicePixelRatio(2)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color(token), 2))
            _draw(painter, shape, theme.color(token))
        icon.addPixmap(pixmap, mode)
    return icon


def _draw(painter: QPainter, shape: str, color: QColor) -> None:
    """In a square of `ICON`."""
    match shape:
        case "▶":
            triangle = [QPointF(4, 2), QPointF(14, 8), QPointF(4, 14)]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawPolygon(QPolygonF(triangle))
        case "‖":
            painter.fillRect(QRectF(3, 2, 4, 12), color)
            painter.fillRect(QRectF(9, 2, 4, 12), color)
        case _:
            if "<" in shape:
                painter.translate(ICON, 0)
                painter.scale(-1, 1)
            painter.drawPolyline(QPolygonF([QPointF(5, 3), QPointF(10, 8), QPointF(5, 13)]))
            if "|" in shape:
                painter.drawLine(QPointF(13, 3), QPointF(13, 13))
