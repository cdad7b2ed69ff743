"""The model's positional encoding in four pictures, and what becomes of the sentence without it."""

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.counted import counted
from core.trace.positions import PositionTable
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.positions.extent import Extent
from transformer_viz.positions.position_curves import PositionCurves
from transformer_viz.positions.position_grid import PositionGrid
from transformer_viz.positions.position_page import PositionPage, PositionState
from transformer_viz.positions.position_shift import PositionShift
from transformer_viz.positions.position_similarity import PositionSimilarity
from transformer_viz.positions.what_if import WhatIf
from transformer_viz.positions.what_if_panel import WhatIfPanel
from transformer_viz.state.session import Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.number_boxes import WholeBox, mark_refused, say_below
from transformer_viz.widgets.picture import Picture
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import dress_spin_box
from transformer_viz.widgets.text_line import label
from transformer_viz.words.wording import plain_tooltip

PAGES = {
    "grid": "Grid",
    "curves": "Curves",
    "similarity": "Similarity",
    "shift": "Shift",
    "what_if": "What if",
}
"""The name of each page and its title."""

_WAITING = "The view appears as soon as the model is ready."

_LAYOUTS = {
    "interleaved": "Alternating sines and cosines: PE(pos, 2i) = sin(ω·pos), PE(pos, 2i + 1) = "
    "cos(ω·pos)",
    "halves": "All sines, then all cosines: "
    "PE(pos, i) = sin(ω·pos), PE(pos, d_model/2 + i) = cos(ω·pos)",
}
_ROTARY = (
    "Nothing is added to the embeddings. In encoder and decoder self-attention, position p turns "
    "columns 2i and 2i + 1 of each query and key by p · ω_i; shown is what becomes of "
    "(1, 0, 1, 0, …)"
)
_LEARNED = "One learned vector per position, shared by encoder and decoder"

MOST_CURVES = 6
FEWEST_SHOWN = 8
_FEW = 128  # positions shown of sinusoids whose model does not say what it saw


