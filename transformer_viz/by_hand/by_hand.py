"""The By hand view: queries, keys and values of one's own, and every step to the output."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QPainter, QPaintEvent, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from core.errors import UserError
from transformer_viz.by_hand.draw_steps import StepTable, draw_tables, step_tables, tables_size
from transformer_viz.by_hand.number_table import NumberTable
from transformer_viz.by_hand.plane import Plane
from transformer_viz.by_hand.sheet import (
    EXAMPLES,
    FEWEST_TOKENS,
    MOST_TOKENS,
    MOST_WIDTH,
    Sheet,
    read_sheet,
)
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.state.options import ColorMap
from transformer_viz.state.session import Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.flow_layout import FlowLayout
from transformer_viz.widgets.number_boxes import WholeBox
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import dress_spin_box, set_role
from transformer_viz.widgets.text_line import label

OWN = "Own numbers"
_PLANE = QSize(90 * GRID, 70 * GRID)  # of a figure
_LEFT_WIDTH = 75 * GRID


class StepsPicture(QWidget):
    """The tables of the steps, as many in a line as there is room for."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[StepTable] = []
        self.theme: Theme = LIGHT
        self.color_map = ColorMap.PAPER
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Steps of the calculation")

    def show_tables(self, tables: list[StepTable]) -> None:
        self.tables = tables
        self.updateGeometry()
        self.update()

    def heightForWidth(self, width: int) -> int:
        return round(tables_size(self.tables, self.font(), width).height()) if self.tables else 0

    def sizeHint(self) -> QSize:
        return QSize(100 * GRID, self.heightForWidth(100 * GRID))

    def minimumSizeHint(self) -> QSize:
        if not self.tables:
            return QSize(0, 0)
        return tables_size(self.tables, self.font(), 0).toSize().boundedTo(QSize(100_000, 40))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_tables(
            painter, self.tables, self.theme, self.color_map, self.font(), float(self.width())
        )


