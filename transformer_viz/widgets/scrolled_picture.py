"""A picture with a fixed height for each width, which is scrolled where that is too much."""

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent

from transformer_viz.drawing.heading import Heading
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.widgets.picture_area import PictureArea

_STALE = 0.55  # how much of a picture goes over into the paper while a newer one is on its way


class ScrolledPicture(PictureArea):
    """Subclasses say how large the picture is and paint it from the painter's origin."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._stale = False
        self._fixed = 0.0  # the height of what stays at the top
        self.setAccessibleName(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)

    @property
    def has_picture(self) -> bool:
        raise NotImplementedError

    def picture_size(self, width: int) -> QSize:
        """Return the size for a room of this width; it may be wider."""
        raise NotImplementedError

    def draw(self, painter: QPainter, size: QSize) -> None:
        """Paint all of the picture, without its ground, on any device."""
        raise NotImplementedError

    def draw_fixed(self, painter: QPainter, size: QSize, top: float) -> float:
        """Paint what stays at the top of the room that the picture is scrolled in, from `top` of
        the picture, and return its height."""
        return 0.0

    def current_rect(self) -> QRectF | None:
        """Return what the keys move, in the picture."""
        raise NotImplementedError

    @property
    def size_now(self) -> QSize:
        return self.picture_size(self.viewport().width())

    def paint_below(self, heading: Heading, painter: QPainter, rect: QRect, theme: Theme) -> None:
        """Paint heading and picture into a rectangle of `size_with`, as for a file."""
        above = heading.height(rect.width())
        painter.save()
        painter.fillRect(rect, theme.color("paper"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(rect.topLeft())
        heading.draw(painter, rect.width(), theme)
        painter.translate(0, above)
        self.draw(painter, QSize(rect.width(), rect.height() - above))
        painter.restore()

    def size_with(self, heading: Heading) -> QSize:
        """Return the size of the picture with its heading."""
        size = self.size_now
        return size + QSize(0, heading.height(size.width()))

    def picture_changed(self) -> None:
        self._fit()
        self.viewport().update()

    def set_stale(self, stale: bool) -> None:
        if stale != self._stale:
            self._stale = stale
            self.viewport().update()

    def reveal(self) -> None:
        """Scroll until what the keys move is in view."""
        rect = self.current_rect()
        if rect is None:
            return
        for bar, low, high, room in (
            (
                self.verticalScrollBar(),
                rect.top() - self._fixed,
                rect.bottom(),
                self.viewport().height(),
            ),
            (self.horizontalScrollBar(), rect.left(), rect.right(), self.viewport().width()),
        ):
            bar.setValue(round(max(high - room, min(bar.value(), low))))

    def minimumSizeHint(self) -> QSize:
        return QSize(60 * GRID, 40 * GRID)

    def _fit(self) -> None:
        """Give the scroll bars the picture's size."""
        if not self.has_picture:
            return
        size, room = self.size_now, self.viewport().size()
        for bar, need, has in (
            (self.verticalScrollBar(), size.height(), room.height()),
            (self.horizontalScrollBar(), size.width(), room.width()),
        ):
            bar.setRange(0, max(0, need - has))
            bar.setPageStep(has)
            bar.setSingleStep(6 * GRID)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), self.theme.color("paper"))
            if not self.has_picture:
                return
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.save()
            painter.translate(-QPointF(self.offset()))
            self.draw(painter, self.size_now)
            frame = self.current_rect() if self.hasFocus() else None
            if frame is not None:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(self.theme.color("accent"), 1))
                painter.drawRect(frame.adjusted(0.5, 0.5, -0.5, -0.5))
            self._fixed = self.draw_fixed(painter, self.size_now, float(self.offset().y()))
            painter.restore()
            if self._stale:
                veil = self.theme.color("paper")
                veil.setAlphaF(_STALE)
                painter.fillRect(event.rect(), veil)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.picture_changed()
