"""The Paper view: the paper's tables as charts, beside exact counts."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.paper.cost_page import CostPage
from transformer_viz.paper.recipe_page import RecipePage
from transformer_viz.paper.variations_page import VariationsPage
from transformer_viz.state.explorer import Explorer
from transformer_viz.state.options import PaperPage
from transformer_viz.state.session import Session
from transformer_viz.widgets.result_page import ResultPage
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.text_size import set_height

COST, VARIATIONS, RECIPE = PaperPage
_PAGES = {
    COST: ("Quality and cost", "Table 2: BLEU against operations of training"),
    VARIATIONS: ("Variations", "Table 3: what changes when one part of the base model does"),
    RECIPE: ("Recipe", "Sections 5.1 to 5.4: learning rate, label smoothing, batches, averaging"),
}


class PaperView(StageView):
    """Needs no model; the open one is counted beside the paper's."""

    def __init__(self, session: Session, explorer: Explorer) -> None:
        super().__init__(session)
        self.pages: dict[PaperPage, ResultPage] = {
            COST: CostPage(session),
            VARIATIONS: VariationsPage(explorer),
            RECIPE: RecipePage(session),
        }
        self.choice = QButtonGroup(self)
        self._stack = QStackedWidget()
        bar = QHBoxLayout()
        bar.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        bar.setSpacing(GRID)
        for number, (page, (text, tip)) in enumerate(_PAGES.items()):
            button = QPushButton(text)
            button.setCheckable(True)
            button.setToolTip(tip)
            set_height(button, 7 * GRID)
            self.choice.addButton(button, number)
            bar.addWidget(button)
            self._stack.addWidget(self.pages[page])
        bar.addStretch(1)
        self.choice.idClicked.connect(lambda number: self.show_page(list(_PAGES)[number]))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 3 * GRID, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(bar)
        column.addWidget(self._stack, 1)
        for changed in (session.modelChanged, session.optionsChanged):
            changed.connect(self.invalidate)

    @property
    def page(self) -> ResultPage:
        """The page that is shown."""
        return self.pages[self.session.options.paper_page]

    def show_page(self, page: PaperPage) -> None:
        """Show one of the pages; sessions keep it."""
        self.session.change_options(paper_page=page)

    def focus_part(self) -> QWidget:
        return self.page.table

    def apply_theme(self, theme: Theme) -> None:
        for page in self.pages.values():
            page.apply_theme(theme)
        super().apply_theme(theme)

    def refresh(self) -> None:
        shown = self.session.options.paper_page
        self.choice.button(list(_PAGES).index(shown)).setChecked(True)
        self._stack.setCurrentWidget(self.page)
        self.page.refresh()

    # For a file

    @property
    def has_picture(self) -> bool:
        return True

    def export_name(self) -> str:
        return _PAGES[self.session.options.paper_page][0].lower()

    def export_size(self) -> QSize:
        return self.page.export_size()

    def paint_export(self, painter: QPainter, rect: QRect) -> None:
        self.page.paint_export(painter, rect, self.theme)
