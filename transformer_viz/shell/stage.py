"""The middle of the window: one large picture at a time, chosen by tab."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QScrollArea, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from transformer_viz.compare.compare import Compare
from transformer_viz.decoding.decoding import DecodingView
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.links.links import Links
from transformer_viz.positions.positions import Positions
from transformer_viz.reach.reach import ReachView
from transformer_viz.scores.scores import Scores
from transformer_viz.shell.controller import Controller
from transformer_viz.state.options import ColorMap, View
from transformer_viz.state.session import Session
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import set_role

VIEWS = {view: view.capitalize() for view in View}
"""The name of each view, for commands and files, and its title."""


class Stage(Panel):
    viewChanged = Signal(str)  # name

    def __init__(self, session: Session, controller: Controller) -> None:
        super().__init__()
        self.heatmap = Heatmap(session, controller.quantities)
        self.links = Links(session, controller.quantities)
        self.scores = Scores(session)
        self.positions = Positions(session, controller.what_if)
        self.decoding = DecodingView(session, controller.decoding)
        self.compare = Compare(session, controller.comparison)
        self.reach = ReachView(session, controller.stretching, controller.distance)
        self.tabs = QTabBar()
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setAccessibleName("Views")
        self._pages = QStackedWidget()
        for name, title in VIEWS.items():
            self.tabs.addTab(title)
            self._pages.addWidget(_scrolling(getattr(self, name)))
        self.tabs.currentChanged.connect(self._show)
        set_role(self, "paper")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        bar = QVBoxLayout()
        bar.setContentsMargins(2 * GRID, 0, 2 * GRID, 0)
        bar.addWidget(self.tabs)
        column.addLayout(bar)
        column.addWidget(self._pages, 1)

    @property
    def current(self) -> View:
        """The name of the view that is shown."""
        return list(VIEWS)[self.tabs.currentIndex()]

    def show_view(self, name: str) -> None:
        self.tabs.setCurrentIndex(list(VIEWS).index(View(name)))

    def view(self) -> StageView:
        """The view that is shown."""
        view: StageView = getattr(self, self.current)
        return view

    def focus_part(self) -> QWidget:
        return self.view()

    def apply_theme(self, theme: Theme) -> None:
        for name in VIEWS:
            getattr(self, name).apply_theme(theme)

    def set_color_map(self, color_map: ColorMap | str) -> None:
        for name in VIEWS:
            getattr(self, name).set_color_map(color_map)

    def _show(self, index: int) -> None:
        self._pages.setCurrentIndex(index)
        self.viewChanged.emit(self.current)


def _scrolling(view: StageView) -> QScrollArea:
    """A view that a small window scrolls, so that no view keeps the window large."""
    area = QScrollArea()
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidgetResizable(True)
    area.setWidget(view)
    return area
