"""What the chosen query looks at, and what the head does on this text, in numbers."""

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from core.trace.statistics import HeadStatistics, head_statistics
from core.trace.trace import Head, Trace
from transformer_viz.drawing.bars import heaviest
from transformer_viz.session import Session
from transformer_viz.theme import GRID, LIGHT, Theme, scaled_font, set_role
from transformer_viz.views.stream import Stream
from transformer_viz.views.weight_bars import WeightBars
from transformer_viz.views.wording import plain_tooltip, predicted_token, token_name

INLINE_CELLS = 512 * 512
"""The statistics of a map of so many cells are computed at once; larger ones beside the loop."""

BARS = 8
CAVEAT = "Attention shows where a head looks, not by itself why the model decides."
_NO_QUERY = "Point at a row of the map, or pin one, to see what it looks at."


@dataclass(frozen=True, slots=True)
class Statistic:
    name: str
    formula: str


STATISTICS = (
    Statistic(
        "entropy",
        "Mean over the queries of −Σⱼ A log₂ A, of the most there could be: log₂ of the number of\n"
        "keys. Low: the head looks at few tokens. A is the weight of query i on key j.",
    ),
    Statistic(
        "confidence",
        "Mean over the queries of the largest weight on a token that is not special\n"
        "(Voita et al. 2019).",
    ),
    Statistic(
        "mean distance",
        "Mean over the queries of Σⱼ A·|i − j|, in tokens (Vig & Belinkov 2019).\n"
        "Only for self-attention: source and target positions do not compare.",
    ),
    Statistic(
        "on −1 / 0 / +1",
        "Mean weight on the previous, the same and the next position (Clark et al. 2019).\n"
        "Only for self-attention.",
    ),
    Statistic("on specials", "Mean over the queries of the weight on tokens such as </s>."),
    Statistic(
        "sink",
        "The key that receives most, and its share of all the weight in this map\n"
        "(after Xiao et al. 2023).",
    ),
)


def statistic_values(statistics: HeadStatistics, trace: Trace, head: Head) -> tuple[str, ...]:
    """One text per entry of `STATISTICS`."""
    distance, shares = statistics.mean_distance, statistics.offset_shares
    sink = token_name(trace.key_tokens(head.kind)[statistics.sink_key])
    return (
        f"{statistics.entropy:.2f} of {statistics.entropy_limit:.2f} bits",
        f"{statistics.confidence:.2f}",
        "–" if distance is None else f"{distance:.1f} tokens",
        "–" if shares is None else " / ".join(f"{share:.2f}" for share in shares),
        f"{statistics.special_share:.2f}",
        f"{sink} {statistics.sink_share:.2f}",
    )


class Inspector(QScrollArea):
    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._shown: tuple[Trace, Head] | None = None  # what the statistics belong to
        self._stream = Stream(self)
        self._stream.arrived.connect(self._show_statistics)
        self.setAccessibleName("Inspector")
        self.setFrameShape(self.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(60 * GRID)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._build()
        self.setFocusProxy(self.bars)

        self.bars.chosen.connect(self._pin_key)
        self.bars.pointed.connect(self._point_at_key)
        session.traceChanged.connect(self._refresh)
        session.selectionChanged.connect(self._refresh)
        session.hoverChanged.connect(self._show_query)
        self.apply_theme(LIGHT)
        self._refresh()

    def apply_theme(self, theme: Theme) -> None:
        self.bars.apply_theme(theme)

    def _build(self) -> None:
        content = QWidget()
        set_role(content, "paper")
        column = QVBoxLayout(content)
        column.setContentsMargins(4 * GRID, 3 * GRID, 4 * GRID, 4 * GRID)
        column.setSpacing(2 * GRID)
        self._query = _label("title", wrap=True)
        self._query_hint = _label("soft", _NO_QUERY, wrap=True)
        self._predicted = _label("soft", wrap=True)
        self.bars = WeightBars()
        column.addWidget(self._query)
        column.addWidget(self._predicted)
        column.addWidget(self._query_hint)
        column.addWidget(self.bars)
        column.addSpacing(GRID)
        column.addWidget(_rule())
        column.addSpacing(GRID)
        self._statistics = self._build_statistics()
        column.addWidget(self._statistics)
        column.addSpacing(GRID)
        column.addWidget(_rule())
        column.addSpacing(GRID)
        column.addWidget(_label("soft", CAVEAT, wrap=True))
        column.addStretch(1)
        self.setWidget(content)

    def _build_statistics(self) -> QWidget:
        section = QWidget()
        grid = QGridLayout(section)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.addWidget(_label("title", "This head, on this text"), 0, 0, 1, 2)
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(GRID)
        grid.setColumnStretch(1, 1)
        grid.setRowMinimumHeight(0, 5 * GRID)
        self._values = []
        for row, statistic in enumerate(STATISTICS, start=1):
            name, value = _label("soft", statistic.name), _label("")
            value.setFont(scaled_font(self.font(), 1.0))
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            for label in (name, value):
                label.setToolTip(plain_tooltip(statistic.formula))
            value.setAccessibleName(statistic.name)
            value.setAccessibleDescription(statistic.formula)
            grid.addWidget(name, row, 0)
            grid.addWidget(value, row, 1)
            self._values.append(value)
        return section

    # From the session

    def _refresh(self) -> None:
        trace, selection = self._session.trace, self._session.selection
        head = Head(selection.kind, selection.layer, selection.head)
        if trace is None:
            self._shown = None
            self._stream.stop()
            self._show_values(("",) * len(STATISTICS))
        elif self._shown is None or self._shown[0] is not trace or self._shown[1] != head:
            self._shown = (trace, head)
            cells = len(trace.query_tokens(head.kind)) * len(trace.key_tokens(head.kind))
            if cells <= INLINE_CELLS:
                self._stream.stop()
                self._show_statistics(head_statistics(trace, *head))
            else:
                self._show_values(("…",) * len(STATISTICS))
                self._stream.start(_statistics(trace, head))
        self._show_query()

    def _show_statistics(self, statistics: HeadStatistics) -> None:
        assert self._shown is not None
        self._show_values(statistic_values(statistics, *self._shown))

    def _show_values(self, values: tuple[str, ...]) -> None:
        for label, value in zip(self._values, values, strict=True):
            label.setText(value)

    def _show_query(self) -> None:
        trace, selection = self._session.trace, self._session.selection
        query, key = self._session.focus
        if query is None:
            query = selection.query  # only a column is pointed at
        shown = trace is not None and query is not None
        self._query.setVisible(shown)
        self._predicted.setVisible(shown)
        self.bars.setVisible(shown)
        self._query_hint.setVisible(not shown)
        if trace is None or query is None:
            return
        kind = selection.kind
        self._query.setText(f"“{token_name(trace.query_tokens(kind)[query])}” looks at")
        predicted = predicted_token(trace, kind, query)
        self._predicted.setVisible(predicted is not None)
        if predicted is not None:
            self._predicted.setText(f"before it predicts “{token_name(predicted)}”")
        weights = trace.row(kind, selection.layer, selection.head, query)
        allowed = trace.allowed(kind)[query]
        count = min(BARS, int(allowed.sum()))
        self.bars.set_bars(heaviest(weights, trace.key_tokens(kind), count), key)

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


def _statistics(trace: Trace, head: Head) -> Iterator[HeadStatistics]:
    yield head_statistics(trace, *head)


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