class Positions(StageView):
    def __init__(self, session: Session, what_if: WhatIf) -> None:
        super().__init__(session)
        self._what_if = what_if
        self._of: PositionTable | None = None  # for which the choices were made
        self._range_is_wanted = False  # by the user
        self.grid = PositionGrid()
        self.curves = PositionCurves()
        self.similarity = PositionSimilarity()
        self.shift = PositionShift()
        self.what_if = WhatIfPanel(session, what_if)
        self._build()
        self.grid.dimensionChosen.connect(self._follow_dimension)
        self.dimensions.changed.connect(self.invalidate)
        self.shown.valueChanged.connect(self._change_range)
        what_if.tableChanged.connect(self.invalidate)
        for changed in (session.traceChanged, session.originChanged):
            changed.connect(self.invalidate)

    def _build(self) -> None:
        self.switch = QButtonGroup(self)
        self._pages = QStackedWidget()
        bar = QHBoxLayout()
        bar.setContentsMargins(4 * GRID, 3 * GRID, 4 * GRID, 0)
        bar.setSpacing(GRID)
        for index, (name, title) in enumerate(PAGES.items()):
            button = QPushButton(title)
            button.setCheckable(True)
            self.switch.addButton(button, index)
            bar.addWidget(button)
            self._pages.addWidget(getattr(self, name))
        self.switch.button(0).setChecked(True)
        self.switch.idClicked.connect(self._show_page)
        bar.addStretch(1)
        self.dimensions = DimensionField()
        self.shown = WholeBox(minimum=FEWEST_SHOWN, prefix="0 to ")
        self._shown_label = QLabel("Positions")
        self._shown_label.setBuddy(self.shown)
        self.shown.setAccessibleName("Last position shown")
        self.shown.setKeyboardTracking(False)
        for control in (self._shown_label, self.shown):
            bar.addWidget(control)
        self._facts = label("soft")
        about = QHBoxLayout()
        about.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        about.setSpacing(2 * GRID)
        about.addWidget(self._facts, 1)
        about.addWidget(self.dimensions)
        self._problem = label("error", wrap=True)
        self._problem.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(bar)
        column.addLayout(about)
        column.addWidget(self._problem)
        column.addWidget(self._pages, 1)

    @property
    def page(self) -> str:
        return list(PAGES)[self._pages.currentIndex()]

    def show_page(self, name: str) -> None:
        self._show_page(list(PAGES).index(name))

    def _show_page(self, index: int) -> None:
        self.switch.button(index).setChecked(True)
        self._pages.setCurrentIndex(index)
        self.invalidate()

    def apply_theme(self, theme: Theme) -> None:
        for box in self.findChildren(WholeBox):
            dress_spin_box(box, theme)
        super().apply_theme(theme)

    def focus_part(self) -> QWidget:
        return self.switch.button(0)

    def refresh(self) -> None:
        table, page = self._what_if.table, self._pages.currentWidget()
        self.what_if.apply_look(self.theme, self.color_map)
        if table is not None and table is not self._of:
            self._of = table
            self._choose(table)
        if table is not None and not self._range_is_wanted:
            self._fit_range(table)
        self._facts.setText(_WAITING if table is None else self._whose() + facts(table))
        self._problem.setText(self._what_if.table_problem)
        self._problem.setVisible(bool(self._what_if.table_problem))
        about_table = isinstance(page, PositionPage)
        follows = page in (self.curves, self.shift)
        if table is not None:
            formulas = {"learned": _LEARNED, "rotary": _ROTARY}
            formula = formulas.get(table.kind, _LAYOUTS[table.layout])
            self._facts.setToolTip(plain_tooltip(formula))
        self._facts.setVisible(about_table and not self._what_if.table_problem)
        self.dimensions.setVisible(follows and table is not None)
        for control in (self._shown_label, self.shown):
            control.setVisible(about_table and page is not self.shift and table is not None)
        if isinstance(page, PositionPage):
            page.setVisible(table is not None)
            if table is not None:
                page.show_state(self._state(table), self.theme)

    def _whose(self) -> str:
        """The model's name in front, where the trace shown is not of it."""
        model = self.session.model
        if not self.session.origin or model is None:
            return ""
        return f"Of {model.name}, not of the picture: "

    def _state(self, table: PositionTable) -> PositionState:
        extent = Extent(
            shown=self.shown.value() + 1,
            end=len(table.values) if table.learned else None,
            trained=table.trained,
            sentence=self._sentence,
        )
        return PositionState(table, extent, self.dimensions.chosen)

    @property
    def _sentence(self) -> int:
        """How many tokens it has; none of a trace that is not the model's."""
        trace = self.session.trace
        return 0 if trace is None or self.session.origin else len(trace.source_tokens)

    def _fit_range(self, table: PositionTable) -> None:
        """Past the end of what the model knows, and of the sentence."""
        count = len(table.values)
        trained = table.trained or _FEW * 2 // 3
        most = count + max(count // 8, FEWEST_SHOWN) if table.learned else count
        past = max(trained * 3 // 2, self._sentence + max(self._sentence // 8, FEWEST_SHOWN))
        self.shown.blockSignals(True)
        self.shown.setMaximum(most - 1)
        self.shown.setValue(most - 1 if table.learned else min(count, past) - 1)
        self.shown.blockSignals(False)

    def _change_range(self) -> None:
        self._range_is_wanted = True
        self.invalidate()

    def _choose(self, table: PositionTable) -> None:
        """What a new model opens on: a range of its own, and waves of every length."""
        self._range_is_wanted = False
        pairs = table.d_model // 2
        first = dict.fromkeys(min(pairs - 1, pairs * part // 8) for part in (0, 1, 2, 4))
        self.dimensions.choose(tuple(int(table.pairs[pair, 0]) for pair in first), table.d_model)

    def _follow_dimension(self, dimension: int) -> None:
        self.dimensions.add(dimension)
        self.show_page("curves")

    @property
    def has_picture(self) -> bool:
        if self._pages.currentWidget() is self.what_if:
            return bool(self.what_if.canvas.maps)
        return self._what_if.table is not None

    def export_name(self) -> str:
        return PAGES[self.page]

    def export_size(self) -> QSize:
        return self.picture().size()

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        painter.save()
        painter.fillRect(rect, self.theme.color("paper"))
        painter.translate(rect.topLeft())
        self.picture().paint(painter)
        painter.restore()

    def picture(self) -> Picture:
        """What the page shows, without its controls."""
        page = self._pages.currentWidget()
        assert isinstance(page, PositionPage | WhatIfPanel)
        return page.picture()


class DimensionField(QWidget):
    """A field for the columns to plot, typed as numbers separated by commas."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.chosen: tuple[int, ...] = ()
        self._count = 0
        self.edit = QLineEdit()
        self.edit.setAccessibleName("Dimensions to plot")
        self.edit.setMinimumWidth(28 * GRID)
        self.edit.editingFinished.connect(self._read)
        name = QLabel("Dimensions")
        name.setBuddy(self.edit)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2 * GRID)
        row.addWidget(name)
        row.addWidget(self.edit)

    def choose(self, dimensions: tuple[int, ...], count: int) -> None:
        """Follow these of `count` columns."""
        self._count = count
        self.chosen = dimensions
        self._write()

    def add(self, dimension: int) -> None:
        """Follow one more; of too many the oldest goes."""
        others = tuple(one for one in self.chosen if one != dimension)
        self.chosen = (*others, dimension)[-MOST_CURVES:]
        self._write()
        self.changed.emit()

    def _write(self) -> None:
        self.edit.setText(", ".join(map(str, self.chosen)))
        self._show_problem("")

    def _read(self) -> None:
        try:
            chosen = parse_dimensions(self.edit.text(), self._count)
        except ValueError as error:
            self._show_problem(str(error))
            return
        self._show_problem("")
        if chosen != self.chosen:
            self.chosen = chosen
            self.changed.emit()

    def _show_problem(self, problem: str) -> None:
        last = self._count - 1
        self.edit.setToolTip(
            plain_tooltip(problem or f"Type up to {MOST_CURVES} numbers from 0 to {last}")
        )
        mark_refused(self.edit, bool(problem))
        announce(self.edit, problem)
        say_below(self.edit, problem)


def parse_dimensions(text: str, count: int) -> tuple[int, ...]:
    """Read dimensions; raises ValueError with a sentence for the user."""
    words = [word for word in text.replace(",", " ").split() if word]
    wrong = next((w for w in words if not w.isdecimal() or int(w) >= count), None)
    if wrong is not None:
        raise ValueError(f"There is no dimension {wrong}; they are numbered 0 to {count - 1}.")
    chosen = tuple(dict.fromkeys(map(int, words)))
    if not 1 <= len(chosen) <= MOST_CURVES:
        raise ValueError(f"Type 1 to {MOST_CURVES} dimensions.")
    return chosen


def facts(table: PositionTable) -> str:
    """The kind of encoding in one line."""
    parts = []
    if table.learned:
        parts.append(f"Learned table of {len(table.values):,} positions")
    elif table.rotary:
        parts.append("Rotary: queries and keys are turned, nothing is added")
    else:
        parts.append(f"Sinusoids, {table.layout}")
        if table.denominator != "d_model":
            parts.append("last wavelength 10000 · 2π")
    parts.append(f"{table.d_model} dimensions" + " of a head" * table.rotary)
    if table.trained is not None:
        parts.append(f"trained on up to {counted(table.trained, 'token')}")
    return " · ".join(parts)
