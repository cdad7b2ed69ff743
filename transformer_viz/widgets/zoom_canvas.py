"""A canvas that shows a large drawing in part: scrolled, zoomed, and panned."""

import math

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea

from transformer_viz.drawing.theme import GRID

_SMALLEST, _LARGEST, _ZOOM_STEP = 0.05, 4.0, 1.25
_AROUND = 4 * GRID  # pixels kept free around what is scrolled into view


class ZoomCanvas(QAbstractScrollArea):
    """Ctrl+wheel, + and − zoom, 0 shows all of it. A subclass says how large its drawing is."""

    def __init__(self, *, centered: bool = False) -> None:
        """`centered`: a drawing smaller than the viewport is in its middle, not in its corner."""
        super().__init__()
        self.zoom = 1.0
        self._centered = centered
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setAutoFillBackground(False)

    def drawing_size(self) -> QSizeF:
        """Return the size of the drawing at zoom 1, in logical pixels."""
        raise NotImplementedError

    def whole_size(self) -> QSize:
        """Return the size of the drawing at zoom 1, in whole pixels."""
        size = self.drawing_size()
        return QSize(math.ceil(size.width()), math.ceil(size.height()))

    def set_zoom(self, zoom: float, at: QPointF | None = None) -> None:
        """Keep what is at a point of the viewport, else at its middle, in its place."""
        at = at or QRectF(self.viewport().rect()).center()
        place = self.drawing_point(at)
        self.zoom = max(_SMALLEST, min(zoom, _LARGEST))
        self.fit_scroll_bars()
        target = place * self.zoom - at
        self.horizontalScrollBar().setValue(round(target.x()))
        self.verticalScrollBar().setValue(round(target.y()))
        self.viewport().update()

    def fit(self, largest: float = 1.0) -> None:
        """Show the whole drawing, no larger than `largest` times its own size."""
        view, size = self.viewport().size(), self.drawing_size()
        if size.isEmpty():
            return
        whole = 0.999 * min(view.width() / size.width(), view.height() / size.height())
        self.set_zoom(largest if whole >= 0.999 * largest else whole)

    def zoom_to(self, rect: QRectF, largest: float = 2.0) -> None:
        """Show this part of the drawing as large as it fits."""
        view = self.viewport().size()
        fitting = min(view.width() / rect.width(), view.height() / rect.height())
        self.set_zoom(min(fitting, largest))
        middle = rect.center() * self.zoom - QRectF(self.viewport().rect()).center()
        self.horizontalScrollBar().setValue(round(middle.x()))
        self.verticalScrollBar().setValue(round(middle.y()))

    def reveal(self, rect: QRectF) -> None:
        """Scroll until this part of the drawing is in view."""
        box = self.in_viewport(rect).adjusted(-_AROUND, -_AROUND, _AROUND, _AROUND)
        view = QRectF(self.viewport().rect())
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        across.setValue(
            across.value() + round(min(0.0, box.left()) or max(0.0, box.right() - view.right()))
        )
        down.setValue(
            down.value() + round(min(0.0, box.top()) or max(0.0, box.bottom() - view.bottom()))
        )

    def offset(self) -> QPointF:
        """Return the place of the viewport in the zoomed drawing, in pixels."""
        scrolled = QPointF(self.horizontalScrollBar().value(), self.verticalScrollBar().value())
        if not self._centered:
            return scrolled
        free = QSizeF(self.viewport().size()) - self.drawing_size() * self.zoom
        return scrolled - QPointF(max(0.0, free.width() / 2), max(0.0, free.height() / 2))

    def drawing_point(self, point: QPointF) -> QPointF:
        """Return what point of the drawing a point of the viewport shows."""
        return (point + self.offset()) / self.zoom

    def in_viewport(self, rect: QRectF) -> QRectF:
        """Return where a part of the drawing is in the viewport."""
        corner = rect.topLeft() * self.zoom - self.offset()
        return QRectF(corner, rect.size() * self.zoom)

    def fit_scroll_bars(self) -> None:
        """Follow the size of the drawing."""
        view, size = self.viewport().size(), self.drawing_size() * self.zoom
        for bar, length, page in (
            (self.horizontalScrollBar(), math.ceil(size.width()), view.width()),
            (self.verticalScrollBar(), math.ceil(size.height()), view.height()),
        ):
            bar.setRange(0, max(0, length - page))
            bar.setPageStep(page)
            bar.setSingleStep(8 * GRID)

    def take_zoom_key(self, event: QKeyEvent) -> bool:
        """Zoom if that is what the key is for; says whether it was."""
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.set_zoom(self.zoom * _ZOOM_STEP)
            case Qt.Key.Key_Minus:
                self.set_zoom(self.zoom / _ZOOM_STEP)
            case Qt.Key.Key_0:
                self.fit()
            case _:
                return False
        return True

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_scroll_bars()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            steps = event.angleDelta().y() / 120
            self.set_zoom(self.zoom * _ZOOM_STEP**steps, event.position())
            event.accept()
        else:
            super().wheelEvent(event)
