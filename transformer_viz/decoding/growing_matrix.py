"""The canvas of the growing decoder map."""

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QImage, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from core.counted import counted
from transformer_viz.decoding.draw_growing_matrix import (
    GrowingLayout,
    GrowingPicture,
    growing_image,
    lay_out_growing,
    paint_growing,
)
from transformer_viz.drawing.matrix import Style
from transformer_viz.drawing.scale_strip import draw_scale_strip, scale_strip_width
from transformer_viz.drawing.scales import Legend
from transformer_viz.drawing.theme import GRID
from transformer_viz.words.wording import plain_tooltip, token_name

_EXPORT_RATIO = 4  # pixels of the cells per point in a file


class GrowingMatrix(QWidget):
    """The decoder's map so far; a click on a row goes to its step."""

    stepClicked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._picture: GrowingPicture | None = None
        self._style: Style | None = None
        self._layout: GrowingLayout | None = None
        self._image: QImage | None = None  # of the whole map at this size; None if outdated
        self._step = 0
        self.setAccessibleName("Decoder self-attention so far")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(60 * GRID, 30 * GRID)

    def set_picture(self, picture: GrowingPicture | None, style: Style) -> None:
        if picture is not self._picture or style is not self._style:
            self._picture, self._style = picture, style
            self._image = None
            self.update()

    def set_step(self, step: int) -> None:
        self._step = step
        self.update()

    @property
    def grid(self) -> GrowingLayout | None:
        """The place of the rows, once painted."""
        return self._layout

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._image = None

    def picture_size(self) -> QSize:
        """Return the size without the empty part below the map."""
        if self._picture is None or self._style is None:
            return self.size()
        layout = lay_out_growing(self._picture, QSizeF(self.size()), self._style.font, 1.0)
        return QSize(self.width(), math.ceil(layout.matrix.bottom()) + 2 * GRID)

    def paint(self, painter: QPainter) -> None:
        """The picture as large as the widget, on any device; cells keep their sharp edges."""
        picture, style = self._picture, self._style
        if picture is not None and style is not None:
            layout = lay_out_growing(picture, QSizeF(self.size()), style.font, 1.0)
            image = growing_image(picture, layout, style, _EXPORT_RATIO)
            self._paint(painter, picture, layout, image, style)

    def paintEvent(self, _event: QPaintEvent) -> None:
        picture, style = self._picture, self._style
        if picture is None or style is None:
            return
        ratio = self.devicePixelRatioF()
        if self._image is None or self._layout is None:
            self._layout = lay_out_growing(picture, QSizeF(self.size()), style.font, ratio)
            self._image = growing_image(picture, self._layout, style, ratio)
        with QPainter(self) as painter:
            self._paint(painter, picture, self._layout, self._image, style)

    def _paint(
        self,
        painter: QPainter,
        picture: GrowingPicture,
        layout: GrowingLayout,
        image: QImage,
        style: Style,
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_growing(painter, picture, layout, image, min(self._step, picture.steps - 1), style)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        step = self._step_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and step is not None:
            self.stepClicked.emit(step)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            step = self._step_at(QPointF(event.pos()))
            text = "" if step is None else plain_tooltip(self._explanation(step))
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def _step_at(self, point: QPointF) -> int | None:
        if self._picture is None or self._layout is None:
            return None
        return self._layout.step_at(point, self._picture.steps)

    def _explanation(self, step: int) -> str:
        assert self._picture is not None
        if step > self._step:
            return f"step {step + 1} has not been computed yet; click to go there"
        fed, made = self._picture.fed[step], self._picture.predicted[step]
        return (
            f"step {step + 1}: fed {token_name(fed)}, chose {token_name(made)}\nIt can attend to "
            f"{counted(step + 1, 'token')}; the hatched ones do not exist yet."
        )


class ScaleStrip(QWidget):
    """What the colours of the map mean."""

    def __init__(self) -> None:
        super().__init__()
        self._style: Style | None = None
        self._legend: Legend | None = None
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def set_legend(self, legend: Legend | None, style: Style) -> None:
        self._legend, self._style = legend, style
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = 0.0
        if self._legend is not None:
            width = scale_strip_width(self._legend, self.font())
        return QSize(math.ceil(width), 5 * GRID)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._legend is not None and self._style is not None:
            with QPainter(self) as painter:
                draw_scale_strip(painter, QRectF(self.rect()), self._style, self._legend)
