"""The Tree view: the tree that a parser writes, and what each of its brackets looks at."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from core.counted import counted
from core.errors import UserError
from core.heads import AttentionKind, Head
from core.trace.trace import Trace
from transformer_viz.drawing.heading import Heading
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.state.linking import followed_heads
from transformer_viz.state.session import Phase, Session
from transformer_viz.tree.draw_tree import Strip, node_in_words
from transformer_viz.tree.parsed import Node, Parsed, read_gold
from transformer_viz.tree.tree_canvas import TreeCanvas
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import TextLine, label
from transformer_viz.widgets.text_size import set_font, set_height
from transformer_viz.words.wording import heads_title

NO_PARSER = (
    "The tree appears with a model that parses: the bundled parse-en, or one trained with the "
    "preset parse."
)
_CAPTION = "Below the words: how much the rows that write its tokens look at each word."


class TreeView(StageView):
    """The Tree view; the arrows walk through the tree, Esc releases pins."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._pointed: int | None = None
        self._current = 0
        self._known: tuple[Trace, tuple[str, ...]] | None = None
        self._parsed: Parsed | None = None
        self.canvas = TreeCanvas()
        self._build()
        self.canvas.nodeChosen.connect(self._choose)
        self.canvas.nodePointed.connect(self._point)
        self.gold.textChanged.connect(self.invalidate)
        for changed in (
            session.traceChanged,
            session.modelChanged,
            session.selectionChanged,
            session.statusChanged,
        ):
            changed.connect(self.invalidate)

    def _build(self) -> None:
        self._title, self._caption = ElidedLabel("title"), label("soft", wrap=True)
        set_font(self._title, 1.15, bold=True)
        self.gold = TextLine()
        self.gold.setAccessibleName("Gold tree")
        set_height(self.gold, 7 * GRID)
        self.gold.setPlaceholderText("Gold tree to compare with: (S (NP (DT the) …) …)")
        page = QWidget()
        inner = QVBoxLayout(page)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(2 * GRID)
        header = QVBoxLayout()
        header.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        header.setSpacing(GRID)
        for widget in (self._title, self._caption, self.gold):
            header.addWidget(widget)
        inner.addLayout(header)
        inner.addWidget(self.canvas, 1)
        self._placeholder = Placeholder()
        stack = QWidget()
        self._stack = QStackedLayout(stack)
        self._stack.addWidget(self._placeholder)
        self._stack.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 3 * GRID, 0, 0)
        column.addWidget(stack, 1)

    def apply_theme(self, theme: Theme) -> None:
        self.canvas.apply_theme(theme)
        super().apply_theme(theme)

    def focus_part(self) -> QWidget:
        return self.canvas

    # From the session

    @property
    def heads(self) -> tuple[Head, ...]:
        """The cross heads whose mean is shown: those selected, else the last layer's."""
        trace = self.session.trace
        if trace is None:
            return ()
        return followed_heads(trace, self.session.selection, AttentionKind.CROSS)

    def refresh(self) -> None:
        trace, model = self.session.trace, self.session.model
        labels = () if model is None or self.session.origin else model.tree_labels
        if trace is None:
            self._show_nothing()
            self._placeholder.show_status(self.session.status)
            return
        parsed = self._parse(trace, labels) if labels else None
        if parsed is None or AttentionKind.CROSS not in trace.kinds:
            self._show_nothing()
            self._placeholder.say("No tree here", NO_PARSER)
            return
        problem = ""
        if self.gold.text().strip():
            try:
                parsed = parsed.against(read_gold(self.gold.text(), parsed.words))
            except UserError as error:
                problem = str(error)
        shown = self._shown(parsed)
        strips = self._strips(trace, parsed, parsed.nodes[shown])
        self.canvas.show_tree(parsed, shown, strips)
        self.canvas.set_stale(self.session.status.phase is Phase.BUSY)
        self._title.setText(f"{node_in_words(parsed, shown)} · {self._heads_title}")
        self._caption.setText(problem or self._about(parsed))
        set_role(self._caption, "error" if problem else "soft")
        self._stack.setCurrentIndex(1)

    def _parse(self, trace: Trace, labels: tuple[str, ...]) -> Parsed | None:
        """The tree of a trace, read once; another trace starts at the root."""
        if self._known is None or self._known[0] is not trace or self._known[1] != labels:
            self._known = trace, labels
            self._parsed = Parsed.of(trace, labels)
            self._current, self._pointed = 0, None
        return self._parsed

    def _shown(self, parsed: Parsed) -> int:
        """The node pointed at, else the one whose row is pinned, else the one chosen last."""
        selection = self.session.selection
        if selection.kind is AttentionKind.CROSS:
            pinned = parsed.node_of(selection.query)
            if pinned is not None and selection.query not in _rows(parsed.nodes[self._current]):
                self._current = pinned
        return self._current if self._pointed is None else self._pointed

    def _strips(self, trace: Trace, parsed: Parsed, node: Node) -> list[Strip]:
        return [
            Strip(name, parsed.looks_at(trace, self.heads, row).tolist())
            for name, row in (
                (node.label, node.opened),
                (f"/{node.label}", None if node.word is not None else node.closed),
            )
            if row is not None
        ]

    @property
    def _heads_title(self) -> str:
        return heads_title(self.heads, averaged=True)

    def _about(self, parsed: Parsed) -> str:
        parts = [_CAPTION]
        if parsed.repairs:
            times = counted(parsed.repairs, "repair")
            parts.append(f"It took {times} to make a tree of the output.")
        if parsed.score is not None:
            score = parsed.score
            parts.append(
                f"Against the gold tree below: {score.matched} of {score.gold} brackets found, "
                f"{score.test} written, F1 {score.f1:.1f}."
            )
        return " ".join(parts)

    def _show_nothing(self) -> None:
        self.canvas.show_tree(None, 0, ())
        self._stack.setCurrentIndex(0)

    # From the user

    def _point(self, place: int | None) -> None:
        if place != self._pointed:
            self._pointed = place
            self.invalidate()

    def _choose(self, place: int) -> None:
        """Choose a node, and pin its row, so that the other views follow."""
        self._current, self._pointed = place, None
        parsed = self._parsed
        row = None if parsed is None else parsed.nodes[place].row
        if row is not None:
            self._pin(row)
        self.invalidate()
        self.canvas.reveal()

    def _pin(self, row: int) -> None:
        selection = self.session.selection
        head = {}
        if selection.kind is not AttentionKind.CROSS and self.heads:
            first = self.heads[0]
            others = tuple((one.layer, one.head) for one in self.heads)
            head = {"layer": first.layer, "head": first.head, "others": others}
        self.session.select(kind=AttentionKind.CROSS, query=row, key=None, pins=(), **head)

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
        return "tree"

    def export_size(self) -> QSize:
        return self.canvas.size_with(self._heading)

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        self.canvas.paint_below(self._heading, painter, rect, self.theme)

    @property
    def _heading(self) -> Heading:
        return Heading(self._title.text(), self._caption.text(), self.font())


def _rows(node: Node) -> tuple[int | None, int | None]:
    return node.opened, node.closed
