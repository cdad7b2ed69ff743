"""How far the heads look on this text: its far links, and their weight by distance."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QStackedLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.trace.reach import FarLink, Reach, reach
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.heading import Heading
from transformer_viz.drawing.numbers import percent
from transformer_viz.session import Phase, Session
from transformer_viz.stretching import Stretching
from transformer_viz.theme import GRID, Theme, scaled_font
from transformer_viz.views.elided_label import ElidedLabel
from transformer_viz.views.far_links import FarLinks
from transformer_viz.views.head_choice import only, toggled
from transformer_viz.views.picture import Picture
from transformer_viz.views.placeholder import Placeholder
from transformer_viz.views.position_page import label
from transformer_viz.views.reach_histograms import ReachHistograms
from transformer_viz.views.reach_options import ReachOptions
from transformer_viz.views.stage_view import StageView
from transformer_viz.views.stream import Stream
from transformer_viz.views.stretch_bar import StretchBar
from transformer_viz.views.wording import LONG_TITLES, heads_title

INLINE_CELLS = 40_000
"""So many cells of all heads are looked at at once; more of them beside the event loop."""

LINKS, DISTANCES = range(2)
_PAGES = {
    LINKS: ("Far links", "The heaviest links of the text over a chosen distance"),
    DISTANCES: ("Distances", "How much of its weight each head puts at which distance"),
}
_TEXTS = {
    AttentionKind.ENCODER_SELF: ("Source", "The encoder's self-attention"),
    AttentionKind.DECODER_SELF: ("Translation", "The decoder's self-attention"),
}
_NOTHING_FAR = "No link reaches that far here; choose a shorter distance or a longer text."


class ReachView(StageView):
    """↑ ↓ in the list go from link to link and select each; Esc takes out the words that are
    pushed in, else releases the link."""

    def __init__(self, session: Session, stretching: Stretching) -> None:
        super().__init__(session)
        self._stretching = stretching
        self._of: tuple[Trace, AttentionKind] | None = None
        self._wanted: object = None  # what the result is to be of
        self._reach: Reach | None = None
        self._heads: tuple[Head, ...] = ()  # those that it is of when it is complete
        self._looked_at = 0
        self._stream = Stream(self)
        self._stream.arrived.connect(self._take)
        self._stream.finished.connect(self._show)
        self.far_links = FarLinks()
        self.histograms = ReachHistograms()
        self.options = ReachOptions(session)
        self.stretch_bar = StretchBar(session, stretching)
        self._build()
        self.far_links.hovered.connect(self._on_hover)
        self.far_links.chosen.connect(self._on_chosen)
        self.histograms.headClicked.connect(self._on_head)
        self.histograms.headMoved.connect(self._on_move)
        for changed in (
            session.traceChanged,
            session.selectionChanged,
            session.optionsChanged,
            session.statusChanged,
        ):
            changed.connect(self.invalidate)

    def _build(self) -> None:
        self._title = ElidedLabel("title")
        self._title.setFont(scaled_font(self.font(), 1.15, bold=True))
        self._state = label("soft")
        self.caption = label("soft", wrap=True)
        self._error = label("error", wrap=True)
        self.pages, self.texts = QButtonGroup(self), QButtonGroup(self)
        self._stack = QStackedWidget()
        bar = QHBoxLayout()
        bar.setSpacing(GRID)
        for number, words in _PAGES.items():
            bar.addWidget(_segment(self.pages, number, *words))
        self._stack.addWidget(self.far_links)
        self._stack.addWidget(self.histograms)
        bar.addStretch(1)
        for number, words in enumerate(_TEXTS.values()):
            bar.addWidget(_segment(self.texts, number, *words))
        self.pages.button(LINKS).setChecked(True)
        self.pages.idClicked.connect(self.show_page)
        self.texts.idClicked.connect(self._choose_text)
        head = QHBoxLayout()
        head.setSpacing(3 * GRID)
        head.addWidget(self._title, 3)
        head.addWidget(self._state, 1)
        self._state.setAlignment(Qt.AlignmentFlag.AlignRight)
        header = QVBoxLayout()
        header.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        header.setSpacing(GRID)
        header.addLayout(bar)
        header.addSpacing(GRID)
        header.addLayout(head)
        for widget in (self.stretch_bar, self.options, self.caption, self._error):
            header.addWidget(widget)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 3 * GRID, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(header)
        column.addWidget(self._stack, 1)
        self._placeholder = Placeholder()
        self._outer = QStackedLayout(self)
        self._outer.addWidget(self._placeholder)
        self._outer.addWidget(page)

    def apply_theme(self, theme: Theme) -> None:
        for part in (self.far_links, self.histograms, self.options):
            part.apply_theme(theme)
        super().apply_theme(theme)

    def focus_part(self) -> QWidget:
        return self.far_links.list if self.page == LINKS else self.histograms

    @property
    def page(self) -> int:
        return self.pages.checkedId()

    def show_page(self, page: int) -> None:
        self.pages.button(page).setChecked(True)
        self._stack.setCurrentIndex(page)
        self.invalidate()

    # From the session

    @property
    def kind(self) -> AttentionKind:
        """Whose text is looked at: cross-attention has no distances, so the encoder's then."""
        kind = self.session.selection.kind
        return AttentionKind.ENCODER_SELF if kind is AttentionKind.CROSS else kind

    @property
    def result(self) -> Reach | None:
        """What is shown; of some of the heads while a first one is being computed."""
        return self._reach

    def refresh(self) -> None:
        trace, options = self.session.trace, self.session.options
        of = None if trace is None or self.kind not in trace.kinds else (trace, self.kind)
        if of != self._of:
            self._stream.stop()
            self._of, self._wanted, self._reach = of, None, None
        if of is not None:
            wanted = options.reach_distance, options.reach_specials
            if wanted != self._wanted:
                self._wanted = wanted
                self._compute(*of)
        self._show()

    def _compute(self, trace: Trace, kind: AttentionKind) -> None:
        """Anew; what is there of the same text stays until then."""
        options = self.session.options
        self._heads, self._looked_at = trace.every_head(kind), 0
        steps = reach(
            trace,
            self._heads,
            distance=max(1, options.reach_distance),
            specials=options.reach_specials,
        )
        self._stream.stop()
        if len(self._heads) * len(trace.query_tokens(kind)) ** 2 <= INLINE_CELLS:
            *_, self._reach = steps
        else:
            self._stream.start(steps)

    def _take(self, part: Reach) -> None:
        self._looked_at = len(part.profiles)
        shown = self._reach
        partial = shown is None or len(shown.profiles) < len(self._heads)
        if partial or self._looked_at == len(self._heads):
            self._reach = part
        self._show()

    def _show(self) -> None:
        session, status = self.session, self.session.status
        if self._of is None or self._reach is None:
            self._outer.setCurrentIndex(0)
            if session.trace is None:
                self._placeholder.show_status(status)
            elif self._of is None:
                self._placeholder.say("No self-attention here", "Distance is within one text.")
            else:
                self._placeholder.say("", "")
            return
        self._outer.setCurrentIndex(1)
        trace, kind = self._of
        busy, failed = status.phase is Phase.BUSY, status.phase is Phase.FAILED
        looking = f"{self._looked_at} of {len(self._heads)} heads …" * self._stream.running
        self._state.setText(status.message if busy else looking)
        self._error.setText(f"⚠ {status.message}")
        self._error.setVisible(failed)
        for number, one in enumerate(_TEXTS):
            self.texts.button(number).setChecked(one is kind)
            self.texts.button(number).setEnabled(one in trace.kinds)
        self.options.show_links(self.page == LINKS)
        self.far_links.set_stale(busy or self._stream.running)
        if self.page == LINKS:
            self._show_links(trace, kind, self._reach)
        else:
            self._show_distances(kind, self._reach)

    def _show_links(self, trace: Trace, kind: AttentionKind, found: Reach) -> None:
        selection, options = self.session.selection, self.session.options
        cell = (selection.primary, selection.query, selection.key)
        selected = next(
            (n for n, one in enumerate(found.links) if (one.head, one.query, one.key) == cell),
            None,
        )
        self.far_links.show_links(
            trace.query_tokens(kind),
            found.links,
            selection.heads if selection.kind is kind else (),
            selected,
            options.reach_kernel,
        )
        heads = f"{len(found.profiles)} heads"
        self._title.setText(f"{LONG_TITLES[kind]} · {heads}")
        left_out = "" if options.reach_specials else ", without special tokens"
        if found.links:
            self.caption.setText(
                f"The {len(found.links)} heaviest links over {options.reach_distance} tokens or "
                f"more{left_out}. Blue: the selected head; a dot marks the key. At the right: the "
                "steps from key to query in each kind of network (the paper, table 1)."
            )
        else:
            self.caption.setText(_NOTHING_FAR)

    def _show_distances(self, kind: AttentionKind, found: Reach) -> None:
        selection = self.session.selection
        heads = selection.heads if selection.kind is kind else self._heads
        shown = [found.profiles[head] for head in heads if head in found.profiles]
        self.histograms.show_reach(found, heads)
        self._title.setText(heads_title(heads, averaged=True))
        if shown:
            mean = sum(one.mean for one in shown) / len(shown)
            special = sum(one.special for one in shown) / len(shown)
            text = f"Mean distance {mean:.1f} tokens; spread evenly {found.even.mean:.1f}."
            if not self.session.options.reach_specials:
                text += f" Left out: {percent(special)} on special tokens."
            self.caption.setText(text)

    # From the user

    def _choose_text(self, number: int) -> None:
        self.session.select(kind=list(_TEXTS)[number])

    def _on_hover(self, link: FarLink | None) -> None:
        if self.session.selection.kind is self.kind:
            self.session.set_hover(*(None, None) if link is None else (link.query, link.key))

    def _on_chosen(self, link: FarLink | None) -> None:
        """Select the head with the link; clicking beside all arcs releases it."""
        if link is None:
            self.session.release()
            return
        kind, layer, head = link.head
        self.session.select(
            kind=kind, layer=layer, head=head, query=link.query, key=link.key, pins=()
        )

    def _on_head(self, head: Head, beside: bool) -> None:
        selection = self.session.selection
        change = toggled([head], selection) if beside else only([head], selection)
        self.session.select(**change)

    def _on_move(self, layers: int, heads: int) -> None:
        selection = self.session.selection
        self.session.select(
            kind=self.kind, layer=selection.layer + layers, head=selection.head + heads
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._stretching.active:
            self._stretching.restore()
        elif event.key() == Qt.Key.Key_Escape:
            self.session.release()
        else:
            super().keyPressEvent(event)

    # For a file

    @property
    def has_picture(self) -> bool:
        return self._reach is not None

    def export_name(self) -> str:
        return _PAGES[self.page][0].lower()

    def export_size(self) -> QSize:
        size = self._picture.size()
        return size + QSize(0, self._heading.height(size.width()))

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        """Title, caption, and the arcs or the histograms."""
        painter.save()
        painter.fillRect(rect, self.theme.color("paper"))
        painter.translate(rect.topLeft())
        self._heading.draw(painter, rect.width(), self.theme)
        painter.translate(0, self._heading.height(rect.width()))
        self._picture.paint(painter)
        painter.restore()

    @property
    def _picture(self) -> Picture:
        return self.far_links.arcs if self.page == LINKS else self.histograms

    @property
    def _heading(self) -> Heading:
        return Heading(self._title.text(), self.caption.text(), self.font())


def _segment(group: QButtonGroup, number: int, text: str, tip: str) -> QPushButton:
    """One of buttons of which one is down."""
    button = QPushButton(text)
    button.setCheckable(True)
    button.setToolTip(tip)
    button.setFixedHeight(7 * GRID)
    group.addButton(button, number)
    return button
