"""One token from its embedding to the top, what each decoder layer would say, and the words that
heads push."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QStackedLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.heads import AttentionKind, Head
from core.trace.trace import Trace
from transformer_viz.drawing.heading import Heading
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.recorded_states import RecordedStates
from transformer_viz.state.linking import Place, followed_heads
from transformer_viz.state.options import StreamPage
from transformer_viz.state.selection import Side
from transformer_viz.state.session import Phase, Session
from transformer_viz.state.walk import DECODER_KINDS, Walk
from transformer_viz.stream.lens_canvas import LensCanvas
from transformer_viz.stream.pushes_canvas import PushesCanvas
from transformer_viz.stream.readouts import Readouts
from transformer_viz.stream.token_canvas import TokenCanvas
from transformer_viz.stream.token_stream import TokenStream, token_stream
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.scrolled_picture import ScrolledPicture
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import label
from transformer_viz.widgets.text_size import set_font, set_height
from transformer_viz.words.wording import head_name, heads_title, token_name

STREAM, LENS, WORDS = StreamPage
_PAGES = {
    STREAM: ("Token", "The residual stream of one token, from its embedding to the top"),
    LENS: ("Layer lens", "The words that each decoder layer would say"),
    WORDS: ("Head’s words", "The words that the output of the selected head pushes up and down"),
}
_SIDES: dict[Side, tuple[str, str]] = {
    "source": ("Source", "A token of the source, in the encoder"),
    "target": ("Translation", "A row of the decoder"),
}
NO_DECODER = (
    "There is only an encoder here, and the output embedding reads the states of a decoder."
)
_LENS_CAPTION = (
    "The state after each layer, read by the output embedding as if the model ended there. Bold: "
    "the final word, from the layer on in which it takes the lead for good."
)
_SHARED = " The embedding is shared, so the input tends to name the token just read."
_WORDS_CAPTION = (
    "Direct contribution to the logits, against the mean over all words. What a head changes in "
    "later layers counts as theirs; switch it off to see its whole effect."
)
_OF_ENCODER = (
    "Heads of the encoder contribute to no logit directly, so all heads of the last "
    "cross-attention are shown. "
)


class StreamView(StageView):
    """The Stream view; ← → go to the tokens beside, ↑ ↓ through steps or heads, Esc releases
    pins."""

    def __init__(
        self, session: Session, states: RecordedStates, readouts: Readouts, walk: Walk
    ) -> None:
        super().__init__(session)
        self._states = states
        self._readouts = readouts
        self._walk = walk
        self.token, self.lens, self.words = TokenCanvas(), LensCanvas(), PushesCanvas()
        self._build()
        for canvas in (self.token, self.lens, self.words):
            canvas.tokenMoved.connect(self._move_token)
        self.token.headChosen.connect(self._choose_head)
        self.lens.rowChosen.connect(walk.go_to)
        self.words.headMoved.connect(self._move_head)
        for changed in (
            session.optionsChanged,
            session.traceChanged,
            session.selectionChanged,
            session.pointedChanged,
            session.statusChanged,
            states.changed,
            readouts.changed,
            walk.moved,
        ):
            changed.connect(self.invalidate)

    def _build(self) -> None:
        self.pages, self.sides = QButtonGroup(self), QButtonGroup(self)
        bar = QHBoxLayout()
        bar.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        bar.setSpacing(GRID)
        for number, words in enumerate(_PAGES.values()):
            bar.addWidget(_segment(self.pages, number, *words))
        bar.addStretch(1)
        for number, words in enumerate(_SIDES.values()):
            bar.addWidget(_segment(self.sides, number, *words))
        self.pages.idClicked.connect(lambda number: self.show_page(list(_PAGES)[number]))
        self.sides.idClicked.connect(lambda number: self._choose_side(list(_SIDES)[number]))
        self._title, self._caption = ElidedLabel("title"), label("soft", wrap=True)
        set_font(self._title, 1.15, bold=True)
        header = QVBoxLayout()
        header.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        header.setSpacing(GRID)
        header.addWidget(self._title)
        header.addWidget(self._caption)
        self._canvases = QStackedWidget()
        for canvas in (self.token, self.lens, self.words):
            self._canvases.addWidget(canvas)
        page_ = QWidget()
        inner = QVBoxLayout(page_)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(2 * GRID)
        inner.addLayout(header)
        inner.addWidget(self._canvases, 1)
        self._placeholder = Placeholder()
        stack = QWidget()
        self._stack = QStackedLayout(stack)
        self._stack.addWidget(self._placeholder)
        self._stack.addWidget(page_)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 3 * GRID, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(bar)
        column.addWidget(stack, 1)

    def apply_theme(self, theme: Theme) -> None:
        for canvas in (self.token, self.lens, self.words):
            canvas.apply_theme(theme)
        super().apply_theme(theme)

    @property
    def page(self) -> StreamPage:
        return self.session.options.stream_page

    def show_page(self, page: StreamPage) -> None:
        self.session.change_options(stream_page=page)

    @property
    def canvas(self) -> ScrolledPicture:
        """The picture of the page that is shown."""
        return {STREAM: self.token, LENS: self.lens, WORDS: self.words}[self.page]

    def focus_part(self) -> QWidget:
        return self.canvas if self.canvas.has_picture else self._button

    # From the session

    @property
    def place(self) -> Place:
        """The token shown: the one pointed at, else the pinned one, else that of the decoding
        step."""
        pointed = self.session.pointed
        if pointed is not None and (pointed.side == "source" or self._walk.count):
            return pointed
        return Place("target", self._walk.step) if self._walk.count else Place("source", 0)

    @property
    def row(self) -> int:
        """The decoder row whose words are shown."""
        place = self.place
        return place.index if place.side == "target" else self._walk.step

    @property
    def heads(self) -> tuple[Head, ...]:
        """The heads whose words are shown: those selected, else the last cross-attention's."""
        trace, selection = self.session.trace, self.session.selection
        if trace is None:
            return ()
        if selection.kind in DECODER_KINDS:
            return selection.heads
        return followed_heads(trace, selection, AttentionKind.CROSS)

    @property
    def _button(self) -> QAbstractButton:
        """The one of the page that is shown."""
        return self.pages.button(list(_PAGES).index(self.page))

    def refresh(self) -> None:
        trace, states = self.session.trace, self._states
        self._button.setChecked(True)
        self._canvases.setCurrentWidget(self.canvas)
        for number, side in enumerate(_SIDES):
            button = self.sides.button(number)
            button.setVisible(self.page == STREAM)
            button.setChecked(side == self.place.side)
            button.setEnabled(trace is not None and (side == "source" or self._walk.count > 0))
        if trace is None:
            self._show_nothing()
            self._placeholder.show_status(self.session.status)
        elif states.problem:
            self._say("No states here", states.problem)
        elif self.page != STREAM and not self._walk.count:
            self._say(f"No {_PAGES[self.page][0].lower()} here", NO_DECODER)
        else:
            self._ask()
            self._show(trace)

    def _ask(self) -> None:
        """Have what the page shows."""
        place = self.place if self.page == STREAM else Place("target", self.row)
        self._states.show(place)
        if self.page == LENS:
            self._readouts.want_lens()
        elif self.page == WORDS:
            self._readouts.want_pushes(self.row, self.heads)

    def _show(self, trace: Trace) -> None:
        """Show the page; what is there of an older trace stays until there is a newer one."""
        if self.page == STREAM:
            self._show_stream()
        elif self.page == LENS:
            self._show_lens(trace)
        else:
            self._show_words()

    def _show_stream(self) -> None:
        found, model = self._states.current, self.session.model
        stream = None
        if found is not None:
            config = None if model is None else model.config
            scaled = config is not None and config.scale_embedding
            width = found.stack(self.place.side).embedded.shape[1]
            stream = token_stream(found, self.place, scaled_by=width if scaled else None)
        if stream is not None:
            self.token.show_stream(stream)
            self._set_texts(stream_title(stream), stream_caption(stream))
        self._finish(fresh=stream is not None)

    def _show_lens(self, trace: Trace) -> None:
        readouts, row = self._readouts, self.row
        if readouts.lens_problem:
            self._say("No layer lens here", readouts.lens_problem)
            return
        lens = readouts.lens
        fresh = lens is not None and lens.trace is trace and row in lens.positions
        if fresh:
            self.lens.show_lens(lens, row)
            self.lens.reveal()
            model = self.session.model
            config = None if model is None else model.config
            shared = config is not None and config.shared_embeddings in ("all", "target")
            self._set_texts("What each decoder layer would say", _LENS_CAPTION + _SHARED * shared)
        self._finish(fresh=fresh)

    def _show_words(self) -> None:
        readouts = self._readouts
        if readouts.pushes_problem:
            self._say("No contributions here", readouts.pushes_problem)
            return
        pushes = readouts.pushes
        fresh = (
            pushes is not None
            and not readouts.asking
            and (pushes.position, pushes.heads) == (self.row, self.heads)
        )
        if fresh and pushes is not None:
            self.words.show_pushes(pushes)
            read, next_ = token_name(pushes.fed), token_name(pushes.word)
            encoder = self.session.selection.kind not in DECODER_KINDS
            self._set_texts(
                f"{heads_title(pushes.heads, averaged=False)} · “{read}” → “{next_}”",
                (_OF_ENCODER if encoder else "") + _WORDS_CAPTION,
            )
        self._finish(fresh=fresh)

    def _finish(self, *, fresh: bool) -> None:
        if not fresh and not self.canvas.has_picture:
            self._stack.setCurrentIndex(0)
            self._placeholder.say("", "The picture appears with the states.")
            return
        self._stack.setCurrentIndex(1)
        self.canvas.set_stale(not fresh or self.session.status.phase is Phase.BUSY)
        status = self.session.status
        failed = status.phase is Phase.FAILED
        if failed:
            self._caption.setText(f"⚠ {status.message}")
        set_role(self._caption, "error" if failed else "soft")

    def _set_texts(self, title: str, caption: str) -> None:
        self._title.setText(title)
        self._caption.setText(caption)

    def _say(self, headline: str, hint: str) -> None:
        self._show_nothing()
        self._placeholder.say(headline, hint)

    def _show_nothing(self) -> None:
        self.token.show_stream(None)
        self.lens.show_lens(None, 0)
        self.words.show_pushes(None)
        self._stack.setCurrentIndex(0)

    # From the user

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._states.watch(self, True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._states.watch(self, False)

    def _choose_side(self, side: Side) -> None:
        if side == "target":
            self._walk.go_to(self._walk.step)
        else:
            self._go_to_source(0)

    def _move_token(self, step: int) -> None:
        place = self.place
        if self.page == STREAM and place.side == "source":
            self._go_to_source(place.index + step)
        else:
            self._walk.go_to(self.row + step)

    def _go_to_source(self, index: int) -> None:
        trace = self.session.trace
        if trace is not None:
            index = max(0, min(index, len(trace.source_tokens) - 1))
            self.session.set_hover(None, None)
            self.session.select(kind=AttentionKind.ENCODER_SELF, query=index, key=None, pins=())

    def _move_head(self, step: int) -> None:
        selection = self.session.selection
        if selection.kind in DECODER_KINDS:
            self.session.select(head=selection.head + step)

    def _choose_head(self, head: Head) -> None:
        kind, layer, number = head
        row = self.place.index
        self.session.select(kind=kind, layer=layer, head=number, query=row, key=None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.session.release()
        else:
            super().keyPressEvent(event)

    # For a file

    @property
    def has_picture(self) -> bool:
        return self.canvas.has_picture and self._stack.currentIndex() == 1

    def export_name(self) -> str:
        if self.page == WORDS and len(self.heads) == 1:
            return f"{head_name(self.heads[0])} words"
        return {STREAM: "stream", LENS: "layer lens", WORDS: "heads’ words"}[self.page]

    def export_size(self) -> QSize:
        return self.canvas.size_with(self._heading)

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        self.canvas.paint_below(self._heading, painter, rect, self.theme)

    @property
    def _heading(self) -> Heading:
        return Heading(self._title.text(), self._caption.text(), self.font())


def stream_title(stream: TokenStream) -> str:
    """The token, and where it is."""
    name, number = f"“{token_name(stream.token)}”", stream.place.index + 1
    if stream.place.side == "source":
        return f"{name} ({number}) in the encoder"
    if stream.predicted is None:
        return f"{name} ({number}) in the decoder"
    word, probability = stream.predicted
    return f"{name} ({number}) in the decoder → “{token_name(word)}” with {percent(probability)}"


def stream_caption(stream: TokenStream) -> str:
    """Where the token turned most, and what becomes of the top of its stream."""
    layers = [step for step in stream.steps if step.layer is not None]
    most = max(layers, key=lambda step: step.angle if step.angle == step.angle else -1.0)
    assert most.layer is not None
    turned = (
        f"It turns most, by {most.angle:.0f}°, in layer {most.layer + 1}: {most.title.lower()}."
    )
    if stream.place.side == "source":
        return f"{turned} The top gives the keys and values of every cross-attention."
    return f"{turned} The top, times the output embedding, gives the logits of the next word."


def _segment(group: QButtonGroup, number: int, text: str, tip: str) -> QPushButton:
    """Make one of several buttons of which one is down."""
    button = QPushButton(text)
    button.setCheckable(True)
    button.setToolTip(tip)
    set_height(button, 7 * GRID)
    group.addButton(button, number)
    return button