class ByHand(StageView):
    """Needs no model. The numbers are an option, kept for the next start and in sessions."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.example = QComboBox()
        self.example.addItems([*EXAMPLES, OWN])
        self.example.setAccessibleName("Example")
        self.tokens = _box("Tokens", FEWEST_TOKENS, MOST_TOKENS)
        self.dimensions = _box("d_k", 1, MOST_WIDTH)
        self.scaling = _switch("÷ √d_k", "Divide the scores by √d_k, as the paper does")
        self.masking = _switch("Mask", "Let each token see only itself and those before it")
        self.copy = QPushButton("&Copy")
        self.copy.setToolTip("Copy all numbers as a table, separated by tabs")
        self.paste = QPushButton("&Paste")
        self.paste.setToolTip("Paste numbers in the form in which they are copied")
        self.about = label("soft", wrap=True)
        self.problem = label("warning", wrap=True)
        self.matrices = {
            "q": NumberTable("Queries"),
            "k": NumberTable("Keys"),
            "v": NumberTable("Values"),
        }
        self.picture = StepsPicture()
        self.plane = Plane()
        for box in (self.tokens, self.dimensions):
            box.setMinimumHeight(self.scaling.sizeHint().height())
        self._lay_out()
        self._connect()
        self._followed = session.options.by_hand
        self.sheet = sheet_of(self._followed)
        self._show()
        session.optionsChanged.connect(self._follow_options)

    def focus_part(self) -> QWidget:
        return self.matrices["q"]

    # What is typed

    def change(self, sheet: Sheet) -> None:
        """Show other numbers, and keep them."""
        self._followed = sheet.to_tsv()
        self.sheet = sheet
        self.problem.hide()
        self.session.change_options(by_hand=self._followed)
        self._show()

    def show_example(self, name: str) -> None:
        """Show one of the examples; a name that is none leaves the numbers."""
        if name in EXAMPLES:
            self.change(EXAMPLES[name])

    def copy_numbers(self) -> None:
        QGuiApplication.clipboard().setText(self.sheet.to_tsv())

    def paste_numbers(self) -> None:
        try:
            self.change(read_sheet(QGuiApplication.clipboard().text()))
        except UserError as error:
            self._refuse(str(error))

    # What is shown

    def refresh(self) -> None:
        self.picture.theme, self.picture.color_map = self.theme, self.color_map
        self.plane.apply_theme(self.theme)
        for box in (self.tokens, self.dimensions):
            dress_spin_box(box, self.theme)
        self.picture.update()

    def apply_theme(self, theme: Theme) -> None:
        super().apply_theme(theme)
        self._show()  # the size of text may have changed

    @property
    def has_picture(self) -> bool:
        return True

    def export_name(self) -> str:
        return "attention by hand"

    def export_size(self) -> QSize:
        width = self._export_room.width() or self.picture.width()
        size = tables_size(self.picture.tables, self.font(), width).toSize()
        if self._plane_shown:
            size = QSize(max(size.width(), _PLANE.width()), size.height() + _PLANE.height())
        return size

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        painter.save()
        painter.translate(rect.topLeft())
        tables = self.picture.tables
        width = self._export_room.width() or self.picture.width()
        draw_tables(painter, tables, self.theme, self.color_map, self.font(), width)
        if self._plane_shown:
            below = tables_size(tables, self.font(), width).height()
            painter.setFont(self.font())
            self.plane.paint(painter, QRectF(0, below, rect.width(), _PLANE.height()))
        painter.restore()

    @property
    def _plane_shown(self) -> bool:
        return self.sheet.width == 2

    def _show(self) -> None:
        sheet = self.sheet
        boxes = (self.example, self.tokens, self.dimensions, self.scaling, self.masking)
        for box in boxes:
            box.blockSignals(True)
        names = [name for name, example in EXAMPLES.items() if example.about == sheet.about]
        self.example.setCurrentText(names[0] if sheet.about and names else OWN)
        self.tokens.setValue(len(sheet.names))
        self.dimensions.setValue(sheet.width)
        self.scaling.setChecked(sheet.scaled)
        self.masking.setChecked(sheet.causal)
        for box in boxes:
            box.blockSignals(False)
        square = len(sheet.asking) == len(sheet.names)
        self.masking.setEnabled(square)
        self.about.setText(sheet.about)
        self.about.setVisible(bool(sheet.about))
        for part, table in self.matrices.items():
            rows = sheet.asking_names if part == "q" else sheet.names
            table.show_numbers(rows, sheet.part(part))
        self.picture.show_tables(step_tables(sheet))
        self.plane.show_sheet(sheet)
        announce(self.picture, self._in_words())
        self.invalidate()

    def _in_words(self) -> str:
        told = []
        for name, row in zip(self.sheet.asking_names, self.sheet.rows(), strict=True):
            weights = ", ".join(
                f"{key} {weight:.2f}"
                for key, weight in zip(self.sheet.names, row.weights, strict=True)
            )
            told.append(f"{name}: {weights}; entropy {row.entropy:.2f} bits.")
        return " ".join(told)

    def _refuse(self, problem: str) -> None:
        self.problem.setText(problem)
        self.problem.show()
        announce(self.problem, problem)

    def _follow_options(self) -> None:
        """Show the numbers of a session, or of a lesson."""
        kept = self.session.options.by_hand
        if kept != self._followed:
            self._followed = kept
            self.sheet = sheet_of(kept)
            self.problem.hide()
            self._show()

    # Layout

    def _lay_out(self) -> None:
        controls = QWidget()
        flow = FlowLayout(controls, 2 * GRID)
        for widget in (
            *(self.example, self.tokens, self.dimensions, self.scaling, self.masking),
            *(self.copy, self.paste),
        ):
            flow.addWidget(widget)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 2 * GRID, 0)
        for table in self.matrices.values():
            title = label("title")
            title.setText(table.accessibleName())
            column.addWidget(title)
            column.addWidget(table)
        column.addStretch(1)
        right = QWidget()
        steps = QVBoxLayout(right)
        steps.setContentsMargins(2 * GRID, 0, 0, 0)
        steps.addWidget(self.picture)
        steps.addWidget(self.plane, 1)
        steps.addStretch(0)
        halves = QSplitter(Qt.Orientation.Horizontal)
        halves.setChildrenCollapsible(False)
        for half in (left, right):
            area = QScrollArea()
            area.setWidgetResizable(True)
            area.setFrameShape(QScrollArea.Shape.NoFrame)
            area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            area.setWidget(half)
            set_role(half, "paper")
            halves.addWidget(area)
        halves.setStretchFactor(1, 1)
        halves.setSizes([_LEFT_WIDTH, 4 * _LEFT_WIDTH])
        page = QVBoxLayout(self)
        page.setContentsMargins(4 * GRID, 3 * GRID, 4 * GRID, 2 * GRID)
        page.setSpacing(2 * GRID)
        for line in (controls, self.about, self.problem):
            page.addWidget(line)
        page.addWidget(halves, 1)
        self.problem.hide()

    def _connect(self) -> None:
        self.example.currentTextChanged.connect(self.show_example)
        self.tokens.valueChanged.connect(self._resize)
        self.dimensions.valueChanged.connect(self._resize)
        self.scaling.toggled.connect(lambda on: self.change(replace(self.sheet, scaled=on)))
        self.masking.toggled.connect(lambda on: self.change(replace(self.sheet, causal=on)))
        self.copy.clicked.connect(self.copy_numbers)
        self.paste.clicked.connect(self.paste_numbers)
        self.plane.queryTurned.connect(self._turn)
        for part, table in self.matrices.items():
            table.refused.connect(self._refuse)
            table.numberTyped.connect(
                lambda row, column, value, part=part: self.change(
                    self.sheet.with_number(part, row, column, value)
                )
            )
        for keys, act in (("Ctrl+C", self.copy_numbers), ("Ctrl+V", self.paste_numbers)):
            shortcut = QShortcut(QKeySequence(keys), self, act)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)

    def _resize(self) -> None:
        self.change(self.sheet.resized(self.tokens.value(), self.dimensions.value()))

    def _turn(self, x: float, y: float) -> None:
        self.change(self.sheet.with_number("q", 0, 0, x).with_number("q", 0, 1, y))


def sheet_of(kept: str) -> Sheet:
    """Return the numbers that are kept as a table or as the name of an example.

    The first example stands for a text that is neither, such as that of a file that was edited.
    """
    if kept in EXAMPLES:
        return EXAMPLES[kept]
    try:
        sheet = read_sheet(kept)
    except UserError:
        return next(iter(EXAMPLES.values()))
    same = [one for one in EXAMPLES.values() if one.to_tsv() == sheet.to_tsv()]
    return same[0] if same else sheet


def _box(name: str, least: int, most: int) -> WholeBox:
    box = WholeBox()
    box.setRange(least, most)
    box.setPrefix(f"{name} ")
    box.setAccessibleName(name)
    return box


def _switch(text: str, tooltip: str) -> QPushButton:
    button = QPushButton(text)
    button.setCheckable(True)
    button.setToolTip(tooltip)
    return button
