"""The picture of links: painted bit by bit, pointed at, scrolled where the text is long."""

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QWidget

from transformer_viz.drawing.labels import describe_at
from transformer_viz.drawing.theme import Theme
from transformer_viz.links.draw_links import draw_curves, draw_tokens, fading
from transformer_viz.links.link_choice import Indices
from transformer_viz.links.link_scene import LinksPicture, LinksScene
from transformer_viz.state.selection import Cell
from transformer_viz.widgets.picture_area import PictureArea
from transformer_viz.words.wording import token_name

SLICE = 0.005  # seconds that painting links may take of the event loop at a time
REFRESH = 0.05  # … between two looks at a picture that is growing
_AT_ONCE = 32  # links painted between two looks at the clock
_STALE = 0.55  # how much of a picture goes over into the paper while a newer one is on its way
NOTHING: Cell = (None, None)


class LinksCanvas(PictureArea):
    """The links are painted once, into a picture behind the labels, heaviest first and each
    lighter one below; so the essential is there at once however many there are. What is pointed
    at is painted over it."""

    hovered = Signal(object, object)  # query, key: int | None, of the picture
    clicked = Signal(object, object, bool)  # … and whether beside what is pinned

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture: LinksPicture | None = None
        self._scene: LinksScene | None = None
        self._hover: Cell = NOTHING
        self._pins: tuple[Cell, ...] = ()
        self._stale = False
        self._layer = QPixmap()  # the links in sight, on nothing
        self._waiting: Indices = np.zeros(0, np.intp)  # those not yet in it, lightest first
        self._looked = 0.0  # when the growing picture was last shown
        self._more = QTimer(self, singleShot=True, interval=0)
        self._more.timeout.connect(self._continue)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.setSingleStep(self.fontMetrics().height())
            bar.valueChanged.connect(self._begin)

    # What is shown

    @property
    def picture(self) -> LinksPicture | None:
        return self._picture

    @property
    def scene(self) -> LinksScene | None:
        """The picture as it is laid out now."""
        return self._scene

    @property
    def pins(self) -> tuple[Cell, ...]:
        return self._pins

    @property
    def complete(self) -> bool:
        """Whether every link in sight is painted."""
        return not len(self._waiting)

    def set_picture(self, picture: LinksPicture | None) -> None:
        self._picture = picture
        self._lay_out()

    def set_marks(self, hover: Cell, pins: Sequence[Cell]) -> None:
        """What is pointed at and what is pinned, as queries and keys of the picture."""
        if (hover, tuple(pins)) != (self._hover, self._pins):
            self._hover, self._pins = hover, tuple(pins)
            self.viewport().update()

    def set_stale(self, stale: bool) -> None:
        if stale != self._stale:
            self._stale = stale
            self.viewport().update()

    def apply_theme(self, theme: Theme) -> None:
        super().apply_theme(theme)
        self._begin()

    def marked_cells(self) -> tuple[Cell, ...]:
        """What stands out: what is pointed at, else what is pinned."""
        return (self._hover,) if self._hover != NOTHING else self._pins

    def reveal(self, query: int) -> None:
        """Scroll until a query is in sight."""
        if self._scene is not None:
            layout = self._scene.layout
            box = layout.label_rect(layout.queries, query).toAlignedRect()
            bar = self.verticalScrollBar() if layout.vertical else self.horizontalScrollBar()
            low, high = (box.top(), box.bottom()) if layout.vertical else (box.left(), box.right())
            if low < bar.value() + layout.head:
                bar.setValue(low - bar.pageStep() // 4)
            elif high > bar.value() + bar.pageStep():
                bar.setValue(high - 3 * bar.pageStep() // 4)

    # Layout and painting

    def _lay_out(self) -> None:
        picture, view = self._picture, self.viewport().size()
        self._scene = (
            LinksScene(picture, self.font(), QSizeF(view), before=self._scene) if picture else None
        )
        size = view if self._scene is None else self._scene.layout.size.toSize()
        for bar, whole, part in (
            (self.horizontalScrollBar(), size.width(), view.width()),
            (self.verticalScrollBar(), size.height(), view.height()),
        ):
            bar.setRange(0, max(0, whole - part))
            bar.setPageStep(part)
        self._begin()

    def _begin(self) -> None:
        """Forget the painted links, and paint those that are in sight now."""
        ratio = self.devicePixelRatioF()
        self._layer = QPixmap(self.viewport().size() * ratio)
        self._layer.setDevicePixelRatio(ratio)
        self._layer.fill(Qt.GlobalColor.transparent)
        self._waiting = np.zeros(0, np.intp)
        if self._scene is not None:
            self._waiting = self._scene.within(self._visible())
            self._paint_links()
        self.viewport().update()

    def _continue(self) -> None:
        if not self.complete:
            self._paint_links()
            if self.complete or perf_counter() > self._looked + REFRESH:
                self._looked = perf_counter()
                self.viewport().update()

    def _paint_links(self) -> None:
        """Add links to the layer, the next heaviest below those that are there, for a while."""
        assert self._scene is not None
        end = perf_counter() + SLICE
        with QPainter(self._layer) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_DestinationOver)
            painter.translate(-self.offset())
            while len(self._waiting) and perf_counter() < end:
                some = self._waiting[: -_AT_ONCE - 1 : -1]
                draw_curves(painter, self._scene, self.theme, some)
                self._waiting = self._waiting[: -len(some)]
        if len(self._waiting):
            self._more.start()

    def _visible(self) -> QRectF:
        return QRectF(self.viewport().rect()).translated(QPointF(self.offset()))

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.fillRect(self.viewport().rect(), self.theme.color("paper"))
            if self._scene is not None:
                self._paint(painter, self._scene)

    def _paint(self, painter: QPainter, scene: LinksScene) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        cells = self.marked_cells()
        painter.setOpacity(1 - fading(scene, cells))
        painter.drawPixmap(0, 0, self._layer)
        painter.setOpacity(1.0)
        painter.save()
        painter.translate(-self.offset())
        if cells:
            seen = scene.within(self._visible())
            marked = seen[scene.marked(cells)[seen]]
            draw_curves(painter, scene, self.theme, marked, marked=True)
        draw_tokens(painter, scene, self.theme, self._visible(), cells)
        painter.restore()
        if self._stale:
            veil = self.theme.color("paper")
            veil.setAlphaF(_STALE)
            painter.fillRect(self.viewport().rect(), veil)
        if self.hasFocus():
            painter.setPen(QPen(self.theme.color("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.viewport().rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    # Events

    def press(self, point: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        beside = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        self.clicked.emit(*self._cell_at(point), beside)

    def hover(self, point: QPoint | None) -> None:
        self.hovered.emit(*(NOTHING if point is None else self._cell_at(point)))

    def _on_headings(self, scene: LinksScene, point: QPoint) -> bool:
        return point.y() - self.offset().y() < scene.layout.head

    def explanation(self, point: QPoint) -> str:
        if self._scene is None or self._on_headings(self._scene, point):
            return ""
        picture, at = self._scene.picture, QPointF(point)
        query, key = self._scene.token_at(at)
        if query is not None:
            return describe_at(picture.queries, query)
        if key is not None:
            return describe_at(picture.keys, key)
        link = self._link_at(at)
        if link is None:
            return ""
        links = picture.links
        ends = picture.queries[links.query[link]], picture.keys[links.key[link]]
        name = picture.names[links.series[link]]
        weight = f"{picture.noun} {links.weight[link]:.4f}"
        return f"{' → '.join(map(token_name, ends))}\n{name}\n{weight}"

    def _cell_at(self, point: QPoint) -> Cell:
        """The token, else the link under a point that is not on the headings."""
        if self._scene is None or self._on_headings(self._scene, point):
            return NOTHING
        cell = self._scene.token_at(QPointF(point))
        link = self._link_at(QPointF(point)) if cell == NOTHING else None
        if link is None:
            return cell
        links = self._scene.picture.links
        return int(links.query[link]), int(links.key[link])

    def _link_at(self, point: QPointF) -> int | None:
        """Of links that stand out only those can be pointed at."""
        assert self._scene is not None
        if self._pins:
            among = self._scene.marked(self._pins)
        else:
            among = np.ones(len(self._scene.picture.links), np.bool_)
        return self._scene.link_at(point, among)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # the view around the canvas knows what keys mean
