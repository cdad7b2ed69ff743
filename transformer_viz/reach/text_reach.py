"""How far the heads look on the text that is shown: its far links, and their weight by distance."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QStackedWidget, QVBoxLayout, QWidget

from core.counted import counted
from core.trace.reach import FarLink, Reach, reach
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.heading import Heading
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.stream import Stream
from transformer_viz.reach.far_links import FarLinks
from transformer_viz.reach.reach_histograms import ReachHistograms
from transformer_viz.reach.reach_options import ReachOptions
from transformer_viz.reach.stretch_bar import StretchBar
from transformer_viz.reach.stretching import Stretching
from transformer_viz.state.head_choice import only, toggled
from transformer_viz.state.session import Phase, Session
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.picture import Picture
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.text_line import label
from transformer_viz.widgets.text_size import set_font
from transformer_viz.words.titles import LONG_TITLES
from transformer_viz.words.wording import heads_title

INLINE_CELLS = 40_000
"""So many cells of all heads are looked at at once; more of them beside the event loop."""

_NOTHING_FAR = "No link spans this distance; choose a shorter distance or a longer text."
_STEPS = " On the right: the steps from key to query in each kind of network (the paper, table 1)."
_NO_DISTANCE = "Distance is counted within one text, and this trace has no self-attention."


class TextReach(QWidget):
    """Two pages of one computation: the far links, and the distances."""

    def __init__(self, session: Session, stretching: Stretching) -> None:
        super().__init__()
        self._session = session
        self._of: tuple[Trace, AttentionKind] | None = None
        self._counted: tuple[bool, bool] | None = None  # whether specials and sinks are to count
        self._reach: Reach | None = None
        self._heads: tuple[Head, ...] = ()  # those that it is of when it is complete
        self._looked_at = 0
        self._stream = Stream(self)
        self._stream.arrived.connect(self._take)
        self._stream.finished.connect(self._show)
        self.stretch_bar = StretchBar(session, stretching)
        self.options = ReachOptions(session)
        self.far_links = FarLinks()
        self.histograms = ReachHistograms()
        self._build()
        self.far_links.hovered.connect(self._on_hover)
        self.far_links.chosen.connect(self._on_chosen)
        self.histograms.headClicked.connect(self._on_head)
        self.histograms.headMoved.connect(self._on_move)

    def _build(self) -> None:
        self._title = ElidedLabel("title")
        set_font(self._title, 1.15, bold=True)
        self._state = label("soft")
        self._state.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.caption = label("soft", wrap=True)
        self._error = label("error", wrap=True)
        head = QHBoxLayout()
        head.setSpacing(3 * GRID)
        head.addWidget(self._title, 3)
        head.addWidget(self._state, 1)
        header = QVBoxLayout()
        header.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        header.setSpacing(GRID)
        header.addLayout(head)
        for widget in (self.stretch_bar, self.options, self.caption, self._error):
            header.addWidget(widget)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.far_links)
        self._pages.addWidget(self.histograms)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(header)
        column.addWidget(self._pages, 1)
        self._placeholder = Placeholder()
        self._outer = QStackedLayout(self)
        self._outer.addWidget(self._placeholder)
        self._outer.addWidget(page)

    def apply_theme(self, theme: Theme) -> None:
        for part in (self.options, self.far_links, self.histograms):
            part.apply_theme(theme)

    def focus_part(self) -> QWidget:
        return self.histograms if self._shows_distances else self.far_links.list

    def show_page(self, *, distances: bool) -> None:
        self._pages.setCurrentIndex(int(distances))

    @property
    def _shows_distances(self) -> bool:
        return self._pages.currentIndex() == 1

    # From the session

    @property
    def kind(self) -> AttentionKind:
        """The kind whose text is looked at: cross-attention has no distances, so the encoder's
        then."""
        kind = self._session.selection.kind
        return AttentionKind.ENCODER_SELF if kind is AttentionKind.CROSS else kind

    @property
    def complete(self) -> bool:
        """Whether what is shown is of all heads, and as it is wanted."""
        return self._reach is not None and not self._stream.running

    def refresh(self) -> None:
        """Follow the session."""
        trace, options = self._session.trace, self._session.options
        of = None
        if trace is not None and self.kind in trace.kinds and trace.every_head(self.kind):
            of = trace, self.kind
        if of != self._of:
            self._stream.stop()
            self._of, self._counted, self._reach = of, None, None
        counted_ = options.reach_specials, options.reach_sinks
        if of is not None and counted_ != self._counted:
            self._counted = counted_
            self._compute(*of, specials=options.reach_specials, sinks=options.reach_sinks)
        self._show()

    def _compute(self, trace: Trace, kind: AttentionKind, *, specials: bool, sinks: bool) -> None:
        """Anew; what is there of the same text stays until then."""
        self._heads, self._looked_at = trace.every_head(kind), 0
        steps = reach(trace, self._heads, specials=specials, sinks=sinks)
        self._stream.stop()
        if len(self._heads) * len(trace.query_tokens(kind)) ** 2 <= INLINE_CELLS:
            *_, self._reach = steps
        else:
            self._stream.start(steps)

    def _take(self, part: Reach) -> None:
        """What is complete takes the place of what was; the first one is shown as it grows."""
        self._looked_at = len(part.profiles)
        before = self._reach
        grows = before is None or len(before.profiles) < len(self._heads)
        if grows or self._looked_at == len(self._heads):
            self._reach = part
        self._show()

    def _show(self) -> None:
        status, found = self._session.status, self._reach
        if self._of is None or found is None:
            self._outer.setCurrentIndex(0)
            if self._session.trace is None:
                self._placeholder.show_status(status)
            else:
                self._placeholder.say("", _NO_DISTANCE if self._of is None else "")
            return
        self._outer.setCurrentIndex(1)
        trace, kind = self._of
        busy = status.phase is Phase.BUSY
        looking = f"{self._looked_at} of {len(self._heads)} heads…" * self._stream.running
        self._state.setText(status.message if busy else looking)
        self._error.setText(f"⚠ {status.message}")
        self._error.setVisible(status.phase is Phase.FAILED)
        self.options.show_links(not self._shows_distances)
        self.far_links.set_stale(busy or self._stream.running)
        if self._shows_distances:
            self._show_distances(kind, found)
        else:
            self._show_links(trace, kind, found)

    def _show_links(self, trace: Trace, kind: AttentionKind, found: Reach) -> None:
        selection, options = self._session.selection, self._session.options
        heaviest = found.heaviest.over(max(1, options.reach_distance))
        links, chosen = heaviest, self._chosen_link(trace, kind)
        cells = [(link.head, link.query, link.key) for link in links]
        selected = None
        if chosen is not None:
            cell = (chosen.head, chosen.query, chosen.key)
            if cell not in cells:
                links, cells = (*links, chosen), [*cells, cell]
            selected = cells.index(cell)
        self.far_links.show_links(
            trace.query_tokens(kind),
            links,
            selection.heads if selection.kind is kind else (),
            selected,
            options.reach_kernel,
            [found.is_to_sink(link) for link in links],
        )
        self._title.setText(f"{LONG_TITLES[kind]} · {counted(len(found.profiles), 'head')}")
        left_out = ""
        if not (options.reach_specials and options.reach_sinks):
            without = ["special tokens"] * (not options.reach_specials)
            without += ["links to sinks"] * (not options.reach_sinks)
            left_out = f", without {' and '.join(without)}"
        self.caption.setText(
            f"The {len(heaviest)} largest links over {counted(options.reach_distance, 'token')} or "
            f"more{left_out}. Blue: the selected head; a dot marks the key.{_STEPS}"
            if heaviest
            else _NOTHING_FAR
        )

    def _chosen_link(self, trace: Trace, kind: AttentionKind) -> FarLink | None:
        """The pinned cell of the current head: it is followed even where others are heavier."""
        selection = self._session.selection
        query, key = selection.query, selection.key
        if selection.kind is not kind or query is None or key is None or query == key:
            return None
        weight = float(trace.row(*selection.primary, query)[key])
        return FarLink(selection.primary, query, key, weight)

    def _show_distances(self, kind: AttentionKind, found: Reach) -> None:
        selection = self._session.selection
        heads = selection.heads if selection.kind is kind else self._heads
        shown = [found.profiles[head] for head in heads if head in found.profiles]
        self.histograms.show_reach(found, heads)
        self._title.setText(heads_title(heads, averaged=True))
        if shown:
            mean = sum(one.mean for one in shown) / len(shown)
            special = sum(one.special for one in shown) / len(shown)
            text = f"Mean distance {mean:.1f} tokens; uniform attention {found.even.mean:.1f}."
            if not self._session.options.reach_specials:
                text += f" Left out: {percent(special)} on special tokens."
            self.caption.setText(text)

    # From the user

    def _on_hover(self, link: FarLink | None) -> None:
        if self._session.selection.kind is self.kind:
            self._session.set_hover(*(None, None) if link is None else (link.query, link.key))

    def _on_chosen(self, link: FarLink | None) -> None:
        """Select the head with the link; clicking beside all arcs releases it."""
        if link is None:
            self._session.release()
            return
        kind, layer, head = link.head
        self._session.select(
            kind=kind, layer=layer, head=head, query=link.query, key=link.key, pins=()
        )

    def _on_head(self, head: Head, beside: bool) -> None:
        selection = self._session.selection
        change = toggled([head], selection) if beside else only([head], selection)
        self._session.select(**change)

    def _on_move(self, layers: int, heads: int) -> None:
        selection = self._session.selection
        self._session.select(
            kind=self.kind, layer=selection.layer + layers, head=selection.head + heads
        )

    # For a file

    @property
    def has_picture(self) -> bool:
        return self._reach is not None

    def export_size(self) -> QSize:
        size = self._picture.size()
        return size + QSize(0, self._heading.height(size.width()))

    def paint_export(self, painter: QPainter, width: int, theme: Theme) -> None:
        """Paint title, caption, and the arcs or the histograms, from the painter's origin."""
        self._heading.draw(painter, width, theme)
        painter.translate(0, self._heading.height(width))
        self._picture.paint(painter)

    @property
    def _picture(self) -> Picture:
        return self.histograms if self._shows_distances else self.far_links.arcs

    @property
    def _heading(self) -> Heading:
        """A picture is without the list and its columns of steps."""
        return Heading(self._title.text(), self.caption.text().removesuffix(_STEPS), self.font())
