"""What the chosen query looks at, and what the head does on this text, in numbers."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from core.statistics.registry import OF_MAPS
from core.statistics.rows import HeadStatistics
from core.text.words import join_pieces, word_span
from core.trace.head_map import entries, map_row
from core.trace.trace import Head
from transformer_viz.drawing.theme import GRID, LIGHT, Theme, grown
from transformer_viz.engine.quantities import Quantities
from transformer_viz.heads_map.bars import heaviest
from transformer_viz.heads_map.link_lines import LinkLines, link_lines, place_token
from transformer_viz.heads_map.measured_heads import MeasuredHeads
from transformer_viz.heads_map.weight_bars import WeightBars
from transformer_viz.state.options import Quantity
from transformer_viz.state.session import Session
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.gate_controls import GateControls
from transformer_viz.widgets.spotlight import Spotlight
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_size import set_font
from transformer_viz.words.measures import explained, number_in_words, spread
from transformer_viz.words.quantity_wording import averaged_heads, row_title
from transformer_viz.words.wording import (
    head_name,
    heads_in_words,
    plain_tooltip,
    predicted_token,
    token_name,
)

BARS = 8
CAVEAT = "Attention shows where a head looks, not by itself why the model decides."
_NO_QUERY = "Hover over a row of the map, or pin one, to see what it looks at."


class Inspector(QScrollArea):
    def __init__(
        self,
        session: Session,
        quantities: Quantities,
        measured: MeasuredHeads,
        spotlight: Spotlight,
        roles: Panel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.roles = roles
        self._session = session
        self._quantities = quantities
        self._measured = measured
        self._spotlight = spotlight
        self.setAccessibleName("Inspector")
        self.setFrameShape(self.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fit_text()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._build()

        self.bars.chosen.connect(self._pin_key)
        self.bars.pointed.connect(self._point_at_key)
        session.traceChanged.connect(self._refresh)
        session.selectionChanged.connect(self._refresh)
        for changed in (session.hoverChanged, session.optionsChanged, quantities.changed):
            changed.connect(self._show_query)
        session.optionsChanged.connect(self._show_titles)
        measured.changed.connect(self._on_measured)
        spotlight.changed.connect(self._show_links)
        self.apply_theme(LIGHT)
        self._refresh()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Pass the focus on; a focus proxy would break the tab order of what comes before."""
        part = self.bars if self.bars.isVisible() else self.roles.focus_part()
        part.setFocus(event.reason())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_text()

    def _fit_text(self) -> None:
        self.setMinimumWidth(round(grown(60 * GRID, self.font())))

    def apply_theme(self, theme: Theme) -> None:
        self.gates.apply_theme(theme)
        self.bars.apply_theme(theme)
        self.links.apply_theme(theme)

    def _build(self) -> None:
        content = QWidget()
        set_role(content, "paper")
        column = QVBoxLayout(content)
        column.setContentsMargins(4 * GRID, 3 * GRID, 4 * GRID, 4 * GRID)
        column.setSpacing(2 * GRID)
        self._heads = _label("title", wrap=True)
        self.gates = GateControls(self._session)
        self._query = _label("title", wrap=True)
        self._query_hint = _label("soft", _NO_QUERY, wrap=True)
        self._query_note = _label("soft", wrap=True)
        self.bars = WeightBars()
        self._links_title = _label("title", wrap=True)
        self.links = LinkLines()
        self._links_rule = _rule()
        self._statistics_title = _label("title", wrap=True)
        for part in (
            self._heads,
            self.roles,
            self.gates,
            _rule(),
            self._query,
            self._query_note,
            self._query_hint,
            self.bars,
            _rule(),
            self._links_title,
            self.links,
            self._links_rule,
            self._statistics_title,
            self._build_statistics(),
            _rule(),
            _label("soft", CAVEAT, wrap=True),
        ):
            column.addWidget(part)
        column.addStretch(1)
        self.setWidget(content)

    def _build_statistics(self) -> QWidget:
        section = QWidget()
        grid = QGridLayout(section)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(GRID)
        grid.setColumnStretch(1, 1)
        self._values = []
        for row, one in enumerate(OF_MAPS):
            name, value = _label("soft", one.name), _label("")
            set_font(value, 1.0)
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            for label in (name, value):
                label.setToolTip(plain_tooltip(explained(one.explanation)))
            value.setAccessibleName(one.name)
            value.setAccessibleDescription(one.explanation)
            grid.addWidget(name, row, 0)
            grid.addWidget(value, row, 1)
            self._values.append(value)
        return section

    # From the session

    def _refresh(self) -> None:
        heads = self._session.selection.heads
        self._heads.setText(head_name(heads[0]) if len(heads) == 1 else heads_in_words(heads))
        self._show_statistics(self._measured.want(heads))
        self._show_query()
        self._show_links()
        self._show_titles()

    def _on_measured(self) -> None:
        self._show_statistics(self._measured.known(self._session.selection.heads))

    def _show_statistics(self, known: dict[Head, HeadStatistics] | None) -> None:
        trace, heads = self._session.trace, self._session.selection.heads
        several = len(heads) > 1
        for label, one in zip(self._values, OF_MAPS, strict=True):
            if trace is None:
                text = ""
            elif known is None:
                text = "…"
            elif several:
                text = spread(one, list(known.values()))
            else:
                text = number_in_words(one, known[heads[0]], trace, heads[0])
            label.setText(text)

    def _show_titles(self) -> None:
        """Of what speaks of weights, whatever the maps show."""
        session, count = self._session, len(self._session.selection.heads)
        named = session.options.quantity is not Quantity.WEIGHT
        by_weight = " · by weight" * named
        measured = (
            f"Mean of {count} heads (least – most)" if count > 1 else "This head, on this text"
        )
        self._statistics_title.setText(measured + by_weight)
        linked = self._spotlight.linked
        if session.trace is not None and linked is not None:
            name = token_name(place_token(session.trace, linked.place))
            self._links_title.setText(f"“{name}” across the three kinds{by_weight}")

    def _show_query(self) -> None:
        selection = self._session.selection
        found = self._quantities.current(selection.kind)
        trace = None if found is None else found.trace
        query, key = self._session.focus
        if query is None:
            query = selection.query  # only a column is pointed at
        shown = trace is not None and query is not None
        self._query.setVisible(shown)
        self.bars.setVisible(shown)
        self._query_hint.setVisible(not shown)
        if found is None or trace is None or query is None:
            self._query_note.setVisible(False)
            return
        kind, merged = selection.kind, self._session.options.merge_words
        heads = averaged_heads(found.quantity, selection)
        tokens = trace.query_tokens(kind)
        queries = word_span(tokens, query) if merged else range(query, query + 1)
        looking = join_pieces(tokens[queries.start : queries.stop])
        self._query.setText(row_title(found.quantity, token_name(looking), selection.layer))
        predicted = predicted_token(trace, kind, queries[-1])
        notes = [f"before it predicts “{token_name(predicted)}”"] if predicted is not None else []
        if len(heads) > 1:
            notes.append(f"mean of {len(heads)} heads")
        self._query_note.setVisible(bool(notes))
        self._query_note.setText(", ".join(notes))
        keys = entries(trace.key_tokens(kind), merge_words=merged)
        weights, allowed = map_row(trace, heads, queries, keys)
        marked = None if key is None else keys.of_token(key)
        self.bars.set_bars(
            heaviest(weights, keys, min(BARS, int(allowed.sum()))),
            None if marked is None else keys.token(marked),
            found.measure(kind).top,
        )

    def _show_links(self) -> None:
        trace, linked = self._session.trace, self._spotlight.linked
        lines = []
        if trace is not None and linked is not None:
            lines = link_lines(trace, self._session.selection, linked)
            self._show_titles()
        for part in (self._links_title, self.links, self._links_rule):
            part.setVisible(bool(lines))
        self.links.set_lines(lines)

    # From the user

    def _pin_key(self, key: int) -> None:
        query = self._session.focus[0]
        self._session.set_hover(None, None)
        self._session.pin(self._session.selection.query if query is None else query, key)

    def _point_at_key(self, key: int | None) -> None:
        if key is None:
            self._session.set_hover(None, None)
        elif self._session.selection.query is not None:
            self._session.set_hover(self._session.selection.query, key)


def _label(role: str, text: str = "", *, wrap: bool = False) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(wrap)
    set_role(label, role)
    return label


def _rule() -> QFrame:
    rule = QFrame()
    rule.setFixedHeight(1)
    set_role(rule, "rule")
    return rule
