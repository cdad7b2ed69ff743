"""The paper's Figures 3 to 5, alive: who looks at whom, one colour for each head."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from transformer_viz.drawing.heading import Heading
from transformer_viz.drawing.legend import Legend
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.quantities import Found, Quantities
from transformer_viz.engine.stream import Stream
from transformer_viz.links.draw_links import draw_links, series_color
from transformer_viz.links.head_legend import HeadLegend
from transformer_viz.links.link_choice import touching
from transformer_viz.links.link_pictures import Chosen, Groups, caption, groups_of, pictures
from transformer_viz.links.links_canvas import NOTHING, LinksCanvas
from transformer_viz.links.links_options import LinksOptions, shown_form
from transformer_viz.state.options import Combine, LinksForm, Quantity
from transformer_viz.state.session import Phase, Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.head_pictures import map_axes
from transformer_viz.widgets.placeholder import ONLY_SPECIALS, Placeholder
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_size import set_font
from transformer_viz.words.quantity_wording import map_title
from transformer_viz.words.wording import describe_selection

INLINE_CELLS = 100_000
"""Links out of so many cells are chosen at once; out of more beside the event loop."""

_PAGE = 10  # queries that Page Up and Page Down move
_PAGES = {Qt.Key.Key_PageUp: -_PAGE, Qt.Key.Key_PageDown: _PAGE}
_VERTICAL = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_HORIZONTAL = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class Links(StageView):
    """The view of links. Hover over a token to see its links with their weights, click to pin it,
    Ctrl+click to pin another, Esc to release all.

    Arrows along the text move the pinned query, Home and End to its ends; arrows across it go
    through the query's links from the heaviest on.
    """

    def __init__(
        self, session: Session, quantities: Quantities, parent: QWidget | None = None
    ) -> None:
        super().__init__(session, parent)
        self._quantities = quantities
        self._of: object = None  # the trace and the kind that the links are of
        self._wanted: object = None  # what they are chosen by
        self._revealed: object = None  # the pinned query that was last scrolled to
        self._chosen: Chosen | None = None
        self._stream = Stream(self)
        self._stream.arrived.connect(self._show_chosen)
        self._stream.finished.connect(self._show_state)

        self.canvas = LinksCanvas()
        self.canvas.setAccessibleName("Attention links")
        self.options = LinksOptions(session)
        self.legend = HeadLegend(session)
        self._build_layout()

        self.canvas.hovered.connect(self._on_hover)
        self.canvas.clicked.connect(self._on_click)
        quantities.changed.connect(self.invalidate)
        session.selectionChanged.connect(self.invalidate)
        session.optionsChanged.connect(self.invalidate)
        session.statusChanged.connect(self.invalidate)
        session.hoverChanged.connect(self._follow_pointer)

    def _build_layout(self) -> None:
        self._title = ElidedLabel("title")
        set_font(self._title, 1.15, bold=True)
        self._state, self._error = _label("soft"), _label("error")
        self._state.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.caption = _label("soft")
        self.caption.setWordWrap(True)
        self._placeholder = Placeholder()
        head = QHBoxLayout()
        head.setSpacing(3 * GRID)
        head.addWidget(self._title, 1)
        head.addWidget(self._state)
        self._header = QWidget()
        header = QVBoxLayout(self._header)
        header.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        header.setSpacing(GRID)
        header.addLayout(head)
        for widget in (self.options, self.legend, self.caption, self._error):
            header.addWidget(widget)
        self._pages = QStackedLayout()
        self._pages.addWidget(self._placeholder)
        self._pages.addWidget(self.canvas)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 3 * GRID, 0, 0)
        column.setSpacing(2 * GRID)
        column.addWidget(self._header)
        column.addLayout(self._pages, 1)

    def apply_theme(self, theme: Theme) -> None:
        self.canvas.apply_theme(theme)
        self.legend.apply_theme(theme)
        super().apply_theme(theme)

    def focus_part(self) -> QWidget:
        return self.canvas

    # From the session

    @property
    def _form(self) -> LinksForm:
        return shown_form(self.session.options.links_form, self.session.selection.kind)

    def refresh(self) -> None:
        selection, options = self.session.selection, self.session.options
        found = self._quantities.of_heads
        groups = groups_of(selection, options) if found is not None else ()
        wanted = (
            *(found, groups, options.threshold, options.hide_specials, options.merge_words),
            *(self._form, options.links_mass, options.links_distance),
        )
        if wanted != self._wanted:
            self._stream.stop()
            if (found, selection.kind) != self._of:
                self._of = found, selection.kind
                self._chosen = None
                self.canvas.set_picture(None)
            self._wanted = wanted
            self._choose(found, groups)
        self._show_state()
        self._show_marks()
        self._reveal_pin()

    def _choose(self, found: Found | None, groups: Groups) -> None:
        """Choose the links anew; until they are there those before them stay."""
        options, kind = self.session.options, self.session.selection.kind
        axes = map_axes(found.trace, kind, options) if found is not None else None
        if found is None or axes is None or axes.empty:
            self._chosen = None
            self.canvas.set_picture(None)
            return
        heads = sum(len(group) for group in groups)
        cells = heads * found.trace.allowed(kind).size
        steps = pictures(found, groups, axes, self._form, options)
        if cells <= INLINE_CELLS:
            *_, last = steps
            self._show_chosen(last)
        else:
            self._stream.start(steps)

    def _show_chosen(self, chosen: Chosen) -> None:
        self._chosen = chosen
        self.canvas.set_picture(chosen.picture)
        self._show_state()
        self._show_marks()
        self._reveal_pin()

    def _show_state(self) -> None:
        status, trace = self.session.status, self.session.trace
        busy, failed = status.phase is Phase.BUSY, status.phase is Phase.FAILED
        selection, options = self.session.selection, self.session.options
        averaged = options.combine is Combine.MEAN
        shown = self._chosen is not None
        self._header.setVisible(trace is not None)
        self._pages.setCurrentIndex(int(shown))
        found = self._quantities.of_heads
        if found is not None:
            title = map_title(found.quantity, selection.heads, averaged=averaged)
            self._title.setText(title)
        if self._chosen is not None:
            self.caption.setText(caption(selection.kind, options, self._chosen))
        self.caption.setVisible(shown and not failed)
        self._error.setVisible(failed)
        self._error.setText(f"⚠ {status.message}")
        if trace is None:
            self._placeholder.show_status(status)
        elif self._stream.running or found is None:
            self._placeholder.say("", "")
        else:
            self._placeholder.say(*ONLY_SPECIALS)
        self.canvas.set_stale(busy or self._stream.running)
        self._state.setText(status.message if busy else "Drawing…" * self._stream.running)

    def _follow_pointer(self) -> None:
        if self.isVisible():
            self._show_marks()

    def _show_marks(self) -> None:
        if self._chosen is None:
            return
        axes, selection = self._chosen.axes, self.session.selection
        pins = [axes.cell(*cell) for cell in selection.pinned]
        hover = axes.cell(*self.session.hover)
        self.canvas.set_marks(hover, [pin for pin in pins if pin != NOTHING])
        announce(self.canvas, describe_selection(self.session))

    def _reveal_pin(self) -> None:
        """Scroll to the pinned query, once: all other links are faint, and it may lie far off."""
        if self._chosen is None:
            return
        selection = self.session.selection
        query, _ = self._chosen.axes.cell(selection.query, selection.key)
        place = self._of, self._form, query
        if place != self._revealed and query is not None:
            self.canvas.reveal(query)
        self._revealed = place

    # From the user

    def _on_hover(self, query: int | None, key: int | None) -> None:
        if self._chosen is not None:
            self.session.set_hover(*self._chosen.axes.tokens(query, key))

    def _on_click(self, query: int | None, key: int | None, beside: bool) -> None:
        """Pin the token or the link, in place of the others or beside them; clicking the one that
        is pinned releases it, and clicking nothing releases all."""
        if self._chosen is None:
            return
        axes, session = self._chosen.axes, self.session
        pinned = session.selection.pinned
        there = [pin for pin in pinned if axes.cell(*pin) == (query, key) != NOTHING]
        if there and (beside or len(pinned) == 1):
            session.unpin(*there[0])
        elif (query, key) != NOTHING:
            session.pin(*axes.tokens(query, key), add=beside)
        elif not beside:
            session.release()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        along, across = _VERTICAL, _HORIZONTAL
        if self._form is not LinksForm.COLUMNS:
            along, across = across, along
        if key == Qt.Key.Key_Escape:
            self.session.release()
        elif self._chosen is None:
            super().keyPressEvent(event)
        elif key in along or key in _PAGES:
            self._move(self._chosen, (along | _PAGES)[key])
        elif key in across:
            self._step(self._chosen, across[key])
        elif key == Qt.Key.Key_Home:
            self._pin(self._chosen, 0, None)
        elif key == Qt.Key.Key_End:
            self._pin(self._chosen, len(self._chosen.axes.rows) - 1, None)
        else:
            super().keyPressEvent(event)

    def _move(self, chosen: Chosen, queries: int) -> None:
        """Pin another query, the first one if none was in focus."""
        query, _ = chosen.axes.cell(*self.session.focus)
        last = len(chosen.axes.rows) - 1
        self._pin(chosen, 0 if query is None else max(0, min(query + queries, last)), None)

    def _step(self, chosen: Chosen, links: int) -> None:
        """Pin another link of the query in focus, the heaviest one first."""
        query, key = chosen.axes.cell(*self.session.focus)
        every = chosen.picture.links
        keys = list(dict.fromkeys(every.key[touching(every, query, None)][::-1].tolist()))
        if query is not None and keys:
            place = keys.index(key) + links if key in keys else 0
            self._pin(chosen, query, keys[max(0, min(place, len(keys) - 1))])

    def _pin(self, chosen: Chosen, query: int, key: int | None) -> None:
        self.session.set_hover(None, None)
        self.session.pin(*chosen.axes.tokens(query, key))
        self.canvas.reveal(query)

    # For a file

    @property
    def has_picture(self) -> bool:
        return self.canvas.scene is not None

    def export_name(self) -> str:
        found = self._quantities.of_heads
        moved = found is not None and found.quantity is Quantity.NORM
        return super().export_name() + " norm moved" * moved

    def export_size(self) -> QSize:
        """Return the size of all of a picture that is scrolled here."""
        assert self.canvas.scene is not None
        size = self.canvas.scene.layout.size.toSize()
        width = size.width()
        return size + QSize(0, self._heading.height(width) + self._legend.height(width))

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        """Paint title, caption, the colours of the heads and the links with what is pinned."""
        scene = self.canvas.scene
        assert scene is not None
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(rect, self.theme.color("paper"))
        painter.translate(rect.topLeft())
        for part in (self._heading, self._legend):
            part.draw(painter, rect.width(), self.theme)
            painter.translate(0, part.height(rect.width()))
        draw_links(painter, scene, self.theme, self.canvas.pins)
        painter.restore()

    @property
    def _heading(self) -> Heading:
        return Heading(self._title.text(), self.caption.text(), self.font())

    @property
    def _legend(self) -> Legend:
        picture = self.canvas.picture
        if picture is None or picture.series == 1:
            return Legend((), self.font())
        colors = (series_color(picture, self.theme, series) for series in range(picture.series))
        return Legend(tuple(zip(colors, picture.names, strict=True)), self.font())


def _label(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    label.setSizePolicy(policy)
    set_role(label, role)
    return label
